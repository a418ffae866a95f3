#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package on a machine with a GPU and PyTorch: what must hold, and the host time of a call.

    python3 -m pip install --no-index --no-deps --target /tmp/site dslc-*.whl
    PYTHONPATH=/tmp/site python3 tests/gpu/python_speed.py --launch-overhead ./launch_overhead gemm.cubin

Every line begins with PASS, FAIL or a figure; the exit code is 0 when nothing failed. Calls are with three torch
tensors of a problem so small that the GPU keeps up (128 x 256 x 64): the median of 31 runs of 1000 calls, each run
after a synchronisation. Bars: 3 us over dsl_launch (which launch_overhead measures) through the C table of the
tensor type (DLPack's exchange API), 10 us over it by __dlpack__; 0.1 us over a call of a plain kernel where the kernel was
compiled for these sizes before. A bar that cannot be measured here has failed.
"""
import argparse
import gc
import os
import pathlib
import re
import statistics
import subprocess
import sys
import threading
import time
import traceback

import torch

import dslc

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE, PRODUCT = ROOT / "examples/gemm/gemm.gemm", ROOT / "examples/with-cmake/product.gemm"
TABLE_BAR, CAPSULE_BAR = 3.0, 10.0  # us over dsl_launch
KNOWN_BAR = 0.1  # us over a plain kernel
THREADS, LAUNCHES = 4, 2500  # of each
BLOCKS, RSS = 1000, 4 << 20  # that may be more afterwards: Python's objects; bytes of host memory
failures = 0


class Capsule:
    """A torch tensor as it was before 2.10: without its C table."""
    __module__ = "torch"

    def __init__(self, t):
        self.t = t

    def __dlpack_device__(self):
        return self.t.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.t.__dlpack__(stream=stream)


def matrices(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def verdict(name, truth, why=""):
    global failures
    failures += not truth
    print(f"{'PASS' if truth else 'FAIL'}  {name}{': ' + why if why else ''}", flush=True)


def holds(name, check, *args):
    """check gives a truth, or a truth and a sentence."""
    try:
        given = check(*args)
        verdict(name, *(given if isinstance(given, tuple) else (bool(given),)))
    except Exception:  # the others are run all the same
        verdict(name, False, traceback.format_exc().strip().replace("\n", "\n      "))


# ---------------------------------------------------------------- host time
def microseconds(call, calls=1000, runs=31):
    times = []
    for _ in range(runs):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times), min(times), max(times)


def figure(name, call):
    median, low, high = microseconds(call)
    print(f"{median:7.2f} us  {name}   ({low:.2f} .. {high:.2f})", flush=True)
    return median


def launch_time(command):
    """Of dsl_launch alone; None where it cannot be measured."""
    if not command:
        return None
    said = subprocess.run(command, capture_output=True, text=True)
    print(said.stdout + said.stderr, end="")
    found = re.search(r"dsl_launch ([0-9.]+) us", said.stdout)
    return float(found[1]) if found else None


def bar(name, us, launch, limit):
    if launch is None:
        verdict(name, False, "dsl_launch was not measured: give --launch-overhead")
    else:
        verdict(name, us - launch <= limit, f"{us - launch:.2f} us over dsl_launch, at most {limit:g}")


def host_time(k, launch_overhead):
    table = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
    launch = launch_time(launch_overhead)
    a, b, d = matrices(128, 64), matrices(256, 64), matrices(128, 256)
    bt, stream = b.T.contiguous(), torch.cuda.current_stream().cuda_stream
    whole = figure("k(a, b, out=d)" + ("" if table else ", by __dlpack__"), lambda: k(a, b, out=d))
    special = dslc.load(SOURCE, specialize=True)
    special(a, b, out=d)
    known = min(figure("specialized, sizes known", lambda: special(a, b, out=d)) for _ in range(3))
    plain = min(figure("plain", lambda: k(a, b, out=d)) for _ in range(3))
    verdict("host time of remembered sizes", known - plain <= KNOWN_BAR, f"{known - plain:.2f} us, at most {KNOWN_BAR}")
    figure("the same, stream= given", lambda: k(a, b, out=d, stream=stream))
    ca, cb, cd = Capsule(a), Capsule(b), Capsule(d)
    capsules = figure("by __dlpack__, through a wrapper in Python", lambda: k(ca, cb, out=cd))
    figure("the wrapper's own part: three __dlpack__", lambda: [t.__dlpack__() for t in (ca, cb, cd)])
    figure("torch.mm(a, bt, out=d)", lambda: torch.mm(a, bt, out=d))
    if table:
        bar("host time by the exchange API", whole, launch, TABLE_BAR)
    else:
        verdict("host time by the exchange API", False, "this torch's tensors have no C table")
    bar("host time by __dlpack__", capsules if table else whole, launch, CAPSULE_BAR)


# ---------------------------------------------------------------- what must hold
def right(k):
    a, b, d = matrices(1000, 520), matrices(264, 520), matrices(1000, 264)
    k(a, b, out=d)
    wanted = a.float() @ b.float().T
    return ((d.float() - wanted).abs() <= wanted.abs() / 128 + 0.1).all().item()


def in_a_stream(k):
    """Work that is before the call in its stream is done before it, and only there."""
    s, a, b = torch.cuda.Stream(), matrices(4096, 4096), matrices(256, 4096)
    d = matrices(4096, 256)
    with torch.cuda.stream(s):
        torch.cuda._sleep(50_000_000)
        a.fill_(1)
        b.fill_(1)
        k(a, b, out=d)
        by_capsule = matrices(4096, 256)
        k(Capsule(a), b, out=by_capsule)
        return bool((d == 4096).all() and (by_capsule == 4096).all())


def in_a_graph(k):
    a, b, d = matrices(512, 256), matrices(512, 256), matrices(512, 512)
    k(a, b, out=d)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        k(a, b, out=d)
    a.fill_(1)
    b.fill_(2)
    graph.replay()
    torch.cuda.synchronize()
    return bool((d == 512).all())


def refused(k):
    """Wrong shapes and devices are the runtime's sentences, and no launch."""
    a, b, d = matrices(128, 64), matrices(256, 72), matrices(128, 256)
    said = []
    for args in ((a, b), (a, matrices(256, 64).cpu())):
        try:
            k(*args, out=d)
        except dslc.Error as e:
            said.append(str(e))
    return len(said) == 2, "; ".join(said)


def tuned():
    """Measured kernels are right, and the next calls take the one that was the fastest."""
    k = dslc.loads(SOURCE.read_text().replace("bN = 256", "bN = pick(64, 128, 256)"))
    a, b, d = matrices(1000, 520), matrices(264, 520), matrices(1000, 264)
    table = k.tune(a, b, out=d)
    text = "\n      ".join(map(str, table))
    return right(k) and 0 < table[0].us and "measured" in k.choice(a, b).why, "\n      " + text


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def four_threads(k):
    wrong = []

    def work(count):
        a, b, d = matrices(128, 64), matrices(256, 64), matrices(128, 256)
        a.fill_(1)
        b.fill_(1)
        for _ in range(count):
            k(a, b, out=d)
        torch.cuda.synchronize()
        if not (d == 64).all():
            wrong.append(1)

    def all_threads(count):
        threads = [threading.Thread(target=work, args=(count,)) for _ in range(THREADS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        gc.collect()
        return sys.getallocatedblocks(), resident(), torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]
    all_threads(500)
    before = all_threads(500)
    after = all_threads(LAUNCHES)
    blocks, host, held, free = (y - x for x, y in zip(before, after))
    return (not wrong and blocks < BLOCKS and host < RSS and held == 0 and free >= 0,
            f"{blocks} more Python objects, {host / 1024:.0f} KiB more host memory, {held} bytes more held by torch, "
            f"{-free} bytes less free on the GPU, {len(wrong)} threads with a wrong result")


def example():
    """The operator with autograd, fake tensors, torch.compile and a CUDA graph, as its reader runs it."""
    said = subprocess.run([sys.executable, ROOT / "examples/python/torch_op.py"], capture_output=True, text=True,
                          timeout=300)
    text = (said.stdout + said.stderr).strip().replace("\n", "\n      ")
    return said.returncode == 0, "\n      " + text


def from_cupy(product):
    import cupy
    a = cupy.random.randint(-3, 4, (500, 264)).astype(cupy.float16)
    b = cupy.random.randint(-3, 4, (520, 264)).astype(cupy.float16)
    d = cupy.full((500, 520), cupy.nan, cupy.float32)
    with cupy.cuda.Stream(non_blocking=True) as s:
        cupy.cuda.Device().synchronize()
        product(a, b, out=d)
        s.synchronize()
    return bool((d == a.astype(cupy.float32) @ b.astype(cupy.float32).T).all())


def from_jax(product):
    """Inputs that JAX made, and a result that JAX reads."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp
    if jax.default_backend() != "gpu":
        return False, f"this JAX works on {jax.default_backend()}"
    a = jax.random.randint(jax.random.key(1), (500, 264), -3, 4).astype(jnp.float16)
    b = jax.random.randint(jax.random.key(2), (520, 264), -3, 4).astype(jnp.float16)
    d = torch.full((500, 520), float("nan"), device="cuda")
    torch.cuda.synchronize()
    product(a, b, out=d)
    torch.cuda.synchronize()
    wanted = jnp.matmul(a.astype(jnp.float32), b.astype(jnp.float32).T, precision="highest")
    return bool((jax.dlpack.from_dlpack(d) == wanted).all())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--launch-overhead", nargs=2, metavar=("PROGRAM", "CUBIN"))
    o = ap.parse_args()
    k, product = dslc.load(SOURCE), dslc.load(PRODUCT)  # bf16; f16 to f32
    print(f"{torch.cuda.get_device_name()}, Python {sys.version.split()[0]}, PyTorch {torch.__version__}, "
          f"dslc {dslc.__version__} in {pathlib.Path(dslc.__file__).parent}")
    holds("result", right, k)
    holds("wrong calls are refused", refused, k)
    holds("streams", in_a_stream, k)
    holds("CUDA graph", in_a_graph, k)
    holds("tune", tuned)
    holds("torch operator: autograd, fake tensors, torch.compile, graph", example)
    holds("CuPy arrays and stream", from_cupy, product)
    holds("JAX arrays", from_jax, product)
    holds(f"{THREADS * LAUNCHES} launches of {THREADS} threads leak nothing", four_threads, k)
    host_time(k, o.launch_overhead)
    print(f"{failures} failed")
    return failures > 0


if __name__ == "__main__":
    raise SystemExit(main())
