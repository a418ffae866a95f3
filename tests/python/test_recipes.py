# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recipes of docs/book, at the values that their guards are for."""
import unittest

import numpy as np

import dslc
from common import ROOT

PAGE = "".join(page.read_text() for page in sorted((ROOT / "docs/book").glob("*.md")))
KERNEL = """kernel k(A : f16 (M,K):(K,1), B : f16 (N,K):(K,1), %s)
    where N <= 64
{
    let gA = A / (64,64), gB = B / (64,64), gD = D / (64,64)%s;
    mma mm = wgmma<64,64,16>(f16, f16, f32);
    smem sA : f16 (64,64), sB : f16 (64,64);
    pipeline ab(2) { sA, sB }
    for (m,n) in gD {
        acc : f32 mm.C(64,64) = 0;
        for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }
        %s;
    }
}
"""


class Recipes(unittest.TestCase):
    def setUp(self):
        self.a, self.b = np.ones((70, 32), np.float16), np.ones((40, 32), np.float16)

    def shown(self, *recipes):
        for recipe in recipes:
            self.assertIn(f"`{recipe}`", PAGE)
        return "; ".join(recipes)

    def test_a_row_of_zeros_is_quantised(self):
        text = self.shown("gD[m,n] <- e4m3(acc * (448 / max(rowmax(abs(acc)), 1e-30)))", "scale[m] <- max(rowmax(abs(acc)), 1e-30) / 448")
        k = dslc.loads(KERNEL % ("scale : out f32 (M), D : out e4m3 (M,N):(N,1)", "", text))
        self.a[3] = 0
        scale, d = np.full(70, np.nan, np.float32), np.full((70, 40), 0x7F, np.uint8)
        k(self.a, self.b, out=(scale, d))
        wanted = np.full((70, 40), 0x7E, np.uint8)  # 448
        wanted[3] = 0
        self.assertTrue(np.array_equal(d, wanted))
        self.assertTrue(np.isfinite(448 / scale).all())

    def test_beta_of_0_ignores_c(self):
        text = "gD[m,n] <- f16(alpha * acc + " + self.shown("select(beta == 0, 0, beta * gC[m,n])") + ")"
        k = dslc.loads(KERNEL % ("C : f16 (M,N):(N,1), D : out f16 (M,N):(N,1), alpha : f32, beta : f32", ", gC = C / (64,64)", text))
        c, d = np.full((70, 40), np.nan, np.float16), np.full((70, 40), np.nan, np.float16)
        k(self.a, self.b, c, alpha=2.0, beta=0.0, out=d)
        self.assertTrue((d == 64).all())
        d[:] = np.inf
        k(self.a, self.b, d, alpha=2.0, beta=0.0, out=d)  # D is passed as C
        self.assertTrue((d == 64).all())
        k(self.a, self.b, d, alpha=1.0, beta=0.5, out=d)
        self.assertTrue((d == 64).all())
        c[:] = np.nan
        k(self.a, self.b, c, alpha=2.0, beta=0.5, out=d)
        self.assertTrue(np.isnan(d).all())


if __name__ == "__main__":
    unittest.main()
