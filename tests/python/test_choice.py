# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a source leaves open: families, kernels that are compiled for the sizes that come, measured ones."""
import contextlib
import multiprocessing
import os
import sys
import tempfile
import threading
import unittest
import unittest.mock

import fake_tensor
import numpy as np

import dslc
from common import PRODUCT, SMALL, refused
from dslc import _cache, _tune
from test_gpu import Arrays

TEXT = PRODUCT.read_text().replace("bN = 128", "bN = pick(32, 256)")
OPEN = TEXT.replace("wgmma<64,bN,16>", "wgmma").replace("ab(3)", "ab").replace("schedule { roles none; }", "")
SIZES = {"M": 100, "N": 40, "K": 72}


def arrays(m=100, n=40, k=72):
    random = np.random.default_rng(m)
    return (*(random.integers(-3, 4, (x, k)).astype(np.float16) for x in (m, n)), np.full((m, n), np.nan, np.float32))


def is_right(k, *sizes):
    a, b, d = arrays(*sizes)
    return k(a, b, out=d) is d and np.array_equal(d, a.astype(np.float32) @ b.astype(np.float32).T)


@contextlib.contextmanager
def compilations():
    """Sizes, card and defines of those that the compiler was asked for."""
    asked, compile = [], dslc._dslc.compile

    def counted(*args):
        asked.append((*args[9], args[10], *args[3]))
        return compile(*args)
    with unittest.mock.patch.object(dslc._dslc, "compile", counted):
        yield asked


def specialize_here(folder):
    os.environ["DSLC_CACHE_DIR"] = folder
    with compilations() as asked:
        return is_right(dslc.loads(TEXT, specialize=True)), len(asked)


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        environment = unittest.mock.patch.dict(os.environ, {"DSLC_CACHE_DIR": self.folder})
        environment.start()
        self.addCleanup(environment.stop)
        _cache._memory.clear()


class Chosen(Scratch):
    def test_family(self):
        k = dslc.loads(OPEN)
        self.assertRegex(k.chosen, r"^product: \d+ variants .*\n  product.*-DbN=")
        self.assertEqual(dslc.describe(k)["syms"], ["M", "K", "N"])
        taken = set()
        for sizes in (100, 40, 72), (16, 32, 64), (4096, 8192, 64):
            a, b, d = arrays(*sizes)
            choice = k.choice(a, b)
            self.assertEqual(choice, k.choice(a, B=b, out=d))
            self.assertIn(choice.name, choice.why)
            self.assertGreater(choice.us, 0)
            taken.add(choice.name)
        self.assertGreater(len(taken), 1)
        self.assertTrue(is_right(k) and is_right(k, 16, 32, 64))

    def test_choice_refuses_as_a_call(self):
        k = dslc.loads(TEXT)
        a, b, d = arrays()
        refused(self, lambda: k.choice(a), "not given B", TypeError)
        refused(self, lambda: k.choice(a, b[:, :64]), "extent 1 is 64", status="SHAPE")
        refused(self, lambda: k.choice(a, b, out=d[:, ::2]), "extent 1 is 20", status="SHAPE")

    def test_sizes(self):
        with compilations() as asked:
            one = dslc.loads(TEXT, sizes=SIZES, card="NVIDIA H200")
            same = dslc.loads(TEXT, sizes=dict(reversed(SIZES.items())), card="NVIDIA H200")
            several = dslc.loads(TEXT, sizes=[SIZES, {"M": 4096, "N": 8192, "K": 64}])
        self.assertEqual(asked, [("K=72,M=100,N=40", "NVIDIA H200"),
                                 ("K=72,M=100,N=40", "K=64,M=4096,N=8192", None)])
        self.assertRegex(one.chosen, "^product for 100 x 40 x 72 on NVIDIA H200: -DbN=")
        self.assertRegex(several.chosen, "^product: .* for 2 sizes on NVIDIA H200")
        for k in one, same, several:
            self.assertTrue(is_right(k) and is_right(k, 16, 32, 64))
        self.assertIn(b'"product', dslc.compile(TEXT, sizes=SIZES))

    def test_estimate_of_one(self):
        """A kernel that was chosen for one problem has an estimate at all sizes."""
        one, (a, b, _), more = dslc.loads(TEXT, sizes=SIZES), arrays(), arrays(4096, 8192, 64)
        estimate = float(one.chosen.partition("estimate ")[2].split()[0])
        self.assertEqual(one.choice(a, b).us, estimate)
        self.assertGreater(one.choice(*more[:2]).us, 5 * estimate)
        self.assertRegex(one.choice(a, b).why, "^product: tile .*no other kernel has this name")

    def test_wrong_words(self):
        for words, error, said in (
            ({"sizes": {"M": 1, "N": 2}}, dslc.CompileError, "E0612.* say nothing of K"),
            ({"sizes": {**SIZES, "Q": 4}}, dslc.CompileError, "E0612.* give Q, which no kernel"),
            ({"sizes": {**SIZES, "M": "x"}}, dslc.CompileError, "E0611.*'M=x' is no size"),
            ({"sizes": {}}, dslc.CompileError, "E0611.*'' is no size"),
            ({"sizes": []}, TypeError, r"sizes is a dict.* not \[\]"),
            ({"sizes": {"M": 1, "N": 2}, "kernel": "other"}, dslc.CompileError, "E0313.*no kernel other"),
            ({"sizes": "M=1"}, TypeError, "sizes is a dict.* not 'M=1'"),
            ({"sizes": [1]}, TypeError, r"sizes is a dict.* not \[1\]"),
            ({"ptxas": "/nowhere", "bM": 64}, dslc.CompileError, "E0501"),
            ({"bQ": 3}, dslc.CompileError, "W0201.*bQ"),
            ({"sizes": SIZES, "specialize": True}, TypeError, "leave out sizes="),
        ):
            with self.subTest(words):
                refused(self, lambda: dslc.loads(TEXT, **words), said, error)
        path = os.path.join(self.folder, "product.cubin")
        with open(path, "wb") as f:
            f.write(dslc.compile(PRODUCT.read_text()))
        refused(self, lambda: dslc.load(path, sizes=SIZES), "is compiled: sizes cannot", TypeError)
        refused(self, lambda: dslc.load(path, specialize=True, bN=8), "is compiled: bN, specialize cannot", TypeError)
        self.assertTrue(is_right(dslc.load(path)))


class Specialized(Scratch):
    def test_compiles_once_for_each(self):
        with compilations() as asked:
            k = dslc.loads(TEXT, specialize=True)
            for sizes in (100, 40, 72), (16, 32, 64), (100, 40, 72), (16, 32, 64):
                self.assertTrue(is_right(k, *sizes))
            self.assertEqual(asked, [(None,)] + [(s, None) for s in ("K=72,M=100,N=40", "K=64,M=16,N=32")])
            self.assertRegex(k.choice(*arrays()[:2]).why, r"^product for 100 x 40 x 72 on .*\n  estimate [0-9.]+ us")
            self.assertGreater(k.choice(*arrays()[:2]).us, 0)
            self.assertEqual(len(asked), 3)
            _cache._memory.clear()
            self.assertTrue(is_right(dslc.loads(TEXT, specialize=True)))
            self.assertEqual(len(asked), 3)  # from the files
            self.assertTrue(is_right(dslc.loads(TEXT, specialize=True, card="NVIDIA H200")))
            self.assertEqual(asked[-1], ("K=72,M=100,N=40", "NVIDIA H200"))

    def test_many_sizes(self):
        """Each is asked for once, with a stand-in for the compiler."""
        k, made = dslc.load(PRODUCT, bN=64), []
        cubin = k.cubin

        def maker(key):
            made.append(key)
            return dslc.Kernel(cubin) if len(made) % 2 else None
        k._known = dslc._Known(maker)
        a, b, d = arrays(200, 1, 8)
        for _ in range(2):
            for m in range(1, 201):
                self.assertIs(k.choice(a[:m], b).us, None)
        self.assertEqual(len(set(made)), 200)
        self.assertEqual(len(made), 200)
        k(a, b, out=d)
        self.assertTrue(np.array_equal(d, a.astype(np.float32) @ b.astype(np.float32).T))

    def test_leaves_nothing(self):
        kernel = dslc.loads(TEXT, specialize=True)
        before = sys.getrefcount(dslc.Kernel)
        for _ in range(3):
            kernel = dslc.loads(TEXT, specialize=True)
            self.assertTrue(is_right(kernel))
        del kernel
        self.assertLess(sys.getrefcount(dslc.Kernel), before + 1)

    def test_two_kernels(self):
        other = TEXT.replace("kernel product", "kernel other").replace("(N,K):(K,1)", "(P,K):(K,1)").replace("(M,N)", "(M,P)").replace("(N,1)", "(P,1)")
        k = dslc.loads(TEXT + other, kernel="other", specialize=True)
        self.assertTrue(is_right(k))
        choice = k.choice(*arrays()[:2])
        self.assertEqual(choice.name, "other")
        self.assertRegex(choice.why, "^other for 100 x 40 x 72")
        self.assertNotIn("product", choice.why)

    def test_nothing_to_do(self):
        k = dslc.loads(TEXT, specialize=True)
        self.assertEqual(k(*(x[:0] for x in arrays()[:1]), arrays()[1], out=arrays()[2][:0]).shape, (0, 40))

    def test_nothing_open(self):
        k = dslc.load(PRODUCT, bN=64, specialize=True)
        self.assertTrue(is_right(k) and is_right(k, 16, 32, 64))
        self.assertEqual((k.chosen, k.choice(*arrays()[:2]).us), ("", None))

    def test_refused_when_called(self):
        k = dslc.loads(TEXT, specialize=True)
        with unittest.mock.patch.object(dslc._dslc, "compile", lambda *_: (None, "error[E0501]: no ptxas", "")):
            refused(self, lambda: is_right(k), "E0501", dslc.CompileError)
        self.assertTrue(is_right(k))

    def test_threads(self):
        k, right = dslc.loads(TEXT, specialize=True), []
        with compilations() as asked:
            threads = [threading.Thread(target=lambda: right.append(is_right(k))) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        self.assertEqual((len(asked), right), (1, [True] * 4))

    def test_processes(self):
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            answers = pool.map(specialize_here, [self.folder] * 2, chunksize=1)
        self.assertEqual([right for right, _ in answers], [True, True])
        self.assertEqual(sum(n for _, n in answers), 2)  # to load, and for the sizes: each by one of them


class Tuned(Scratch):
    text = SMALL.read_text().replace("bN = 64", "bN = pick(32, 64)")

    def setUp(self):
        super().setUp()
        x = Arrays(24, 16, 8)
        self.x, self.a, self.b, self.d = x, x.fast("A"), x.fast("B"), x.fast("D")

    def tune(self, k, times):
        """Where the kernel with one bN or the other takes so long."""
        def time(kernel, *args, **words):
            return next(times[kernel._request.defines[-1]])
        with unittest.mock.patch.object(dslc.Kernel, "_time", time):
            return k.tune(self.a, self.b, out=self.d)

    def test_the_faster_is_kept(self):
        for fast, slow in ("32", "64"), ("64", "32"):
            with self.subTest(fast):
                k = dslc.loads(self.text)
                times = {f"bN={fast}": iter([1.0] * 99), f"bN={slow}": iter([2.0] * 99)}
                table = self.tune(k, times)
                self.assertEqual([(t.us, t.defines) for t in table], [(1, {"bN": fast}), (2, {"bN": slow})])
                self.assertGreater(table[0].estimate_us, 0)
                again = dslc.loads(self.text, specialize=True)
                for tuned in k, again:
                    choice = tuned.choice(self.a, self.b)
                    self.assertEqual(choice.us, 1)
                    self.assertRegex(choice.why, f'^small for K=8,M=24,N=16 on .*measured 1.0 us.*-DbN="{fast}"')
                    tuned(self.a, self.b, out=self.d)
                    self.assertTrue((self.x.view["D"] == 0x4100).all())
                other = Arrays(16, 16, 8)
                self.assertNotIn("measured", k.choice(other.fast("A"), other.fast("B")).why)
                _cache._memory.clear()
                with compilations() as asked:
                    choice = dslc.loads(self.text, specialize=True).choice(self.a, self.b)
                self.assertEqual((asked, choice.us), ([], 1))

    def test_noise_wins_nothing(self):
        even, odd = [1.0, 2.0] * 10, [2.0, 1.0] * 10
        self.assertEqual(_tune.fastest([even, odd, [1.5] * 20]), 0)
        self.assertEqual(_tune.fastest([[2.0] * 20, [1.0] * 15 + [3.0] * 5]), 0)
        self.assertEqual(_tune.fastest([[2.0] * 20, [1.0] * 16 + [3.0] * 4]), 1)

    def test_events(self):
        """The times are those of the GPU's events, of one launch."""
        table = dslc.loads(self.text).tune(self.a, self.b, out=self.d)
        self.assertEqual(len(table), 2)
        self.assertTrue((self.x.view["D"] == 0x4100).all())
        for t in table:
            self.assertTrue(0 < t.us < 1000, t)
        self.assertEqual(fake_tensor.lent(), 0)

    def test_refused(self):
        k, host = dslc.loads(TEXT), arrays()
        a, b, d = host
        inout = PRODUCT.read_text().replace("D : out", "D : inout").replace("<- acc;", "<- acc + gD[m,n];")
        scaled = TEXT.replace("D : out", "alpha : f32, D : out").replace("<- acc;", "<- alpha * acc;")
        self.assertEqual(scaled.count("alpha"), 2)
        for call, words, error in (
            (lambda: k.tune(a, b, out=d), "needs a GPU: these tensors are on the host", dslc.Error),
            (lambda: dslc.Kernel(k.cubin).tune(a, b, out=d), "is of a cubin", TypeError),
            (lambda: dslc.loads(scaled).tune(a, b, 2.0, out=d), "needs a GPU: these tensors are on the host", dslc.Error),
            (lambda: dslc.loads(inout).tune(a, b, d), "changes D in place", TypeError),
            (lambda: dslc.load(SMALL).tune(self.a, self.b, out=self.d), "E0616", dslc.CompileError),
            (lambda: dslc.loads(self.text).tune(self.a, self.b), "not given D, .*made only for", TypeError),
        ):
            with self.subTest(words):
                refused(self, call, words, error)


if __name__ == "__main__":
    unittest.main()
