# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an argument may be: memory that arguments share, and what DLPack's struct does not say of a tensor."""
import sys
import types
import unittest
import unittest.mock

import fake_tensor
import numpy as np
import torch

import dslc
from common import ROOT, SMALL, refused

CPU = 1
SCALE = """kernel scale(x : f32 (M,N):(N,1), y : out f32 (M,N):(N,1))
{
    let tx = x / (16,64), ty = y / (16,64);
    for (m,n) in ty { ty[m,n] <- 2 * tx[m,n]; }
}
"""
SPLIT = """kernel split(x : f32 (M,N):(N,1), q : out f32 (M,N):(2 * N,1), k : out f32 (M,N):(2 * N,1))
{
    let tx = x / (16,64), tq = q / (16,64), tk = k / (16,64);
    for (m,n) in tq { tq[m,n] <- tx[m,n]; tk[m,n] <- 2 * tx[m,n]; }
}
"""
TURN = """kernel turn(x : f32 (N,N):(N,1), y : out f32 (N,N):(N,1))
{
    let tx = x / (16,16), ty = y / (16,16);
    for (m,n) in ty { ty[m,n] <- tx[m,0]; }
}
"""
ADD = SCALE.replace("scale", "add").replace("y : out", "y : inout").replace("2 *", "ty[m,n] +")


def numbers(*shape):
    return np.random.default_rng(3).integers(-9, 9, shape).astype(np.float32)


class Shared(unittest.TestCase):
    """Tensors of the host that overlap do so on the simulator, too."""

    def test_in_place(self):
        k, x = dslc.loads(SCALE), numbers(40, 70)
        wanted = 2 * x
        self.assertTrue(np.array_equal(k(x, out=x), wanted))

    def test_in_place_with_a_product(self):
        k = dslc.load(ROOT / "tests/e2e/blend.gemm", R="none", W=1, bM=64, bN=64)
        a, b, c = (torch.randint(-3, 4, (70, 72)).bfloat16() for _ in range(3))
        a, wanted = a[:72], (2 * a.float() @ b.float().T - c[:, :70].float()).bfloat16()
        c = c[:, :70].contiguous()
        self.assertTrue(torch.equal(k(a, b, c, alpha=2.0, beta=-1.0, out=c), wanted))

    def test_overlap(self):
        memory, k = numbers(100, 64), dslc.loads(SCALE)
        for d in memory[16:96], memory[:80].ravel()[4:-60].reshape(79, 64):
            x = memory[:len(d)]
            before = memory.copy()
            refused(self, lambda: k(x, out=d), "scale writes tensor y, .* tensor x, ", status="OVERLAP")
            self.assertTrue(np.array_equal(memory, before))
        x = numbers(32, 32)
        refused(self, lambda: dslc.loads(TURN)(x, out=x), "turn writes tensor y, .* tensor x, ", status="OVERLAP")
        bits = np.zeros((8, 8), np.uint16)
        refused(self, lambda: dslc.load(SMALL)(bits, bits.copy(), out=bits), "tensor D, .* tensor A, ", status="OVERLAP")

    def test_interleaved_outputs(self):
        k, x, both = dslc.loads(SPLIT), numbers(40, 72), np.full((40, 144), np.nan, np.float32)
        q, kk = both[:, :72], both[:, 72:]
        k(x, out=(q, kk))
        self.assertTrue(np.array_equal(both, np.hstack([x, 2 * x])))
        refused(self, lambda: k(x, out=(q, q)), "split writes tensor q, .* tensor k, ", status="OVERLAP")


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.k = dslc.loads(SCALE)

    def setUp(self):
        self.x, self.y = torch.from_numpy(numbers(16, 64)), torch.zeros(16, 64)

    def test_negative_bit(self):
        z = torch.complex(self.x, self.x).conj().imag
        self.assertTrue(z.is_neg())
        dense = torch.complex(self.x, self.x).imag.contiguous()
        refused(self, lambda: self.k(z, out=self.y), "tensor x of kernel scale .*negative bit.*resolve_neg")
        refused(self, lambda: self.k(dense, out=torch._neg_view(self.y)), "tensor y of kernel scale .*negative bit")
        self.k(z.resolve_neg().contiguous(), out=self.y)
        self.assertTrue(torch.equal(self.y, -2 * self.x))

    def test_requires_grad(self):
        x = self.x.clone().requires_grad_()
        refused(self, lambda: self.k(x, out=self.y), "tensor x .*requires grad.*detach.*custom_op")
        with torch.no_grad():
            refused(self, lambda: self.k(x, out=self.y), "tensor x .*requires grad")
        refused(self, lambda: self.k(self.x, out=self.y.requires_grad_()), "tensor y .*requires grad")
        self.k(x.detach(), out=self.y.detach())
        self.assertTrue(torch.equal(self.y.detach(), 2 * self.x))

    def test_saved_for_backward(self):
        w = self.x.clone().requires_grad_()
        loss = (w * self.y).sum()  # saves y
        self.k(self.x, out=self.y)
        refused(self, loss.backward, "modified by an inplace operation", RuntimeError)
        with torch.inference_mode():
            self.k(self.x, out=torch.zeros(16, 64))

    def test_failed_call_changes_nothing(self):
        refused(self, lambda: self.k(self.x, out=self.y[:8]), "extent 0", status="SHAPE")
        self.assertEqual(self.y._version, 0)

    def test_increment_version(self):
        """PyTorch 2.1 has a function for it."""
        told = []
        torch_graph = types.ModuleType("torch.autograd.graph")
        torch_graph.increment_version = told.append
        with unittest.mock.patch.dict(sys.modules, {"torch.autograd.graph": torch_graph}):
            self.k(self.x, out=self.y)
        self.assertEqual(len(told), 1)
        self.assertIs(told[0], self.y)

    def test_refused_by_the_library(self):
        sparse = self.x.to_sparse()
        refused(self, lambda: self.k(sparse, out=self.y), "^tensor x of kernel scale: ")
        refused(self, lambda: self.k(self.x, out=5), "^tensor y of kernel scale: expected a tensor", TypeError)

    def test_without_memory(self):
        zero = torch._efficientzerotensor((16, 64))
        refused(self, lambda: self.k(zero, out=self.y), "tensor x of kernel scale has elements and no memory")


class Lent(unittest.TestCase):
    """By DLPack's table, of libraries that are not here."""

    @classmethod
    def setUpClass(cls):
        cls.k = dslc.loads(SCALE)

    def setUp(self):
        self.x, self.y = numbers(16, 64), np.zeros((16, 64), np.float32)

    def lent(self, address=None, code=2, bits=32):
        return fake_tensor.Fast(self.x.ctypes.data if address is None else address, (16, 64), code, bits, CPU, 0)

    def test_types(self):
        for code, bits, words in (
            (6, 8, "bool: give a view of it as uint8"), (5, 64, "complex64: give its real"),
            (11, 8, "float8_e4m3fnuz$"), (13, 8, "float8_e5m2fnuz$"), (17, 4, "float4_e2m1fn: give a view"),
            (2, 128, "float128$"), (99, 8, "a type that DLPack 1.3 does not have"),
        ):
            with self.subTest(words):
                refused(self, lambda: self.k(self.lent(code=code, bits=bits), out=self.y),
                        "tensor x of kernel scale has elements that no kernel takes: " + words)
        pairs = fake_tensor.Fast(self.x.ctypes.data, (16, 64), 2, 32, CPU, 0, 2)
        refused(self, lambda: self.k(pairs, out=self.y), "takes: several side by side of float32$")

    def test_without_memory(self):
        refused(self, lambda: self.k(self.x, out=self.lent(0)), "tensor y of kernel scale has elements and no memory")

    def test_jax(self):
        class Array:
            __module__ = "jaxlib._jax"

            def __init__(self, array):
                self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

        refused(self, lambda: self.k(self.x, out=Array(self.y)), "tensor y .*is written, and arrays of JAX are immutable")
        self.assertFalse(self.y.any())
        self.k(Array(self.x), out=self.y)
        self.assertTrue(np.array_equal(self.y, 2 * self.x))

    def test_out_of_what_is_inout(self):
        k = dslc.loads(ADD)
        refused(self, lambda: k(self.x, out=self.y), "kernel add has no tensor for out=: .*by position or name", TypeError)
        refused(self, lambda: self.k(self.x, out=(self.y, self.y)), "takes 1 tensor as out=", TypeError)
        k(self.x, self.y)
        self.assertTrue(np.array_equal(self.y, self.x))


if __name__ == "__main__":
    unittest.main()
