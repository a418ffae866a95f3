# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on the simulator, with arrays of NumPy and tensors of PyTorch on the host."""
import sys
import threading
import unittest
import warnings

import numpy as np
import torch

import dslc
import dslc.torch
from common import PRODUCT, ROOT, SMALL, refused


def numbers(*shape, dtype=np.float16):
    return np.random.default_rng(shape[0]).integers(-3, 4, shape).astype(dtype)


UNPROVED = """kernel k ptx sm_90a block=32 smem=0 after=simplify {
  sym M 0..2147483647
  launch (M, 1, 1)
  role main warps=1 first=0 {
    if (M <= 7) {
      bar.sync (1) threads=32
    }
  }
}
"""


class NumPy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.k = dslc.load(PRODUCT, bN=64)

    def setUp(self):
        self.a, self.b = numbers(100, 72), numbers(40, 72)
        self.d = np.full((100, 40), np.nan, np.float32)

    def right(self):
        wanted = self.a.astype(np.float32) @ self.b.astype(np.float32).T
        self.assertTrue(np.array_equal(self.d, wanted))

    def test_out_is_what_comes_back(self):
        self.assertIs(self.k(self.a, self.b, out=self.d), self.d)
        self.right()

    def test_odd_rows(self):
        for k in 63, 1:
            a, b = numbers(100, k), numbers(40, k)
            self.k(a, b, out=self.d)
            self.assertTrue(np.array_equal(self.d, a.astype(np.float32) @ b.astype(np.float32).T))
        flat = numbers(1, 100 * 72 + 1)[0]  # begins at an odd element
        self.a = flat[1:].reshape(100, 72)
        self.k(self.a, self.b, out=self.d)
        self.right()

    def test_names(self):
        self.k(B=self.b, A=self.a, out=self.d)
        self.right()
        self.d[:] = 0
        self.k(self.a, B=self.b, D=self.d, M=100)
        self.right()
        self.d[:] = 0
        self.assertEqual(self.k(self.a, self.b, out=(self.d,))[0] is self.d, True)
        self.right()

    def test_weights_of_every_value(self):
        with open(f"{ROOT}/tests/e2e/registers/weights_s4.gemm") as f:
            text = f.read()
        scales, d = np.repeat(np.float32([[1], [2], [4]]), 136, 1), np.zeros((24, 136), np.uint16)
        groups = torch.from_numpy(scales).T[:, None, :].expand(136, 128, 3)
        b = numbers(24, 264, dtype=np.float32)
        bits = (b.view(np.uint32) >> 16).astype(np.uint16)
        sizes = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
        for elem, values in (
            ("s4", [*range(8), *range(-8, 0)]),
            ("u4", [*range(16)]),
            ("e2m1", sizes + [-x for x in sizes]),
            ("s8", [*range(128), *range(-128, 0)]),
            ("u8", [*range(256)]),
        ):
            k = dslc.loads(text.replace(": s4", f": {elem}"))
            codes = np.random.default_rng(4).permutation(136 * 264) % len(values)
            codes = codes.astype(np.uint8).reshape(136, 264)
            two = len(values) == 16
            given = codes[:, ::2] | codes[:, 1::2] << 4 if two else codes
            k(given.view(np.int8 if elem == "s8" else np.uint8), bits, groups, out=d.T)
            scaled = np.float32(values)[codes] * np.repeat(scales.T, 128, 1)[:, :264]
            wanted = torch.from_numpy((scaled @ b.T).T.copy()).bfloat16().view(torch.int16)
            self.assertTrue(np.array_equal(d, wanted.numpy().view(np.uint16)), elem)
            if two:
                with self.assertRaisesRegex(dslc.Error, "extent 1 is 262"):
                    k(given[:, :131], bits, groups, out=d.T, K=264)

    def test_no_rows(self):
        d = np.zeros((0, 40), np.float32)
        self.k(self.a[:0], self.b, out=d)

    def test_refused_by_the_runtime(self):
        k, a, b, d = self.k, self.a, self.b, self.d
        for call, words, status in (
            (lambda: k(a, b[:, :64], out=d), r"tensor B .*extent 1 is 64, .*K = 72", "SHAPE"),
            (lambda: k(a, b, out=d[:, ::2]), r"tensor D .*extent 1 is 20, .*N = 40", "SHAPE"),
            (lambda: k(a, numbers(40, 144)[:, ::2], out=d), r"tensor B .*stride 0 is 144", "SHAPE"),
            (lambda: k(np.array(a[0, 0]), b, out=d), r"tensor A .*2 dimensions \(M, K\); got none", "SHAPE"),
            (lambda: k(a[0], b, out=d), r"tensor A .*2 dimensions \(M, K\); got 72", "SHAPE"),
            (lambda: k(a, b, out=d, M=7), r"tensor A .*extent 0 is 100, .*M = 7", "SHAPE"),
            (lambda: k(a.astype(np.float32), b, out=d), r"tensor A .*is f16; got f32", "ARG_TYPE"),
        ):
            with self.subTest(words):
                refused(self, call, words, status=status)
        self.assertTrue(np.isnan(d).all())

    def test_refused_by_the_call(self):
        k, a, b, d = self.k, self.a, self.b, self.d
        for call, words in (
            (lambda: k(a, out=d), "not given B"),
            (lambda: k(a, b, b, out=d), "takes 2 arguments"),
            (lambda: k(a, b, out=d, D=d), "D twice"),
            (lambda: k(a, b, A=a, out=d), "A twice"),
            (lambda: k(a, b, out=(d, d)), "takes 1 tensor as out="),
            (lambda: k(a, b, out=d, Q=1), "no argument Q"),
            (lambda: k(a, 3, out=d), "expected a tensor .*'int'"),
            (lambda: k(a, None, out=d), "expected a tensor .*'NoneType'"),
            (lambda: k(a, B=None, out=d), "not given B"),
            (lambda: k(a, b, out=d, stream="x"), "stream is the address of a CUDA stream.*'str'"),
            (lambda: k(a, b, out=d, M=100.0), "'float' object"),
        ):
            with self.subTest(words):
                refused(self, call, words, TypeError)

    def test_numbers_out_of_range(self):
        for words in ({"sms": 1 << 40}, {"sms": 1 << 70}, {"M": 1 << 70}):
            with self.subTest(words):
                refused(self, lambda: self.k(self.a, self.b, out=self.d, **words), "", OverflowError)
        refused(self, lambda: self.k(self.a, self.b, out=self.d, sms=-1), "sms is -1", status="INVALID")

    def test_four_threads(self):
        """Launches of several threads do not disturb each other, and leave nothing."""
        wrong, wanted = [], self.a.astype(np.float32) @ self.b.astype(np.float32).T

        def work(count):
            d = np.zeros_like(self.d)
            for _ in range(count):
                d[:] = np.nan
                self.k(self.a, self.b, out=d)
                if not np.array_equal(d, wanted):
                    wrong.append(d)

        def all_threads(count):
            threads = [threading.Thread(target=work, args=(count,)) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            return sys.getallocatedblocks()
        all_threads(5)
        before = all_threads(5)
        self.assertLess(all_threads(40) - before, 500)
        self.assertEqual(wrong, [])

    def test_batches(self):
        """Matrices of a batch, and one that all of them are multiplied by, which is a stride of 0."""
        k = dslc.load(ROOT / "tests/gpu/batch.gemm", bN=64, S=3)
        a, b = torch.from_numpy(numbers(3, 100, 72)).bfloat16(), torch.from_numpy(numbers(40, 72)).bfloat16()
        for b in b.repeat(3, 1, 1), b.expand(3, 40, 72):
            d = torch.full((3, 100, 40), float("nan"), dtype=torch.bfloat16)
            k(a, b, out=d)
            self.assertTrue(torch.equal(d, (a.float() @ b.float().mT).bfloat16()))
        refused(self, lambda: k(a, b[0], out=d), r"tensor B .*3 dimensions \(L, N, K\)", status="SHAPE")

    def test_complex_numbers(self):
        refused(self, lambda: self.k(self.a.astype(np.complex64), self.b, out=self.d),
                r"tensor A .*elements that no kernel takes: complex64")

    def test_what_was_found(self):
        d = dslc.describe(self.k)
        self.assertEqual([a["name"] for a in d["args"]], ["A", "B", "D"])
        self.assertEqual(self.k.name, "product")
        self.assertIn("product", repr(self.k))
        again = dslc.Kernel(self.k.cubin)
        again(self.a, self.b, out=self.d)
        self.right()

    def test_bits_of_bf16(self):
        """NumPy without ml_dtypes has no bf16: unsigned integers of its width carry the bits."""
        def bits(x):
            return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        d = np.zeros((100, 40), np.uint16)
        dslc.load(SMALL)(bits(self.a), bits(self.b), out=d)
        self.assertTrue(np.array_equal(d, bits((self.a.astype(np.float32) @ self.b.astype(np.float32).T))))

    def test_the_simulator_looks(self):
        k = dslc.load(PRODUCT, sim="seed=5,checks=all")
        k(self.a, self.b, out=self.d)
        self.right()
        for sim, words in ("colour=red", "colour"), ("checks=bogus", '"checks=bogus".* checks= with all'):
            refused(self, lambda: dslc.load(PRODUCT, sim=sim), words, status="SIM_OPTION")


class Torch(unittest.TestCase):
    def test_bf16(self):
        k = dslc.load(ROOT / "examples/gemm/gemm.gemm")
        a, b = torch.randint(-3, 4, (130, 64)).bfloat16(), torch.randint(-3, 4, (72, 64)).bfloat16()
        d = torch.full((130, 72), float("nan")).bfloat16()
        k(a, b, out=d)
        self.assertTrue(torch.equal(d.float(), a.float() @ b.float().T))

    def test_scalars(self):
        k = dslc.load(ROOT / "tests/e2e/blend.gemm", R="none", W=1, bM=64, bN=64)
        d = dslc.describe(k)
        scalars = [a["name"] for a in d["args"] if a["kind"] == "scalar"]
        self.assertEqual(scalars, ["alpha", "beta"])
        tensors = {a["name"]: torch.randint(-3, 4, (64, 64)).to(
            {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[a["elem"]])
            for a in d["args"] if a["kind"] == "tensor" and a["dir"] != "out"}
        out = torch.zeros(64, 64, dtype=torch.bfloat16)
        k(**tensors, alpha=2.0, beta=-1.0, out=out)
        wanted = 2 * tensors["A"].float() @ tensors["B"].float().T - tensors["C"].float()
        self.assertTrue(torch.equal(out, wanted.to(out.dtype)))

    def test_operator(self):
        """Debian's PyTorch has no operators yet; python_speed.py tries them."""
        k = dslc.load(PRODUCT, bN=64)
        if not hasattr(torch.library, "custom_op"):
            refused(self, lambda: dslc.torch.custom_op("mine::product", k), "2.4 or later, this is 1", RuntimeError)
            return
        refused(self, lambda: dslc.torch.custom_op("product", k), "library::name, not 'product'", ValueError)
        a, b = torch.randint(-3, 4, (100, 72)).half(), torch.randint(-3, 4, (40, 72)).half()
        d = dslc.torch.custom_op("mine::product", k)(a, b.clone().requires_grad_())
        self.assertTrue(torch.equal(d, a.float() @ b.float().T))


class Sources(unittest.TestCase):
    def test_messages(self):
        refused(self, lambda: dslc.loads("kernel", name="x.gemm"), "x.gemm:1:1: error.E0105", dslc.CompileError)
        refused(self, lambda: dslc.load(PRODUCT, bM=63), "E0303.*nearest is 64", dslc.CompileError)

    def test_wrong_arguments(self):
        text = PRODUCT.read_text()
        for call, words, error in (
            (lambda: dslc.loads(None), "source text .*NoneType", TypeError),
            (lambda: dslc.loads(5), "source text .*int", TypeError),
            (lambda: dslc.compile(text, emit="sass"), "emit is 'sass', not one of cubin, ptx", ValueError),
            (lambda: dslc.compile(text, ptxas_args="-v"), r"list of arguments: \['-v'\]", TypeError),
            (lambda: dslc.compile(text, opt_level=9), "E0611.*opt_level is 9", dslc.CompileError),
            (lambda: dslc.compile(text, target="sm_80"), "E0304", dslc.CompileError),
            (lambda: dslc.compile(text, ptxas="/nowhere"), "E0501", dslc.CompileError),
            (lambda: dslc.load(PRODUCT, bN=True), "E0203.*note: compiled with bN=on$", dslc.CompileError),
            (lambda: dslc.load(PRODUCT, bN=1.5), "E0203.*note: compiled with bN=1.5$", dslc.CompileError),
            (lambda: dslc.describe(None), "describe takes a kernel .*, not NoneType", TypeError),
            (lambda: dslc.load(PRODUCT, bQ=3), "W0201.*bQ", dslc.CompileError),
            (lambda: dslc.load(PRODUCT, bQ=3), "W0201.*bQ", dslc.CompileError),  # each time
            (lambda: dslc.compile(UNPROVED, name="open.ir", defines={"bN": 8}), "W0601", dslc.CompileError),
            (lambda: dslc.Kernel(b"x"), "ELF", dslc.Error),
        ):
            with self.subTest(words):
                refused(self, call, words, error)

    def test_texts(self):
        text = PRODUCT.read_text()
        self.assertIn(".target sm_90a", dslc.compile(text, emit="ptx"))
        self.assertIn('"kernels"', dslc.compile(text, emit="manifest"))
        self.assertEqual(dslc.compile(text, name="p")[:4], b"\x7fELF")

    def test_unproved(self):
        """What is neither proved nor refuted is an error, or a warning at the line that asked for it."""
        refused(self, lambda: dslc.compile(UNPROVED, name="open.ir", emit="ptx"), "E0415", dslc.CompileError)
        with self.assertWarnsRegex(dslc.CompileWarning, "W0411") as caught:
            ptx = dslc.compile(UNPROVED, name="open.ir", emit="ptx", unproved=True)
        self.assertIn(".target sm_90a", ptx)
        self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dslc.load(PRODUCT, bN=64, unproved=True)  # is proved: no warning

    def test_two_kernels(self):
        text = PRODUCT.read_text()
        both = text + text.replace("kernel product", "kernel other")
        refused(self, lambda: dslc.loads(both), "several kernels")
        refused(self, lambda: dslc.loads(both, kernel="third"), "no kernel third", dslc.CompileError)
        self.assertEqual(dslc.loads(both, kernel="other").name, "other")


if __name__ == "__main__":
    unittest.main()
