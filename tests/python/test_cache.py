# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache of compiled kernels: what makes two requests one, files that are shared, files that are broken."""
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import numpy as np

import dslc
from common import SMALL, refused
from dslc import _cache

TEXT = SMALL.read_bytes()


def request(**change):
    r = _cache.Request(TEXT, "small.gemm", defines=("bN=64",), ptxas=_cache.find_ptxas())
    return r._replace(**change)


def compile_here(folder):
    os.environ["DSLC_CACHE_DIR"] = folder
    return dslc.compile(TEXT, name="small.gemm")


class Cache(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name, "cache")
        old = os.environ.get("DSLC_CACHE_DIR")
        self.addCleanup(os.environ.__setitem__, "DSLC_CACHE_DIR", old or "")
        os.environ["DSLC_CACHE_DIR"] = str(self.folder)
        _cache._memory.clear()

    def files(self):
        return [p for p in self.folder.rglob("*") if p.is_file() and p.name != "lock"]

    def count(self, times, **change):
        """How often the compiler is asked when this is wanted several times."""
        made = []
        for _ in range(times):
            _cache.get(request(**change), lambda: made.append(1) or b"output")
        return len(made)

    def test_once(self):
        self.assertEqual(self.count(3), 1)
        _cache._memory.clear()
        self.assertEqual(self.count(1), 0)  # from the file
        self.assertEqual(len(self.files()), 1)

    def test_what_decides(self):
        self.count(1)
        for change in ({"text": TEXT + b"\n"}, {"name": "x"}, {"defines": ("bN=32",)}, {"defines": ()},
                       {"target": "sm_90"}, {"emit": "ptx"}, {"opt_level": 1}, {"ptxas": "/bin/true"},
                       {"ptxas_args": ("-v",)}, {"unproved": True}, {"sizes": ("M=16",)}, {"card": "NVIDIA H200"},
                       {"one": True}):
            with self.subTest(change):
                self.assertEqual(self.count(1, **change), 1)

    def test_pieces_do_not_run_together(self):
        self.assertNotEqual(_cache.key(request(defines=("a=1", "b=2"))), _cache.key(request(defines=("a=1b=2",))))

    def test_broken_file(self):
        self.count(1)
        for content in (b"", b"x" * 20, b"y" * 200):
            self.files()[0].write_bytes(content)
            _cache._memory.clear()
            self.assertEqual(self.count(1), 1)
        _cache._memory.clear()
        self.assertEqual(self.count(1), 0)

    def test_no_folder(self):
        os.environ["DSLC_CACHE_DIR"] = ""
        self.assertEqual(self.count(2), 1)
        os.environ["DSLC_CACHE_DIR"] = "/proc/nowhere"
        self.assertEqual(self.count(2, name="other"), 1)

    def test_failures_are_not_kept(self):
        for _ in range(2):
            refused(self, lambda: dslc.compile(b"kernel"), "E0105", dslc.CompileError)
        self.assertEqual(self.files(), [])

    def test_processes(self):
        with multiprocessing.get_context("spawn").Pool(4) as pool:
            outputs = pool.map(compile_here, [str(self.folder)] * 8)
        self.assertEqual(len(set(outputs)), 1)
        self.assertEqual(outputs[0][:4], b"\x7fELF")
        self.assertEqual(len(self.files()), 1)  # and no temporary one

    def test_threads(self):
        made, outputs = [], []

        def work():
            outputs.append(_cache.get(request(), lambda: made.append(1) or b"output"))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual((len(made), outputs), (1, [b"output"] * 8))

    def test_process_that_dies(self):
        """A process that waits for the lock of a dead one compiles."""
        name = _cache.key(_cache.Request(b"text"))
        text = f"import dslc._cache as c, time; c._make({name!r}, lambda: print(flush=True) or time.sleep(60))"
        p = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
        p.stdout.readline()  # it has the lock
        made = []
        waiting = threading.Thread(target=lambda: made.append(_cache.get(_cache.Request(b"text"), lambda: b"here")))
        waiting.start()
        waiting.join(0.1)
        self.assertEqual(made, [])
        p.kill()
        p.communicate()
        waiting.join()
        self.assertEqual(made, [b"here"])


class Ptxas(unittest.TestCase):
    def setUp(self):
        _cache._memory.clear()
        environment = unittest.mock.patch.dict(os.environ, {"PATH": "", "DSLC_CACHE_DIR": ""})
        environment.start()
        self.addCleanup(environment.stop)
        for name in "DSLC_PTXAS", "CUDA_HOME":
            os.environ.pop(name, None)

    def simulate(self):
        with self.assertWarnsRegex(dslc.CompileWarning, "no ptxas was found, so only the simulator"):
            k = dslc.load(SMALL, bN=64)
        one, d = np.full((8, 8), 0x3f80, np.uint16), np.zeros((8, 8), np.uint16)
        k(one, one, out=d)
        self.assertTrue((d == 0x4100).all())

    def test_none(self):
        os.environ["DSLC_PTXAS"] = "none"
        self.assertIsNone(_cache.find_ptxas())
        self.simulate()

    def test_nowhere(self):
        with unittest.mock.patch.object(_cache.glob, "glob", lambda pattern: []):
            self.assertIsNone(_cache.find_ptxas())
            self.simulate()

    def test_named_and_not_there(self):
        os.environ["DSLC_PTXAS"] = "/nowhere/ptxas"
        refused(self, lambda: dslc.load(SMALL), "E0501.*/nowhere/ptxas is not a program", dslc.CompileError)

    def test_of_a_wheel(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(sys, "path", [folder, *sys.path]):
            for name in "cuda_nvcc", "cu12", "cu13":  # each is preferred to the ones before
                path = pathlib.Path(folder, "nvidia", name, "bin", "ptxas")
                path.parent.mkdir(parents=True)
                path.write_text("")
                before = _cache.find_ptxas()
                path.chmod(0o755)
                self.assertEqual(_cache.find_ptxas(), str(path))
                self.assertNotEqual(before, str(path))


if __name__ == "__main__":
    unittest.main()
