# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of the gallery at random shapes, masks, scores and strides, against PyTorch in f64.

    python3 tests/python/test_attention.py --cases 200 --seed 1                   # on the simulator
    python3 tests/python/test_attention.py --cases 200 --large --device cuda:0    # each case under all schedules: the same bits

An output is right if its error is at most 1.25 times that of the same attention with P, O and tanh rounded to 16 bits, plus what
rounding does to numbers of its size; the mean error at most 1.1 times. lse is right within 2e-5 + 1e-6 |lse|, with a soft cap
within 2^-11 of the cap. Rows that see no key are 0 and -inf exactly, and NaN is where the reference has NaN.
"""
import functools
import pathlib
import random
import re
import sys
import unittest
import warnings

import dslc
import random_cases
import torch

GALLERY = pathlib.Path(__file__).resolve().parents[2] / "examples/gallery"
WIDE = 1 << 29
HEADS = {(64, 64): (192, 128), (96, 96): (128, 128), (128, 128): (128, 128), (192, 128): (128, 128), (256, 256): (128, 64)}
SCORES = {(64, 64): (128, 128), (96, 96): (128, 96), (128, 128): (128, 96), (192, 128): (128, 96), (256, 256): (128, 48)}
MASKS = [dict(right=WIDE), dict(right=0), dict(left=127, right=0), dict(left=64, right=64), dict(left=33, right=-5),
         dict(left=-3, right=WIDE)]
SCHEDULES = ["roles cooperative;", "roles cooperative; persistent dynamic;", "roles cooperative; persistent;", "roles none;",
             "roles cooperative; overlap off;"]
NUMBERS = ["normal", "outliers", "grow", "fall", "nan", "inf"]


@functools.lru_cache(None)
def kernel(name, schedule, **consts):
    """None where it takes more registers, or more shared memory, than there are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return dslc.load(GALLERY / f"attention_{name}.gemm", defines={"schedule": "{ %s }" % schedule, **consts})
        except dslc.CompileError as refused:
            if not re.search(r"error\[E0(401|402|504)\]", str(refused)):
                raise
            return None


class Case:
    """What one case is, drawn from its number."""

    def __init__(self, number, large):
        draw = random.Random(number)
        pick = draw.choice
        self.seed, self.large = number, large
        self.bounds, self.mask = pick(list(HEADS)), pick(MASKS)
        self.E, self.F = self.bounds if draw.random() < 0.6 else (draw.randint(1, b) for b in self.bounds)
        lengths = [1, 2, 127, 128, 129] + ([1000, 1024, 2049, 4096] if large else [17, 65, 200])
        self.B, self.G, self.R = pick([(1, 1, 1), (2, 3, 1), (1, 2, 4), (3, 1, 1), (1, 5, 1)] + ([(4, 8, 2), (1, 5, 7)] if large else []))
        self.M, self.L = pick(lengths + [0]), pick(lengths + [0])
        while not large and self.B * self.G * self.R * self.M * self.L * sum(self.bounds) > 1 << 24:
            self.M, self.L = pick(lengths), pick(lengths)
        self.scores = {n: draw.randint(0, 1) for n in ("softcap", "alibi", "additive")} if draw.random() < 0.5 else {}
        self.sinks = bool(self.scores) and draw.random() < 0.5
        self.scale = pick([self.E ** -0.5, 0.0, -0.1]) if self.scores else self.E ** -0.5
        self.layout, self.numbers, self.schedule = pick(["packed", "heads", "padded", "odd"]), pick(NUMBERS), pick(SCHEDULES)

    def __str__(self):
        return ", ".join(f"{n}={v}" for n, v in vars(self).items())


def strided(case, length, heads, columns, device):
    """Zeros (B,*heads,length,columns) in the layout of the case: heads beside columns, rows with padding, odd rows."""
    pitch = columns + {"packed": 0, "heads": 0, "padded": 8, "odd": 3}[case.layout]
    if case.layout == "heads":
        x = torch.zeros(case.B, length, *heads, pitch, device=device, dtype=torch.bfloat16)
        return x.movedim(1, -2)
    return torch.zeros(case.B, *heads, length, pitch, device=device, dtype=torch.bfloat16)[..., :columns]


def inputs(case, device):
    torch.manual_seed(case.seed)

    def numbers(length, heads, columns):
        x = strided(case, length, heads, columns, device)
        y = torch.randn(x.shape)
        if case.numbers == "outliers":
            y += 10 * torch.randn(x.shape) * (torch.rand(x.shape) < 0.001)
        return x.copy_(y)

    q, k, v = numbers(case.M, (case.G, case.R), case.E), numbers(case.L, (case.G,), case.E), numbers(case.L, (case.G,), case.F)
    if case.numbers in ("grow", "fall") and case.L:
        q.abs_()
        k.abs_().mul_((torch.arange(1, case.L + 1, device=device) / case.L)[:, None]).mul_(1 if case.numbers == "grow" else -1)
    if case.numbers in ("nan", "inf") and k.numel():
        k[-1, -1, case.L // 2, 0] = float(case.numbers)
    return q, k, v


def extras(case, device):
    """A bias with a stride of 0, slopes and sinks."""
    bias = torch.randn(case.B, 1, 1, case.M, case.L)
    bias = bias.masked_fill(bias > 2.5, -float("inf")).to(device, torch.bfloat16).expand(-1, case.G, case.R, -1, -1)
    slopes = torch.rand(case.G, case.R).to(device)
    sinks = torch.randn(case.G, case.R).to(device) if case.sinks else torch.full((case.G, case.R), -float("inf"), device=device)
    return bias, slopes, sinks


def scores_of(case, q, k, bias, slopes, rounds):
    """Scores in f64, -inf where a query does not see a key; rounds: tanh to 16 bits, since the kernel's has about 11."""
    s = torch.einsum("bgrme,bgle->bgrml", q.double(), k.double()) * case.scale
    far = torch.arange(case.L, device=q.device) - (torch.arange(case.M, device=q.device)[:, None] + case.L - case.M)
    if case.scores.get("softcap"):
        s = 5 * rounds(torch.tanh(s / 5))
    if case.scores.get("alibi"):
        s = s + slopes.double()[..., None, None] * far
    if case.scores.get("additive"):
        s = s + bias.double()
    seen = (far >= -case.mask.get("left", WIDE)) & (far <= case.mask["right"])
    return torch.where(seen, s, -float("inf"))


def reference(s, v, sinks, rounds):
    """O and lse in f64; rounds: P to bf16 before it is multiplied."""
    s = torch.cat([s, sinks.double()[None, :, :, None, None].expand(*s.shape[:-1], 1)], -1)
    top = s.amax(-1, keepdim=True)
    p = torch.exp(s - torch.where(top == -float("inf"), torch.zeros_like(top), top))
    total = p.sum(-1, keepdim=True)
    lse = torch.log(total) + top
    p = rounds(p[..., :-1])
    o = torch.einsum("bgrml,bglf->bgrmf", p, v.double()) / torch.where(total == 0, torch.ones_like(total), total)
    return o, lse[..., 0]


def wrong(case, o, lse, wanted, wanted_lse, rounded):
    """What is wrong, or None."""
    nan = wanted.isnan()
    if not torch.equal(o.isnan(), nan):
        return f"{(o.isnan() != nan).sum().item()} elements are NaN or should be"
    empty = wanted_lse == -float("inf")
    if o[empty].any() or not torch.equal(lse == -float("inf"), empty):
        return "rows without a key are not 0 and -inf"
    finite = wanted_lse.isfinite()
    near = 5 * 2.0 ** -11 if case.scores.get("softcap") else 2e-5
    if ((lse - wanted_lse).abs() > near + 1e-6 * wanted_lse.abs())[finite].any():
        return f"lse differs by {(lse - wanted_lse).abs()[finite].max().item():.3g}"
    if nan.all():
        return None
    error, other, size = ((x - wanted)[~nan].abs() for x in (o.double(), rounded.bfloat16().double(), wanted))
    b = wanted[~nan].bfloat16()
    ulp = ((b + 0.3 - 0.3).double() - b.double()).abs().max() + 2.0 ** -8 * size.max()
    if not error.max() <= 1.25 * other.max() + ulp:
        return f"largest error {error.max():.3g}, {other.max():.3g} with P in 16 bits"
    if error.numel() > 4096 and not error.mean() <= 1.1 * other.mean() + 1e-6:
        return f"mean error {error.mean():.3g}, {other.mean():.3g} with P in 16 bits"
    return None


def launch(case, schedule, q, k, v, more, device):
    """None: such a kernel does not compile."""
    o = torch.full((case.B, case.G, case.R, case.M, case.F), float("nan"), device=device, dtype=torch.bfloat16)
    lse = torch.full(o.shape[:-1], float("nan"), device=device)
    tiles = (SCORES if case.scores else HEADS)[case.bounds]
    consts = dict(zip(("bE", "bF", "bM", "bL"), case.bounds + tiles), **case.mask)
    if case.scores:
        call, more = kernel("scores", schedule, **consts, **case.scores), dict(zip(("bias", "slopes", "sinks"), more), cap=5.0)
    else:
        call, more = kernel("causal", schedule, **consts), {}
    return call and call(q, k, v.transpose(2, 3), **more, scale=case.scale, out=(o, lse))


def run(case, device, schedules):
    """What is wrong with a case under each of the schedules, or None."""
    q, k, v = inputs(case, device)
    more = extras(case, device)
    if not case.L:  # such a launch is refused
        try:
            launch(case, schedules[0], q, k, v, more, device)
        except dslc.Error as refused:
            return None if "needs L >= 1" in str(refused) else str(refused)
        return "no key, and not refused"
    wanted, rounded = (reference(scores_of(case, q, k, *more[:2], rounds), v, more[2], rounds)
                       for rounds in (lambda x: x, lambda x: x.bfloat16().double()))
    first = None
    for schedule in schedules:
        made = launch(case, schedule, q, k, v, more, device)
        if not made:
            continue
        o, lse = made
        said = wrong(case, o, lse, *wanted, rounded[0]) if o.numel() else None
        bits = o.view(torch.int16), lse.view(torch.int32)
        first = first or bits
        if said or not all(map(torch.equal, bits, first)):
            return f"{schedule} {said or 'other bits'}"
    return None if first else "no schedule compiles"


class Attention(unittest.TestCase):
    def test_random(self):
        random_cases.check(self, Case, run)


if __name__ == "__main__":
    sys.exit(random_cases.main(__doc__, Case, run, lambda case: SCHEDULES))
