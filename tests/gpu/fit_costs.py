#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the constants of runtime/costs.def to measured times, and says how good the picks of a fit are on sizes that it has
not seen. The formula is that of runtime/cost.c, compiled through fit_costs.c. Needs numpy and a C compiler; 20 s.
    tests/gpu/fit_costs.py [POINTS.tsv.gz [DEVICE]]      points: see the head of costs_h200.tsv.gz
Prints each constant, its standard error (of the logarithm) and what each third of the sizes, left out, would make of it."""
import collections, ctypes, gzip, os, subprocess, sys, tempfile
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GUESSED = {"none"}  # no point tells of them
SHARP = .15   # weight of a kernel: exp(-(its time over the best - 1) / SHARP), plus a little
ONCE = .15   # of one that was not timed again: such times are noisier, and too long, since the short ones were timed again
LEVEL = .1    # weight of a size's mean error beside the errors within it
PRIOR = .005  # weight of what costs.def has, which matters where points say little
TAIL = .08    # errors beyond count linearly


class Formula:
    def __init__(self, device):
        so = os.path.join(tempfile.mkdtemp(), "fit_costs.so")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-I" + ROOT, os.path.join(HERE, "fit_costs.c"),
                        "-o", so, "-lm"], check=True)
        self.lib, self.device = ctypes.CDLL(so), device.encode()
        names = (ctypes.c_char_p * 100).in_dll(self.lib, "fit_names")
        self.names = [n.decode() for n in iter(iter(names).__next__, None)]
        self.sigma = np.array((ctypes.c_double * len(self.names)).in_dll(self.lib, "fit_sigma"))
        self.start = np.zeros(len(self.names))
        self.lib.fit_start(self.device, self.pointer(self.start))

    @staticmethod
    def pointer(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    def us(self, value, points):
        out, value, points = np.zeros(len(points)), np.ascontiguousarray(value), np.ascontiguousarray(points)
        self.lib.fit_us(self.device, self.pointer(value), self.pointer(points), len(points), self.pointer(out))
        return out


Size = collections.namedtuple("Size", "run mnk points us final torch third")


def read(path):
    """The sizes of a table of points, each as often as there are runs that have it, all of them in one third."""
    rows, number = collections.defaultdict(list), {}
    for line in gzip.open(path, "rt"):
        if line[0].isdigit():
            run, *x = (float(w) for w in line.split())
            rows[int(run), tuple(x[:3])].append(x)
    for mnk in sorted({mnk for _, mnk in rows}):
        number[mnk] = len(number)
    for (run, mnk), r in rows.items():
        r = np.array(r)
        ours = r[r[:, 5] > 0]
        yield Size(run, mnk, np.delete(ours, (3, 4), 1), ours[:, 3], ours[:, 4] > 0, r[r[:, 5] == 0][0, 3], number[mnk] % 3)


def weights(size, us):
    """us: estimates. A kernel counts by how near the best it is, or would be picked."""
    near = np.minimum(size.us / size.us.min(), us / us.min())
    w = np.exp(-(near - 1) / SHARP) * np.where(size.final, 1, ONCE) + .02 * ONCE
    return w / w.sum()


class Errors:
    """Of the logarithm of the time: within each size, then of the sizes."""
    def __init__(self, formula, sizes, value):
        self.formula, self.n = formula, len(sizes)
        self.points = np.vstack([s.points for s in sizes])
        self.log = np.log(np.concatenate([s.us for s in sizes]))
        self.of = np.repeat(np.arange(self.n), [len(s.us) for s in sizes])
        self.w = np.concatenate([weights(s, formula.us(value, s.points)) for s in sizes])

    def at(self, value):
        e = np.log(self.formula.us(value, self.points)) - self.log
        mean = np.bincount(self.of, self.w * e, self.n)
        return e - mean[self.of], mean

    def __call__(self, value):
        within, mean = self.at(value)
        linear = np.sqrt(np.minimum(1, TAIL / np.maximum(abs(within), 1e-9)))
        return np.concatenate([within * np.sqrt(self.w) * linear, LEVEL * mean])


def fit(formula, sizes, steps=12):
    """Gauss and Newton on the logarithms of the constants; the constants and their standard errors."""
    free = np.array([n not in GUESSED for n in formula.names])
    x0, errors = np.log(formula.start[free]), Errors(formula, sizes, formula.start)
    x, damp = x0.copy(), 1e-3

    def value(x):
        v = formula.start.copy()
        v[free] = np.exp(x)
        return v

    def residuals(x):
        return np.concatenate([errors(value(x)), PRIOR * np.sqrt(len(sizes)) * (x - x0) / formula.sigma[free]])
    f = residuals(x)
    for step in range(steps):
        if step % 4 == 0:
            errors = Errors(formula, sizes, value(x))
            f = residuals(x)
        jacobian = np.array([(residuals(x + d) - residuals(x - d)) / .02 for d in .01 * np.eye(len(x))]).T
        h = jacobian.T @ jacobian
        for _ in range(6):
            dx = np.clip(-np.linalg.solve(h + damp * np.diag(np.diag(h)), jacobian.T @ f), -.3, .3)
            better = residuals(x + dx)
            if better @ better < f @ f:
                break
            damp *= 4
        else:
            break
        x, f, damp = x + dx, better, damp / 3
    error = np.zeros(len(formula.names))
    error[free] = np.sqrt(np.diag(np.linalg.inv(h)) * (f @ f) / len(sizes))
    return value(x), error


def regrets(formula, value, sizes, first, final):
    """The best time of the first few picks over the best time of all, less one."""
    out = []
    for s in sizes:
        take = s.final if final else s.us > 0
        us, order = s.us[take], np.argsort(formula.us(value, s.points[take]), kind="stable")
        out.append(us[order[:first]].min() / us.min() - 1)
    return np.array(out)


def show(what, r):
    print(f"{what:34} median {100 * np.median(r):.1f} %, mean {100 * r.mean():.1f} %, 90 % {100 * np.percentile(r, 90):.1f} %, worst {100 * r.max():.1f} %")


def report(title, judged):
    """judged: pairs of constants and the sizes to judge them by."""
    print(title)
    for what, runs, final in (("run 3, picks of the whole space", (3,), True), ("runs 1 and 2, 128 bytes of promotion", (1, 2), True),
                              ("run 4, few rows", (4,), True), ("run 0, timed twice", (0,), True), ("run 0, all points", (0,), False)):
        some = [(f, v, of) for f, v, sizes in judged for of in [[s for s in sizes if s.run in runs]]]
        rank = [np.sqrt((e.w * e.at(v)[0] ** 2).sum() / e.n) for f, v, of in some for e in [Errors(f, of, v)]]
        print(f"  {what}: error of the order {100 * np.mean(rank):.1f} %")
        for first in (1, 5):
            show(f"    best of first {first}", np.concatenate([regrets(f, v, of, first, final) for f, v, of in some]))
        ratio = np.array([x.torch / x.us[x.final][np.argmin(f.us(v, x.points[x.final]))] for f, v, of in some for x in of])
        print(f"    torch.mm over the pick           {np.exp(np.log(ratio).mean()):.3f}, under .95 {100 * (ratio < .95).mean():.0f} %, worst {ratio.min():.2f}")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "costs_h200.tsv.gz")
    formula, sizes = Formula(sys.argv[2] if len(sys.argv) > 2 else "NVIDIA H200"), list(read(path))
    report("costs.def as it is", [(formula, formula.start, sizes)])
    thirds = [fit(formula, [s for s in sizes if s.third != k])[0] for k in range(3)]
    report("fitted, the third left out", [(formula, v, [s for s in sizes if s.third == k]) for k, v in enumerate(thirds)])
    value, error = fit(formula, sizes)
    for i, name in enumerate(formula.names):
        print(f"{name:8} {formula.start[i]:10.4g} -> {value[i]:10.4g}  +- {error[i]:.2f}   " + " ".join(f"{v[i]:10.4g}" for v in thirds))


if __name__ == "__main__":
    main()
