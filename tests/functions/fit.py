#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fit.py - the coefficients of codegen/emit_math.c: for each polynomial those of least relative error,
found by least squares at Chebyshev nodes whose weights grow where the error is large (Lawson, 1961)."""
import math

import numpy as np
from numpy.polynomial import Polynomial, chebyshev


def fit(f, a, b, degree, weight):
    nodes = 4000
    x = np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes) * (b - a) / 2 + (a + b) / 2
    y, w = np.array([f(v) for v in x]), np.array([weight(v) for v in x])
    basis = chebyshev.chebvander((2 * x - (a + b)) / (b - a), degree)
    grown = np.ones(nodes)
    for _ in range(80):
        c = np.linalg.lstsq(basis * (w * grown)[:, None], y * w * grown, rcond=None)[0]
        error = np.abs(basis @ c - y) * w
        grown *= np.sqrt(0.2 + error / error.max())
        grown /= grown.mean()
    return chebyshev.Chebyshev(c, domain=[a, b]).convert(kind=Polynomial).coef, error.max()


def log_rest(f):
    if abs(f) < 1e-2:
        return 1 / 3 - f / 4 + f**2 / 5 - f**3 / 6 + f**4 / 7 - f**5 / 8 + f**6 / 9
    return (math.log1p(f) - f + f * f / 2) / f**3


def tanh_rest(s):
    x = math.sqrt(s)
    if s < 1e-3:
        return -1 / 3 + 2 * s / 15 - 17 * s**2 / 315 + 62 * s**3 / 2835
    return (math.tanh(x) - x) / x**3


def atanh_rest(a):
    s = math.sqrt(a)
    if a < 1e-2:
        return sum(a**i / (5 + 2 * i) for i in range(8))
    return (math.atanh(s) - s - s * a / 3) / (s * a * a)


def log1p_part(e):
    return 1 - e / 2 + e * e / 3 - e**3 / 4 if e < 1e-4 else math.log1p(e) / e


def erf_part(s):
    return 2 / math.sqrt(math.pi) if s < 1e-8 else math.erf(math.sqrt(s)) / math.sqrt(s)


def mills(t):
    if t < 12:
        return 0.5 * math.erfc(t / math.sqrt(2)) * math.exp(t * t / 2)
    q = 1 / (t * t)
    return (1 - q * (1 - q * (3 - q * (15 - q * (105 - q * 945))))) / (t * math.sqrt(2 * math.pi))


def tail_part(u):
    return mills((1 / u - 1) / 0.3) / u


for name, f, a, b, degree, weight in (
    ("log_poly", log_rest, -1 / 3, 1 / 3, 8, lambda f: f * f + 1e-9),
    ("tanh_poly", tanh_rest, 0, 0.36, 4, lambda s: s + 1e-9),
    ("atanh_poly", atanh_rest, 0, 0.04, 3, lambda a: a * a + 1e-9),
    ("log1p_poly", log1p_part, 0, 1, 9, lambda e: 1 / log1p_part(e)),
    ("erf_poly", erf_part, 0, 0.81, 6, lambda s: 1 / erf_part(s)),
    ("tail_poly", tail_part, 1 / (1 + 0.3 * 14.5), 1, 9, lambda u: 1 / tail_part(u)),
):
    c, error = fit(f, a, b, degree, weight)
    print(f"{name}, error 2^{math.log2(error):.1f}:", ", ".join(float(np.float32(v)).hex() for v in c))
