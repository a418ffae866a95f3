# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as operators of PyTorch (2.4 or later), with gradients, from the kernels of the gallery.

    from dslc.attention import attention, decode
    o = attention(q, k, v, causal=True)                        # bf16 (batch, heads, length, width), as PyTorch has them
    o, lse = attention(q, k, v, window=(127, 0), softcap=50.0, with_lse=True)
    o = decode(q, k, v, lens, table=table)                     # a query for each head, keys in pages

torch.ops.dslc.attention, attention_backward and decode work under torch.compile. On host tensors they run on the simulator.
"""
from __future__ import annotations

import functools
import pathlib
from typing import Any, Dict, Optional, Tuple

import torch

from . import Kernel, load

Maybe = Optional[torch.Tensor]
_GALLERY = pathlib.Path(__file__).parent / "gallery"
_WIDE = 1 << 29  # a side of a window without end, as in the sources
_DYNAMIC = "roles cooperative; persistent dynamic;"
_HEADS = {  # widths of keys and values: rows and keys of a tile, keys where scores are changed; the schedule without a mask, with one
    (64, 64): (192, 128, 128, "roles cooperative;", _DYNAMIC), (96, 96): (128, 128, 96, _DYNAMIC, _DYNAMIC),
    (128, 128): (128, 128, 96, _DYNAMIC, _DYNAMIC), (192, 128): (128, 128, 96, _DYNAMIC, _DYNAMIC),
    (256, 256): (128, 80, 64, "roles cooperative;", "roles cooperative;")}  # fastest on an H200


@functools.lru_cache(None)
def _kernel(page: str, name: Optional[str] = None, **consts: Any) -> Kernel:
    return load(_GALLERY / f"{page}.gemm", kernel=name, **consts)


def _refuse(why: str) -> None:
    raise ValueError(f"attention: {why}")


def _check(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: Maybe, slopes: Maybe, sinks: Maybe) -> None:
    for name, x in (("q", q), ("k", k), ("v", v), ("bias", bias)):
        if x is not None and x.dtype != torch.bfloat16:
            _refuse(f"{name} must have type torch.bfloat16; it has type {x.dtype}")
        if x is not None and x.dim() != 4:
            _refuse(f"{name} must have rank 4, (batch, heads, length, width); it has rank {x.dim()}")
    (B, H, M, E), (_, G, L, F) = q.shape, v.shape
    if k.shape != (B, G, L, E):
        _refuse(f"k has shape {tuple(k.shape)}, and {(B, G, L, E)} goes with q and v")
    if G == 0 or H % G:
        _refuse(f"{H} heads of queries cannot share {G} heads of keys")
    if not any(0 < E <= e and 0 < F <= f for e, f in _HEADS):
        _refuse(f"keys have {E} columns and values {F}; kernels have from 1 to {', '.join(f'{e} and {f}' for e, f in _HEADS)}")
    if bias is not None and any(n not in (1, m) for n, m in zip(bias.shape, (B, H, M, L))):
        _refuse(f"bias has shape {tuple(bias.shape)}, which does not expand to {(B, H, M, L)}")
    for name, x in (("slopes", slopes), ("sinks", sinks)):
        if x is not None and (x.shape != (H,) or x.dtype != torch.float32):
            _refuse(f"{name} must have shape {(H,)} and type torch.float32; it has shape {tuple(x.shape)} and type {x.dtype}")


def _lent(x: torch.Tensor) -> torch.Tensor:
    """As a kernel reads it: columns lie side by side."""
    return x.detach() if x.stride(-1) == 1 else x.detach().contiguous()


def _outputs(q: torch.Tensor, v: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    return q.new_empty(*q.shape[:3], v.shape[3]), q.new_empty(q.shape[:3], dtype=torch.float32)


def _forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: Maybe, slopes: Maybe, sinks: Maybe, scale: float,
             left: int, right: int, softcap: float) -> Tuple[torch.Tensor, torch.Tensor]:
    _check(q, k, v, bias, slopes, sinks)
    o, lse = _outputs(q, v)
    (B, H, M, E), (G, L, F) = q.shape, v.shape[1:]
    if not k.numel() or not v.numel() or not q.numel():  # no key, or no output
        sink = sinks if sinks is not None else q.new_full((H,), -float("inf"), dtype=torch.float32)
        return o.zero_(), lse.copy_(sink.detach()[:, None].expand(B, H, M))
    heads = (G, H // G)
    e, f = next(w for w in _HEADS if E <= w[0] and F <= w[1])
    rows, keys, fewer, *schedules = _HEADS[e, f]
    consts: Dict[str, Any] = dict(bE=e, bF=f, left=left, right=right)
    tensors: Tuple[torch.Tensor, ...] = ()
    words = {"scale": scale}
    if softcap or scale <= 0 or any(x is not None for x in (bias, slopes, sinks)):
        consts.update(bL=fewer, softcap=int(softcap != 0), alibi=int(slopes is not None), additive=int(bias is not None))
        kernel = _kernel("attention_scores", schedule="roles cooperative;", **consts)
        none = q.new_full((H,), -float("inf"), dtype=torch.float32)
        tensors = (_lent((q.new_empty(1, 1, 1, L) if bias is None else bias).expand(B, H, M, L)).unflatten(1, heads),
                   *(_lent(none if x is None else x).unflatten(0, heads) for x in (slopes, sinks)))
        words["cap"] = softcap
    else:
        kernel = _kernel("attention_causal", bM=rows, bL=keys, schedule=schedules[left < _WIDE or right < _WIDE], **consts)
    kernel(_lent(q).unflatten(1, heads), _lent(k), _lent(v).transpose(2, 3), *tensors, **words,
           out=(o.unflatten(1, heads), lse.unflatten(1, heads)))
    return o, lse


def _delta(o: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    """The sum of o * grad over the columns."""
    if o.shape[3] % 8:
        return (o.float() * grad.float()).sum(-1)
    delta = o.new_empty(o.shape[:3], dtype=torch.float32)
    _kernel("attention_gradient_q", "delta")(o.detach().flatten(0, 2), grad.flatten(0, 2), out=delta.flatten())
    return delta


def _backward(grad: torch.Tensor, grad_lse: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, o: torch.Tensor,
              lse: torch.Tensor, scale: float, left: int, right: int) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if not q.numel() or not k.numel():
        return q.new_zeros(q.shape), k.new_zeros(k.shape), v.new_zeros(v.shape)
    grad, q, k, v, lse = grad.detach().contiguous(), _lent(q), _lent(k), _lent(v), lse.detach()
    delta = _delta(o, grad) - grad_lse
    heads = k.shape[1], q.shape[1] // k.shape[1]
    in_one = q.shape[3] % 8 == 0 and (left, right) in ((_WIDE, 0), (_WIDE, _WIDE))
    if in_one and not torch.are_deterministic_algorithms_enabled():  # its sums of dq are in any order
        sums, own = q.new_zeros(q.shape, dtype=torch.float32), (x.repeat_interleave(heads[1], 1) if heads[1] > 1 else x for x in (k, v))
        kernel = _kernel("attention_gradient", causal=int(right == 0), bE=64 if q.shape[3] <= 64 else 128)
        parts = kernel(q, *own, grad, lse.unsqueeze(2), delta.unsqueeze(2), sums, scale=scale)
        dk, dv = (x.unflatten(1, heads).sum(2, dtype=torch.float32).to(x.dtype) if heads[1] > 1 else x for x in parts)
        return sums.to(q.dtype), dk, dv
    dk, dv = k.new_empty(k.shape), v.new_empty(v.shape)
    q, grad, lse, delta = (x.unflatten(1, heads) for x in (q, grad, lse, delta))
    dq = q.new_empty(q.shape)
    _kernel("attention_gradient_q", "queries", left=left, right=right)(q, grad, k, v, k.transpose(2, 3), lse, delta, scale=scale, out=dq)
    _kernel("attention_gradient_kv", left=left, right=right)(k, v, q, grad, q.transpose(3, 4), grad.transpose(3, 4), lse.unsqueeze(3),
                                                   delta.unsqueeze(3), scale=scale, out=(dk, dv))
    return dq.flatten(1, 2), dk, dv


def _save(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[torch.Tensor, torch.Tensor]) -> None:
    q, k, v, bias, slopes, sinks, scale, left, right, softcap = inputs
    if softcap or any(x is not None for x in (bias, slopes, sinks)):
        _refuse("gradients with softcap, slopes, bias or sinks are not built; call it under torch.no_grad()")
    if q.shape[3] != v.shape[3] or v.shape[3] > 128:
        _refuse(f"keys have {q.shape[3]} columns and values {v.shape[3]}; gradients need as many, at most 128")
    ctx.save_for_backward(q, k, v, *output)
    ctx.numbers = scale, left, right


def _gradient(ctx: Any, grad: torch.Tensor, grad_lse: torch.Tensor) -> Tuple[Any, ...]:
    return (*torch.ops.dslc.attention_backward(grad, grad_lse, *ctx.saved_tensors, *ctx.numbers), *[None] * 7)


def _check_decode(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lens: torch.Tensor, table: Maybe) -> None:
    for name, x, modes, type in (("q", q, 3, torch.bfloat16), ("k", k, 4, torch.bfloat16), ("v", v, 4, torch.bfloat16),
                                 ("lens", lens, 1, torch.int32), ("table", table, 2, torch.int32)):
        if x is not None and (x.dim() != modes or x.dtype != type):
            _refuse(f"{name} must have rank {modes} and type {type}; it has rank {x.dim()} and type {x.dtype}")
    (B, H, E), (N, G, L, F) = q.shape, k.shape
    if v.shape != k.shape or not 0 < E == F <= 128:
        _refuse(f"q, k and v have shapes {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}; widths are the same, at most 128")
    if G == 0 or H % G:
        _refuse(f"{H} heads of queries cannot share {G} heads of keys")
    if lens.shape != (B,) or (table.shape[0] if table is not None else N) != B:
        _refuse(f"lens or the cache is not of {B} sequences")
    if table is not None and L != 64:
        _refuse(f"pages have {L} keys; kernels have pages of 64")


def _parts(q: torch.Tensor, pairs: int, keys: int, ctas: int) -> int:
    """CTAs that share the keys of a head: so many on each SM, with 512 keys or more each; the fastest of those tried on an H200."""
    sms = torch.cuda.get_device_properties(q.device).multi_processor_count if q.is_cuda else 2
    return max(1, min(ctas * sms // pairs, keys // 512))


def _decode(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lens: torch.Tensor, table: Maybe, scale: float,
            parts: int) -> Tuple[torch.Tensor, torch.Tensor]:
    _check_decode(q, k, v, lens, table)
    (B, H, E), G, keys = q.shape, k.shape[1], table.shape[1] * 64 if table is not None else k.shape[2]
    o, lse = q.new_empty(q.shape), q.new_empty((B, H), dtype=torch.float32)
    if not q.numel() or not keys or not k.numel():
        return o.zero_(), lse.fill_(-float("inf"))
    parts = parts or _parts(q, B * G, keys, 1 if table is None else 2)
    part = q.new_empty((parts, B, G, H // G, E), dtype=torch.float32)
    weight = q.new_empty(part.shape[:4], dtype=torch.float32)
    tensors = (_lent(q).unflatten(1, (G, H // G)).contiguous(), _lent(k), _lent(v).transpose(2, 3), lens.contiguous())
    kernel = _kernel("attention_decode" if table is None else "attention_pages")
    kernel(*tensors, *(() if table is None else (table.contiguous(),)), scale=scale, out=(part, weight))
    if E % 8:  # rows that combine.gemm does not read
        share = torch.softmax(weight, 0).nan_to_num_()
        return o.copy_((part * share[..., None]).sum(0).flatten(1, 2)), lse.copy_(torch.logsumexp(weight, 0).flatten(1))
    _kernel("combine")(part.flatten(1, 3), weight.flatten(1), out=(o.flatten(0, 1), lse.flatten()))
    return o, lse


def _register() -> None:
    forward = torch.library.custom_op(
        "dslc::attention", _forward, mutates_args=(),
        schema="(Tensor q, Tensor k, Tensor v, Tensor? bias, Tensor? slopes, Tensor? sinks, float scale, int left, int right, "
               "float softcap) -> (Tensor, Tensor)")
    forward.register_fake(lambda q, k, v, *rest: _outputs(q, v))
    forward.register_autograd(_gradient, setup_context=_save)
    backward = torch.library.custom_op(
        "dslc::attention_backward", _backward, mutates_args=(),
        schema="(Tensor grad, Tensor grad_lse, Tensor q, Tensor k, Tensor v, Tensor o, Tensor lse, float scale, int left, int right) "
               "-> (Tensor, Tensor, Tensor)")
    decoding = torch.library.custom_op(
        "dslc::decode", _decode, mutates_args=(),
        schema="(Tensor q, Tensor k, Tensor v, Tensor lens, Tensor? table, float scale, int parts) -> (Tensor, Tensor)")
    decoding.register_fake(lambda q, *rest: (q.new_empty(q.shape), q.new_empty(q.shape[:2], dtype=torch.float32)))
    backward.register_fake(lambda grad, grad_lse, q, k, v, *rest: tuple(x.new_empty(x.shape) for x in (q, k, v)))


if hasattr(torch.library, "custom_op"):
    _register()


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False,
              window: Tuple[Optional[int], Optional[int]] = (None, None), scale: Optional[float] = None, softcap: float = 0.0,
              slopes: Maybe = None, bias: Maybe = None, sinks: Maybe = None, with_lse: bool = False) -> Any:
    """softmax(scale * q @ k.T) @ v of bf16 tensors (batch, heads, length, width); heads of queries may share heads of keys.

    The last query stands at the last key. A query sees window[0] keys before its own and window[1] after it, None is all;
    causal is window[1] = 0. A query without a key gets 0. scale is 1 / sqrt(width) unless given. The score of a key is
    softcap * tanh(score / softcap) + slopes[head] * (key - query) + bias. A sink of a head is one more score, of a value 0.
    with_lse: gives the log-sum-exp of the scores, too. Gradients are those of q, k and v, without these four.
    """
    if not hasattr(torch.library, "custom_op"):
        raise RuntimeError(f"operators need PyTorch 2.4 or later, this is {torch.__version__}")
    _check(q, k, v, bias, slopes, sinks)
    left, right = (_WIDE if n is None else max(-_WIDE, min(n, _WIDE)) for n in window)
    scale = q.shape[3] ** -0.5 if scale is None else scale
    made = torch.ops.dslc.attention(q, k, v, bias, slopes, sinks, scale, left, min(right, 0) if causal else right, softcap)
    return made if with_lse else made[0]


def decode(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lens: torch.Tensor, *, table: Maybe = None,
           scale: Optional[float] = None, parts: int = 0, with_lse: bool = False) -> Any:
    """Attention of a query for each head, q (batch, heads, width), over the first lens[b] keys of a cache, in bf16.

    k and v are (batch, heads, length, width), or with a table of int32 (batch, pages) pages (number, heads, 64, width). What lies
    after the last key is finite. Heads of queries may share heads of keys. A sequence without keys gets 0. Several CTAs share the
    keys of a head, parts if given. There is no gradient.
    """
    if not hasattr(torch.library, "custom_op"):
        raise RuntimeError(f"operators need PyTorch 2.4 or later, this is {torch.__version__}")
    _check_decode(q, k, v, lens, table)
    made = torch.ops.dslc.decode(q, k, v, lens, table, q.shape[2] ** -0.5 if scale is None else scale, parts)
    return made if with_lse else made[0]
