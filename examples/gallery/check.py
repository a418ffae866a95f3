# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays for the programs of this folder: PyTorch's on its GPU, else NumPy's, which run on the simulator.

    a = normal((200, 72), "bf16")    # torch.bfloat16, or numpy.uint16 that holds the bits
    d = empty((200, 136), "bf16")    # every bit is 1, a NaN: an element that is not written is found
    f32(a)                           # the numbers of a, as a NumPy array of float32, wherever a is

Types have the names that they have in a kernel. Two elements of s4, u4 or e2m1 share a byte of the last mode.
"""
import numpy as np

try:
    import torch
    GPU = torch.cuda.is_available()
except ImportError:
    GPU = False

_random = np.random.default_rng(1)
_plain = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16, "s32": np.int32,
          "u32": np.uint32, "s16": np.int16, "u16": np.uint16, "s8": np.int8, "u8": np.uint8}


def _floats(exponent, fraction, bias, largest):
    """The number of each bit pattern of a float of so many bits; NaN for what is above the largest."""
    code = np.arange(1 << (1 + exponent + fraction))
    e, f = code >> fraction & (1 << exponent) - 1, code & (1 << fraction) - 1
    size = np.where(e == 0, f * 2.0 ** (1 - bias - fraction), (f + (1 << fraction)) * 2.0 ** (e - bias - fraction))
    size[size > largest] = np.nan
    return np.where(code >> (exponent + fraction), -size, size).astype(np.float32)


_small = {"e4m3": _floats(4, 3, 7, 448), "e5m2": _floats(5, 2, 15, 57344), "e2m1": _floats(2, 1, 1, 6),
          "s4": np.float32([*range(8), *range(-8, 0)]), "u4": np.float32(range(16))}


def _place(bits, type):
    if not GPU:
        return bits
    tensor = torch.from_numpy(bits.view(np.int16) if bits.dtype == np.uint16 else bits).cuda()
    return tensor.view(torch.bfloat16) if type == "bf16" else tensor


def array(numbers, type):
    """These numbers, rounded to the nearest of the type."""
    numbers = np.asarray(numbers)
    if type == "bf16":
        bits = numbers.astype(np.float32).view(np.uint32)
        bits = (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)
    elif type in _small:
        bits = np.nanargmin(abs(_small[type] - numbers[..., None]), -1).astype(np.uint8)
        if len(_small[type]) == 16:
            bits = bits[..., ::2] | bits[..., 1::2] << 4
    else:
        bits = numbers.astype(_plain[type])
    return _place(np.ascontiguousarray(bits), type)


def normal(shape, type="bf16", scale=1.0):
    """Normal numbers, times a scale."""
    return array(scale * _random.standard_normal(shape), type)


def integers(shape, low, high, type="s32"):
    """Random integers from low to high, both included."""
    return array(_random.integers(low, high + 1, shape), type)


def zeros(shape, type):
    """For what a kernel adds to."""
    return array(np.zeros(shape), type)


def empty(shape, type):
    """For what a kernel writes: each bit is 1."""
    bits = np.zeros(shape, _plain.get(type, np.uint8))
    bits.view(np.uint8)[...] = 0xFF
    return _place(bits, type)


def expand(x, *shape):
    """x.expand of PyTorch: modes of extent 1 are repeated with stride 0."""
    if GPU:
        return x.expand(*shape)
    return np.lib.stride_tricks.as_strided(x, shape, np.broadcast_to(x, shape).strides)


def strided(x, shape, strides):
    """x.as_strided of PyTorch: a view whose windows may overlap; strides count elements."""
    if GPU:
        return x.as_strided(shape, strides)
    return np.lib.stride_tricks.as_strided(x, shape, [x.itemsize * s for s in strides])


def f32(x, type=None):
    """The numbers of x. Bits in 16 unsigned bits are bf16, those in 8 are e4m3, unless a type is given."""
    if GPU and isinstance(x, torch.Tensor):
        x = x.float().cpu().numpy() if x.dtype == torch.bfloat16 else x.cpu().numpy()
    x = np.asarray(x)
    type = type or {np.dtype(np.uint16): "bf16", np.dtype(np.uint8): "e4m3"}.get(x.dtype)
    if type == "bf16" and x.dtype == np.uint16:
        return (x.astype(np.uint32) << 16).view(np.float32)
    if type not in _small:
        return x.astype(np.float32)
    if len(_small[type]) == 16:
        x = np.stack([x & 15, x >> 4], -1).reshape(*x.shape[:-1], -1)
    return _small[type][x]


def compare(name, got, want, tolerance=2.0 ** -7):
    """Prints the largest difference; ends the program with status 1 if it is above tolerance times the largest wanted."""
    got, want = f32(got), np.asarray(want)
    if got.shape != want.shape:
        raise SystemExit(f"{name}: the result has shape {got.shape}, not {want.shape}")
    error, allowed = abs(got - want).max(), tolerance * abs(want).max()
    line = f"{name}: max error {error:.3g} (allowed {allowed:.3g})"
    if not error <= allowed:
        raise SystemExit(f"{line}: wrong")
    print(line)
