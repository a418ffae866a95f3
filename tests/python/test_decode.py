# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoding of the gallery (one tensor, pages, latent) at random shapes, lengths and parts, against PyTorch in f64.

    python3 tests/python/test_decode.py --cases 200                           # on the simulator
    python3 tests/python/test_decode.py --cases 200 --large --device cuda:0   # each case under all schedules: the same bits

An output of combine.gemm is right if its error is at most 1.25 times that of the same attention with P and O rounded to 16
bits, plus what rounding does to numbers of its size. Sequences without keys are 0 and -inf exactly; NaN is where the
reference has it.
"""
import functools
import pathlib
import random
import sys
import unittest
import warnings

import dslc
import random_cases
import torch

GALLERY = pathlib.Path(__file__).resolve().parents[2] / "examples/gallery"
SCHEDULES = {"decode": ["roles cooperative;", "roles cooperative; persistent dynamic;", "roles none; ctas 2;",
                        "roles pingpong; persistent;", "roles cooperative; overlap off;"],
             "latent": ["roles cooperative;", "roles none;", "roles cooperative; cluster (2,1);", "roles cooperative; persistent;"]}
SCHEDULES["pages"] = SCHEDULES["decode"]
PAGE = 64


@functools.lru_cache(None)
def kernel(name, schedule=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dslc.load(GALLERY / f"{name}.gemm", defines={"schedule": "{ %s }" % schedule} if schedule else None)


class Case:
    """What one case is, drawn from its number."""

    def __init__(self, number, large):
        draw = random.Random(number)
        self.seed, self.kind = number, draw.choice(["decode", "pages", "latent"])
        lengths = [0, 1, 63, 64, 65, 128, 200] + ([1000, 4096, 8191] if large else [])
        if self.kind == "latent":
            self.B, self.G, self.R, self.E = draw.choice([1, 2]), 1, draw.choice([1, 16, 64, 70, 128]), 576
            lengths = lengths[:5] if not large else lengths
        else:
            self.B, self.G, self.R = draw.choice([(1, 1, 4), (3, 2, 1), (2, 1, 7), (2, 3, 8), (1, 2, 70)])
            self.E = draw.choice([128, 64, 8, 40, 120])
        self.lens = [draw.choice(lengths) for _ in range(self.B)]
        self.S = draw.choice([1, 2, 3, 5] + ([16] if large else []))
        self.heads, self.nan = draw.random() < 0.5, draw.random() < 0.2
        self.schedule = draw.choice(SCHEDULES[self.kind])

    def __str__(self):
        return ", ".join(f"{n}={v}" for n, v in vars(self).items())


def cache(case, length, device):
    """(B,G,length,E), heads beside each other or rows of all heads."""
    shape = (case.B, case.G, length, case.E) if case.heads else (case.B, length, case.G, case.E)
    x = torch.randn(shape).to(device, torch.bfloat16)
    x = x if case.heads else x.transpose(1, 2)
    if case.nan:
        x[-1, -1, max(case.lens[-1] - 1, 0), 0] = float("nan")
    return x


def in_pages(case, x):
    """The pages of a cache in a random order, some beyond the last in use, and the table."""
    pages = x.unflatten(2, (-1, PAGE)).transpose(1, 2).flatten(0, 1)
    order = torch.randperm(pages.shape[0] + 3)[:pages.shape[0]].to(x.device)
    stored = torch.full((pages.shape[0] + 3, *pages.shape[1:]), float("nan"), device=x.device, dtype=x.dtype)
    stored[order] = pages
    return stored, order.int().view(case.B, -1)


def launch(case, schedule, q, k, v, lens):
    device, width = q.device, v.shape[-1]
    part = torch.full((case.S, case.B, case.G, case.R, width), float("nan"), device=device)
    weight = torch.full(part.shape[:-1], float("nan"), device=device)
    o = torch.full((case.B * case.G * case.R, width), float("nan"), device=device, dtype=torch.bfloat16)
    lse = torch.full(o.shape[:1], float("nan"), device=device)
    call = kernel(f"attention_{case.kind}", schedule)
    if case.kind == "decode":
        call(q, k, v.transpose(2, 3), lens, scale=case.E ** -0.5, out=(part, weight))
    elif case.kind == "pages":
        both, table = in_pages(case, torch.cat([k, v], 1))
        keys, values = both[:, :case.G], both[:, case.G:]
        call(q, keys, values.transpose(2, 3), lens, table, scale=case.E ** -0.5, out=(part, weight))
    else:
        rows, table = in_pages(case, k)
        call(q[:, 0], rows[:, 0].contiguous(), lens, table, scale=case.E ** -0.5, out=(part[:, :, 0], weight[:, :, 0]))
    kernel("combine")(part.flatten(1, 3), weight.flatten(1), out=(o, lse))
    return o, lse


def reference(case, q, k, v, rounds):
    o = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=torch.float64, device=q.device)
    lse = torch.full(q.shape[:-1], -float("inf"), dtype=torch.float64, device=q.device)
    for b, n in enumerate(case.lens):
        if n:
            s = q[b].double() @ k[b, :, :n].double().transpose(1, 2) * case.E ** -0.5
            lse[b] = s.logsumexp(-1)
            o[b] = rounds(torch.exp(s - s.amax(-1, keepdim=True))) @ v[b, :, :n].double()
            o[b] /= torch.exp(lse[b] - s.amax(-1))[..., None]
    return o.flatten(0, 2), lse.flatten()


def wrong(o, lse, wanted, wanted_lse, rounded):
    nan = wanted.isnan()
    if not torch.equal(o.isnan(), nan):
        return f"{(o.isnan() != nan).sum().item()} elements are NaN or should be"
    empty = wanted_lse == -float("inf")
    if o[empty].any() or not torch.equal(lse == -float("inf"), empty):
        return "rows without a key are not 0 and -inf"
    finite = wanted_lse.isfinite()
    if ((lse - wanted_lse).abs() > 2e-5 + 1e-6 * wanted_lse.abs())[finite].any():
        return f"lse differs by {(lse - wanted_lse).abs()[finite].max().item():.3g}"
    if nan.all():
        return None
    error, other, size = ((x - wanted)[~nan].abs().max() for x in (o.double(), rounded.bfloat16().double(), torch.zeros_like(wanted)))
    if not error <= 1.25 * other + 2.0 ** -8 * size:
        return f"largest error {error:.3g}, {other:.3g} with P in 16 bits"
    return None


def run(case, device, schedules):
    """What is wrong with a case under each of the schedules, or None."""
    torch.manual_seed(case.seed)
    length = max(-(-max(case.lens) // PAGE), 1) * PAGE
    q = torch.randn(case.B, case.G, case.R, case.E).to(device, torch.bfloat16)
    k = cache(case, length, device)
    v = k[..., :512] if case.kind == "latent" else cache(case, length, device)
    lens = torch.tensor(case.lens, dtype=torch.int32, device=device)
    wanted, rounded = (reference(case, q, k, v, rounds) for rounds in (lambda p: p, lambda p: p.bfloat16().double()))
    first = None
    for schedule in schedules:
        o, lse = launch(case, schedule, q, k, v, lens)
        bits = o.view(torch.int16), lse.view(torch.int32)
        first = first or bits
        said = wrong(o, lse, *wanted, rounded[0])
        if said or not all(map(torch.equal, bits, first)):
            return f"{schedule} {said or 'other bits'}"
    return None


class Decode(unittest.TestCase):
    def test_random(self):
        random_cases.check(self, Case, run)


if __name__ == "__main__":
    sys.exit(random_cases.main(__doc__, Case, run, lambda case: SCHEDULES[case.kind]))
