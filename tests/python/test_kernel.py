# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel allocates, what it says of itself, and the types of the package."""
import ast
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import numpy as np
import torch

import dslc
import dslc.torch
from common import PRODUCT, ROOT, SMALL, refused
from test_gpu import BF16, Arrays, Slow
from test_tensors import ADD, SCALE, SPLIT

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
OPEN = (ROOT / "examples/pick/pick.gemm").read_text().replace("pick(8 .. 256 by 8)", "pick(32, 128)").replace("bK = pick(64, 128)", "bK = 64")
SIZES = {"M": 16, "N": 128, "K": 64}


def numbers(*shape, dtype=np.float16):
    return np.random.default_rng(shape[0]).integers(-3, 4, shape).astype(dtype)


class Outputs(unittest.TestCase):
    """Tensors that the call makes where out= is missing."""

    @classmethod
    def setUpClass(cls):
        cls.k = dslc.load(PRODUCT, bN=64)
        cls.a, cls.b = numbers(100, 72), numbers(40, 72)
        cls.right = cls.a.astype(np.float32) @ cls.b.astype(np.float32).T

    def test_of_the_library_of_the_inputs(self):
        for d in self.k(self.a, self.b), self.k(self.a, B=self.b, out=None), self.k(self.a, self.b, D=None, M=None, stream=None):
            self.assertIs(type(d), np.ndarray)
            self.assertEqual(d.dtype, np.float32)
            self.assertTrue(np.array_equal(d, self.right))
        d = self.k(*(torch.from_numpy(x) for x in (self.a, self.b)))
        self.assertEqual((d.dtype, d.is_contiguous()), (torch.float32, True))
        self.assertTrue(np.array_equal(d.numpy(), self.right))
        self.assertIsNot(self.k(self.a, self.b), self.k(self.a, self.b))

    def test_two_outputs(self):
        k, x = dslc.loads(SPLIT), numbers(20, 70, dtype=np.float32)
        for part in k(x), k(x, out=(None, np.zeros((20, 140), np.float32)[:, 70:])), k(x, k=np.zeros((20, 140), np.float32)[:, :70]):
            self.assertIs(type(part), tuple)
            self.assertEqual([p.strides for p in part], [(560, 4)] * 2)  # rows of 2 N elements, as the kernel has them
            self.assertTrue(np.array_equal(part[0], x) and np.array_equal(part[1], 2 * x))
        whole = np.zeros((20, 140), np.float32)
        named = k(x, q=whole[:, :70], k=whole[:, 70:])
        self.assertTrue(named[1].base is whole and np.array_equal(named[1], 2 * x))
        self.assertIs(dslc.load(PRODUCT, bN=64)(self.a, self.b, out=None, D=self.right.copy()).dtype, self.right.dtype)
        q, k = k(torch.from_numpy(x))
        self.assertEqual((q.stride(), tuple(q.shape)), ((140, 1), (20, 70)))
        self.assertTrue(torch.equal(k, 2 * q))

    def test_columns(self):
        k = dslc.loads(SCALE.replace("y : out f32 (M,N):(N,1)", "y : out f32 (M,N):(1,M)"))
        x = numbers(24, 40, dtype=np.float32)
        self.assertEqual(k(x).strides, (4, 96))
        self.assertTrue(np.array_equal(k(x), 2 * x))
        self.assertEqual(k(x[:0]).shape, (0, 40))

    def test_bits(self):
        """Of NumPy, bf16 is uint16 unless an input is of ml_dtypes."""
        one = np.full((8, 8), 0x3f80, np.uint16)
        d = dslc.load(SMALL)(one, one)
        self.assertEqual(d.dtype, np.uint16)
        self.assertTrue((d == 0x4100).all())
        d = dslc.load(SMALL)(*[torch.ones(8, 8).bfloat16()] * 2)
        self.assertTrue(torch.equal(d, torch.full((8, 8), 8).bfloat16()))

    def test_cupy(self):
        """A stand-in for a library that is not here: its device and the stream of the call."""
        entered = []

        class Entered:
            def __init__(self, *what):
                self.what = what

            def __enter__(self):
                entered.append(self.what)

            def __exit__(self, *_):
                pass

        class Array(Slow):
            __module__, dtype = "cupy", np.dtype(np.uint16)

            def __init__(self, fast):
                super().__init__(fast, device=types.SimpleNamespace(id=0))

            def __dlpack_device__(self):
                return 2, 0

        x = Arrays(24, 16, 8)
        cupy = types.ModuleType("cupy")
        cupy.cuda = types.ModuleType("cupy.cuda")
        cupy.cuda.Device, cupy.cuda.ExternalStream = (lambda *w: Entered("device", *w)), (lambda *w: Entered("stream", *w))
        cupy.empty = lambda shape, dtype: entered.append((tuple(shape), dtype)) or Array(x.fast("D"))
        with unittest.mock.patch.dict(sys.modules, {"cupy": cupy, "cupy.cuda": cupy.cuda}):
            d = dslc.load(SMALL)(Array(x.fast("A")), Array(x.fast("B")), stream=0x7000)
        self.assertEqual(entered, [("device", 0), ("stream", 0x7000), ((24, 16), "uint16")])
        self.assertIsInstance(d, Array)
        self.assertTrue((x.view["D"] == 0x4100).all())

    def test_bench_and_tune(self):
        x = Arrays(24, 16, 8)
        k, a, b, d = dslc.load(SMALL), x.fast("A"), x.fast("B"), x.fast("D")
        times = k.bench(a, b, out=d, rounds=5)
        self.assertTrue(0 < times.least <= times.us <= times.most)
        self.assertTrue((x.view["D"] == 0x4100).all())
        refused(self, lambda: k.bench(a, b), "not given D, which it writes: out= .*not for Fast", TypeError)
        refused(self, lambda: self.k.bench(self.a, self.b), "bench measures kernel product and needs a GPU: .*on the host")

    def test_refused(self):
        class Array:
            __module__ = "jaxlib"

            def __init__(self, array):
                self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__
        leading = SCALE.replace("y : out f32 (M,N):(N,1)", "y : out f32 (M,N):(L,1)")
        x = numbers(16, 64, dtype=np.float32)
        for call, words, error in (
            (lambda: self.k(self.a), "not given B$", TypeError),
            (lambda: self.k(self.a, self.b[:, :64]), "tensor B .*extent 1 is 64", dslc.Error),
            (lambda: self.k(Array(self.a), self.b), "D, which it writes: out= .*not for Array of jaxlib", TypeError),
            (lambda: dslc.loads(leading)(x), "size L .*give it by name", dslc.Error),
            (lambda: dslc.loads(ADD)(x), "not given y$", TypeError),
        ):
            with self.subTest(words):
                refused(self, call, words, error)
        self.assertEqual(dslc.loads(leading)(x, L=80).strides, (320, 4))
        self.assertIs(dslc.loads(ADD)(x, np.zeros_like(x)), None)


class Lent(unittest.TestCase):
    """Arrays that NumPy itself does not lend."""

    def test_read_only(self):
        k, a, b = dslc.load(PRODUCT, bN=64), numbers(100, 72), numbers(40, 72)
        right = k(a, b)
        a.flags.writeable = b.flags.writeable = False
        self.assertTrue(np.array_equal(k(a, b), right))
        d = np.zeros((100, 40), np.float32)
        d.flags.writeable = False
        refused(self, lambda: k(a, b, out=d), "tensor D of kernel product is written, but the given one is read-only")
        self.assertFalse(d.any())
        refused(self, lambda: k(a, b.view("V2")), "tensor B of kernel product.*DLPack")
        before = sys.getrefcount(a)
        for _ in range(3):
            k(a, b)
        self.assertEqual(sys.getrefcount(a), before)

    class Named(np.ndarray):
        """An array of another type, as ml_dtypes has them."""
        __module__, named = "numpy", "bfloat16"
        dtype = property(lambda self: types.SimpleNamespace(name=self.named, type=Lent), lambda *_: None)

        def __dlpack__(self, **_):
            raise BufferError("DLPack only supports numbers")

    def named(self, name, array):
        x = array.view(Lent.Named)
        x.named = name
        return x

    def test_types(self):
        one, d = np.full((8, 8), 0x3f80, np.uint16), np.zeros((8, 8), np.uint16)
        k = dslc.load(SMALL)
        k(self.named("bfloat16", one), self.named("bfloat16", one), out=self.named("bfloat16", d))
        self.assertTrue((d == 0x4100).all())
        byte = np.zeros((8, 8), np.uint8)
        refused(self, lambda: k(self.named("float8_e4m3fn", byte), one), "tensor A .*is bf16; got e4m3", status="ARG_TYPE")
        refused(self, lambda: k(self.named("float8_e5m2", byte), one), "tensor A .*is bf16; got e5m2", status="ARG_TYPE")
        refused(self, lambda: k(self.named("float8_e4m3fnuz", byte), one), "tensor A .*no kernel takes: float8_e4m3fnuz")
        refused(self, lambda: k(self.named("int4", byte), one), "tensor A .*int4 has an element a byte", TypeError)

    def test_packed(self):
        """The help for int4 puts the first of two elements into the low half."""
        refused(self, lambda: dslc.load(SMALL)(self.named("int4", np.zeros((8, 8), np.uint8)), 0), "x = .*", TypeError)
        try:
            dslc.load(SMALL)(self.named("int4", np.zeros((8, 8), np.uint8)), 0)
        except TypeError as e:
            first, second = str(e).partition("low half: x = ")[2].split("; ")
        x = eval(first, {"x": np.int8([[1, -1, 7, 3]])})
        self.assertEqual(eval(second, {"x": x}).tolist(), [[0xf1, 0x37]])

    @unittest.skipUnless(ml_dtypes, "ml_dtypes is not installed")
    def test_ml_dtypes(self):
        k, one = dslc.load(SMALL), np.ones((8, 8), ml_dtypes.bfloat16)
        self.assertEqual(k(one, one).dtype, ml_dtypes.bfloat16)
        self.assertTrue((k(one, one) == 8).all())


class Said(unittest.TestCase):
    def test_signature(self):
        k = dslc.load(PRODUCT, bN=64)
        self.assertEqual(str(inspect.signature(k)).replace("'", ""), "(A: f16 (M, K), B: f16 (N, K), *, out: f32 (M, N) = None, D: f32 (M, N) "
                         "= None, M: int = None, K: int = None, N: int = None, stream: int = None, sms: int = 0) -> f32 (M, N)")
        a, b = numbers(100, 72), numbers(40, 72)
        bound = inspect.signature(k).bind(a, B=b, M=100)
        bound.apply_defaults()
        self.assertEqual(k(*bound.args, **bound.kwargs).shape, (100, 40))
        two = inspect.signature(dslc.loads(SPLIT))
        self.assertEqual((two.return_annotation, list(two.parameters)[:4]), ("(f32 (M, N), f32 (M, N))", ["x", "out", "q", "k"]))
        blend = inspect.signature(dslc.load(ROOT / "tests/e2e/blend.gemm", R="none", W=1, bM=64, bN=64)).parameters
        self.assertEqual(blend["alpha"].annotation, "f32")
        changed = inspect.signature(dslc.loads(ADD.replace("x", "lambda")))
        self.assertEqual(str(changed).replace("'", ""), "(lambda: f32 (M, N), y: f32 (M, N), /, *, M: int = None, N: int = None, "
                         "stream: int = None, sms: int = 0) -> None")

    def test_attributes(self):
        k = dslc.load(PRODUCT, bN=64)
        self.assertLessEqual({"sizes", "consts", "schedule", "variants", "chosen", "explain", "bench", "name"}, set(dir(k)))
        self.assertEqual((k.sizes, k.consts, k.variants), (("M", "K", "N"), {"bM": 64, "bN": 64, "bK": 64}, {}))
        self.assertEqual((k.schedule["roles"], k.schedule["cluster"]), ("none", [1, 1]))
        cubin = dslc.Kernel(k.cubin)
        self.assertEqual((cubin.sizes, cubin.consts, cubin.schedule, cubin.variants), (k.sizes, {}, {}, {}))

    def test_what_was_chosen(self):
        family, one = dslc.loads(OPEN), dslc.loads(OPEN, sizes=SIZES)
        self.assertGreater(len(family.variants), 1)
        alike = {n for n in ("bM", "bN") if len({v[n] for v in family.variants.values()}) == 1}
        self.assertEqual((set(family.consts), family.schedule), ({"bK"} | alike, {}))
        self.assertLess(len(alike), 2)
        self.assertEqual(set(family.variants["gemm__1"]), {"bM", "bN", "schedule"})
        self.assertEqual([str(one.consts[n]) for n in ("bM", "bN")], [one.variants["gemm"][n] for n in ("bM", "bN")])
        self.assertIn(f"roles {one.schedule['roles']};", one.variants["gemm"]["schedule"])
        a, b = np.zeros((16, 64), np.uint16), np.zeros((128, 64), np.uint16)
        taken = family.choice(a, b).name
        self.assertRegex(family.explain(a, b), rf"^//: gemm: .*\n//:   {taken}: -DbM={family.variants[taken]['bM']} (.*\n)*.*"
                         rf"const bM = {family.variants[taken]['bM']}, ")
        self.assertNotIn(f"//:   {taken}:", family.explain()) if taken != "gemm__1" else None
        both = OPEN.replace("N", "P").replace("bP", "bN") + OPEN.replace("kernel gemm", "kernel more")  # P: a size of the other
        more = dslc.loads(both, kernel="more", sizes=SIZES)
        self.assertEqual(list(more.variants["more"]), ["bM", "bN", "schedule"])
        self.assertEqual(str(more.consts["bM"]), more.variants["more"]["bM"])

    def test_explain(self):
        run = subprocess.run([sys.executable, "-m", "dslc", "explain", PRODUCT, "-DbN=64"], capture_output=True, text=True)
        k = dslc.load(PRODUCT, bN=64)
        self.assertEqual((run.returncode, k.explain()), (0, run.stdout))
        refused(self, dslc.Kernel(k.cubin).explain, "is of a cubin: explain needs its source", TypeError)

    def test_notebooks(self):
        k = dslc.load(PRODUCT, bN=64)
        self.assertRegex(k._repr_html_(), r"(?s)^<pre>product\(A: f16 \(M, K\), .*-&gt; f32 \(M, N\)\n\n</pre><svg .*</svg>\s*$")
        self.assertNotIn("<svg", dslc.Kernel(k.cubin)._repr_html_())

    def test_tool(self):
        for arguments, code, out, err in ((["--version"], 0, f"dslc {dslc.__version__}", ""), (["nothing.gemm"], 1, "", "E0601"),
                                          (["--no-such-option"], 2, "", "no-such-option")):
            run = subprocess.run([sys.executable, "-m", "dslc", *arguments], capture_output=True, text=True)
            self.assertEqual(run.returncode, code)
            self.assertIn(out, run.stdout)
            self.assertIn(err, run.stderr)


PROGRAM = '''
import inspect
from pathlib import Path
from typing import Tuple

import numpy as np
import numpy.typing as npt

import dslc
import dslc.torch


def uses(text: str) -> None:
    a, b, d = (np.zeros((64, 64), np.float16) for _ in range(3))
    k = dslc.load(Path("gemm.gemm"), bN=128, roles="pingpong", sizes={"M": 16, "N": 64, "K": 64})
    other: dslc.Kernel = dslc.loads(text, "gemm", bN=64, specialize=True, sizes=[{"M": 1}], sim="seed=1")
    result: npt.NDArray[np.float16] = k(a, b, alpha=2.0, out=d, stream=0, sms=100, M=16)
    pair: Tuple[npt.NDArray[np.float16], npt.NDArray[np.float16]] = other(a, b, out=(d, d))
    us: float = k.choice(a, b).us or k.bench(a, b, rounds=5).us or k.tune(a, b)[0].us
    cubin: bytes = dslc.compile(text)
    ptx: str = dslc.compile(text, emit="ptx", sizes={"M": 1})
    names: Tuple[str, ...] = k.sizes
    print(result, k(a, b), pair, us, cubin, ptx, inspect.signature(k), names, k.name, k.consts["bN"], k.schedule, k.variants,
          k.chosen, k.explain(a, b), k.cubin, k.manifest, dslc.describe(k)["args"], dslc.__version__, dslc.torch.custom_op("a::b", k))


def fails(error: dslc.Error) -> None:
    dslc.load(5)
    dslc.loads("", sizes="M=16")
    dslc.loads("", bN=[])
    dslc.compile("", emit="sass")
    text: str = dslc.compile("")
    print(error.status + text, dslc.Choice("", 1.0, "").us + 1)
    dslc.load("").chosen = 5
'''


class Types(unittest.TestCase):
    def names(self):
        """Functions and classes of the package, with those of its classes."""
        for path in sorted((ROOT / "python/dslc").glob("*.py*")):
            for node in ast.walk(ast.parse(path.read_text() or "0")):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    yield path, node

    def test_all_is_annotated_and_explained(self):
        for path, node in self.names():
            with self.subTest(f"{path.name}: {node.name}"):
                known = path.suffix == ".pyi" or any("overload" in ast.dump(d) for d in node.decorator_list)
                if not node.name.startswith("_") and not known:
                    shown = ast.get_docstring(node) or node.name in ("tensors_of", "give", "run", "fake", "add")
                    self.assertTrue(shown, "has no docstring")
                if isinstance(node, ast.FunctionDef):
                    self.assertTrue(node.returns, "the result has no annotation")
                    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
                    self.assertEqual([a.arg for a in every if a and not a.annotation and a.arg not in ("self", "cls")], [])

    def test_stub_and_extension(self):
        """Each name and each parameter of the extension is in its stub, and no other."""
        tree = ast.parse((ROOT / "python/dslc/_dslc.pyi").read_text())
        stub = {n.name if hasattr(n, "name") else n.target.id: n for n in tree.body
                if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign))}
        self.assertEqual(set(stub), {n for n in dir(dslc._dslc) if not n.startswith("__")})
        for name in "compile", "main":
            self.assertEqual([a.arg for a in stub[name].args.args], list(inspect.signature(getattr(dslc._dslc, name)).parameters))
        kernel = {n.name if hasattr(n, "name") else n.target.id for n in stub["Kernel"].body if not isinstance(n, ast.Expr)}
        self.assertEqual(kernel, {n for n in vars(dslc._dslc.Kernel) if n not in ("__doc__", "__module__", "__repr__")})
        for n in stub["Kernel"].body:
            if getattr(n, "name", "") in ("__call__",):
                self.assertEqual([a.arg for a in n.args.kwonlyargs], ["out", "stream", "sms"])

    def test_the_page_has_all(self):
        page = (ROOT / "docs/python.md").read_text()
        options = {n for f in (dslc.load, dslc.loads) for n in inspect.signature(f).parameters} - {"consts"}
        said = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", page))))
        own = {n for n in vars(dslc.Kernel) | vars(dslc._dslc.Kernel) if not n.startswith("_")}
        self.assertEqual((options | own | set(dslc.__all__) | {"stream", "sms", "out"}) - said - {"__version__", "Choice", "Times", "Tuned"}, set())

    def test_all_names(self):
        for name in dslc.__all__:
            self.assertTrue(name == "__version__" or getattr(dslc, name).__doc__, name)

    def test_mypy(self):
        if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode:
            self.skipTest("no mypy: tools/setup.sh")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program.py")
            program.write_text(PROGRAM)
            pathlib.Path(folder, "mypy.ini").write_text("[mypy]\nstrict = True\n[mypy-torch.*]\nfollow_imports = skip\nignore_missing_imports = True\n")
            run = subprocess.run([sys.executable, "-m", "mypy", "--no-color-output", "--cache-dir=/dev/null", "program.py"], cwd=folder,
                                 env={**os.environ, "MYPYPATH": str(pathlib.Path(dslc.__file__).parent.parent), "LD_PRELOAD": ""},
                                 capture_output=True, text=True)
        found = [int(line.split(":")[1]) for line in run.stdout.splitlines() if line.startswith("program.py:") and " error: " in line]
        lines = PROGRAM.splitlines()
        bad = next(i for i, line in enumerate(lines, 1) if "def fails" in line)
        self.assertEqual(sorted(set(found)), list(range(bad + 1, len(lines) + 1)), run.stdout + run.stderr)
        self.assertNotIn("dslc/", run.stdout)


if __name__ == "__main__":
    unittest.main()
