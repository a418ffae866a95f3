# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dslc.attention against PyTorch in f64: outputs, lse and gradients; its refusals; with PyTorch 2.4 as an operator, too.

Run with PyTorch 2.4 or later:  PYTHONPATH=build/release/python:tests/python DSLC_ROOT=. python3 -m unittest test_operators
"""
import os
import unittest
import warnings
from unittest import mock

import torch
from common import refused

from dslc import attention as module

WIDE = 1 << 29
BUILT = hasattr(torch.library, "custom_op")
CASES = [(1, 4, 2, 70, 90, 64, WIDE, 0), (2, 2, 2, 130, 60, 64, WIDE, 0), (1, 2, 1, 100, 100, 40, 20, 0), (1, 2, 1, 40, 140, 128, 10, 30),
         (1, 2, 1, 65, 33, 64, WIDE, WIDE), (1, 2, 1, 3, 0, 8, WIDE, WIDE), (1, 2, 1, 0, 3, 8, WIDE, WIDE), (1, 2, 1, 1, 1, 8, WIDE, 0),
         (2, 2, 2, 97, 65, 72, WIDE, WIDE), (1, 1, 1, 5, 7, 3, WIDE, 0)]


def normal(*shape):
    return torch.randn(shape).bfloat16()


def reference(q, k, v, left, right, scale):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    M, L = q.shape[2], k.shape[2]
    far = torch.arange(L) - (torch.arange(M)[:, None] + L - M)
    s = torch.where((far >= -left) & (far <= right), q @ k.transpose(2, 3) * scale, torch.tensor(-float("inf"), dtype=q.dtype))
    lse = torch.logsumexp(s, -1)
    some = torch.where(lse == -float("inf"), torch.zeros_like(lse), lse)
    return torch.exp(s - some[..., None]) @ v, lse, some


class Operators(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        for patch in (mock.patch.dict(os.environ, DSLC_PTXAS="none"), warnings.catch_warnings()):
            patch.__enter__()
            self.addCleanup(patch.__exit__, None, None, None)
        warnings.simplefilter("ignore")

    def near(self, got, wanted):
        self.assertFalse(got.isnan().any())
        self.assertLess((got - wanted).norm(), 0.005 * wanted.norm() + 1e-6)

    def test_gradients(self):
        for B, H, G, M, L, E, left, right in CASES:
            with self.subTest((B, H, G, M, L, E, left, right)):
                q, k, v, do, dl = normal(B, H, M, E), normal(B, G, L, E), normal(B, G, L, E), normal(B, H, M, E), torch.randn(B, H, M)
                doubles = [x.double().requires_grad_() for x in (q, k, v)]
                want, want_lse, some = reference(*doubles, left, right, E ** -0.5)
                grads = torch.autograd.grad((want * do.double()).sum() + (some * dl).sum(), doubles)
                o, lse = module._forward(q, k, v, None, None, None, E ** -0.5, left, right, 0.0)
                self.near(o, want)
                self.assertTrue(torch.allclose(lse.double(), want_lse, atol=2e-5, rtol=1e-6))
                for exact in (False, True):
                    torch.use_deterministic_algorithms(exact)
                    self.addCleanup(torch.use_deterministic_algorithms, False)
                    made = module._backward(do, dl, q, k, v, o, lse, E ** -0.5, left, right)
                    for got, wanted in zip(made, grads):
                        self.near(got, wanted)

    def test_decode(self):
        for B, H, G, L, E, lens, parts in ((2, 4, 2, 192, 64, (192, 65), 0), (3, 3, 3, 128, 40, (0, 1, 128), 3),
                                           (1, 8, 1, 1088, 128, (1050,), 0), (1, 2, 1, 64, 12, (30,), 2), (2, 2, 1, 0, 8, (0, 0), 0)):
            q, k, v, lens = normal(B, H, E), normal(B, G, L, E), normal(B, G, L, E), torch.tensor(lens, dtype=torch.int32)
            table = torch.randperm(B * L // 64).int().view(B, -1) if L else torch.zeros(B, 0, dtype=torch.int32)
            paged = [torch.empty(B * L // 64, G, 64, E, dtype=torch.bfloat16) for _ in range(2)]
            for pages, x in zip(paged, (k, v) if L else ()):
                pages[table.flatten().long()] = x.unflatten(2, (-1, 64)).transpose(1, 2).flatten(0, 1)
            for made in (module._decode(q, k, v, lens, None, 0.2, parts), module._decode(q, *paged, lens, table, 0.2, parts)):
                for b, n in enumerate(lens.tolist()):
                    with self.subTest((B, H, G, L, E, b, n, parts)):
                        one = [x[b:b + 1].double() for x in (q[:, :, None], k[:, :, :n], v[:, :, :n])]
                        o, lse, _ = reference(*one, WIDE, WIDE, 0.2)
                        self.near(made[0][b:b + 1], o[:, :, 0])
                        self.assertTrue(torch.allclose(made[1][b].double(), lse[0, :, 0], atol=2e-5, rtol=1e-6))

    def test_refusals(self):
        q, k = normal(1, 4, 7, 64), normal(1, 2, 9, 64)
        for words, args in (("q must have type torch.bfloat16; it has type torch.float32", (q.float(), k, k)),
                            (r"q must have rank 4, \(batch, heads, length, width\); it has rank 3", (q[0], k, k)),
                            (r"k has shape \(1, 1, 9, 64\), and \(1, 2, 9, 64\) goes with q and v", (q, k[:, :1], k)),
                            ("3 heads of queries cannot share 2 heads of keys", (q[:, :3], k, k)),
                            ("keys have 300 columns and values 300", (normal(1, 1, 1, 300),) * 3),
                            (r"bias has shape \(1, 1, 2, 9\), which does not expand to \(1, 4, 7, 9\)", (q, k, k, normal(1, 1, 2, 9))),
                            (r"sinks must have shape \(4,\) and type torch.float32; .* \(2,\)", (q, k, k, None, None, torch.zeros(2)))):
            refused(self, lambda: module._check(*args, *(None,) * (6 - len(args))), words, ValueError)

        q, k, lens = normal(2, 4, 64), normal(2, 2, 9, 64), torch.zeros(2, dtype=torch.int32)
        for words, args in (("lens must have rank 1 and type torch.int32; it has rank 1 and type torch.int64", (q, k, k, lens.long(), None)),
                            ("3 heads of queries cannot share 2 heads of keys", (q[:, :3], k, k, lens, None)),
                            ("lens or the cache is not of 2 sequences", (q, k[:1], k[:1], lens, None)),
                            (r"\(2, 2, 9, 64\) and \(2, 2, 9, 32\); widths are the same, at most 128", (q, k, k[..., :32], lens, None)),
                            ("pages have 9 keys; kernels have pages of 64", (q, k, k, lens, lens[:, None]))):
            refused(self, lambda: module._check_decode(*args), words, ValueError)

    @unittest.skipIf(BUILT, "PyTorch has operators")
    def test_old(self):
        refused(self, lambda: module.decode(q := normal(1, 1, 8), q[None], q[None], torch.zeros(1, dtype=torch.int32)),
                "operators need PyTorch 2.4 or later, this is", RuntimeError)
        refused(self, lambda: module.attention(*(normal(1, 1, 8, 8),) * 3), "operators need PyTorch 2.4 or later, this is", RuntimeError)

    @unittest.skipUnless(BUILT, "operators need PyTorch 2.4")
    def test_operator(self):
        q, k, v = (normal(1, n, m, 64).requires_grad_() for n, m in ((4, 70), (2, 90), (2, 90)))
        none = (None, None, None)
        torch.library.opcheck(torch.ops.dslc.attention.default, (q, k, v, *none, 0.125, WIDE, 0, 0.0))
        plain = [x.detach() for x in (q, k, v)]
        more = normal(1, 1, 70, 90), torch.rand(4), torch.rand(4)
        torch.library.opcheck(torch.ops.dslc.attention.default, (*plain, *more, 0.125, WIDE, 0, 3.0))
        made = module.attention(*plain, causal=True, with_lse=True)
        torch.library.opcheck(torch.ops.dslc.attention_backward.default, (made[0], made[1], *plain, *made, 0.125, WIDE, 0))
        layer = torch.compile(lambda q, k, v: module.attention(q * 2, k, v, causal=True).relu(), fullgraph=True, backend="aot_eager")
        grads = [torch.autograd.grad(f(q, k, v).sum(), (q, k, v)) for f in (layer, layer.__wrapped__)]
        self.assertTrue(all(map(torch.equal, *grads)))
        refused(self, lambda: module.attention(q, k, v, softcap=3.0), "gradients with softcap, slopes, bias or sinks", ValueError)
        wide = normal(1, 1, 8, 192).requires_grad_()
        refused(self, lambda: module.attention(wide, wide, wide[..., :128]), "keys have 192 columns and values 128; gradients need", ValueError)
