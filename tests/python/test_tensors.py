# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an argument may be: memory that arguments share."""
import unittest

import numpy as np
import torch

import dslc
from common import ROOT, SMALL, refused

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


if __name__ == "__main__":
    unittest.main()
