# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel as an operator of PyTorch 2.4 or later: autograd, torch.compile, a CUDA graph. Needs a GPU.

    python3 torch_op.py
"""
import pathlib

import dslc
import dslc.torch
import torch

SOURCE = pathlib.Path(__file__).parent.parent / "gemm/gemm.gemm"
gemm = dslc.torch.custom_op("examples::gemm", dslc.load(SOURCE))  # D = A B^T, bf16


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def backward(ctx, grad):
    a, b = ctx.saved_tensors
    grad = grad.contiguous()
    return gemm(grad, b.T.contiguous()), gemm(grad.T.contiguous(), a.T.contiguous())


gemm.register_autograd(backward, setup_context=setup_context)


def check(name, got, wanted):
    error = (got.float() - wanted.float()).abs().max().item() / wanted.float().abs().max().item()
    print(f"{name}: largest error {error:.1e} of the largest element")
    if not error < 1e-2:
        raise SystemExit(f"{name} is wrong")


def matrices(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


a, b = matrices(1024, 512).requires_grad_(), matrices(768, 512).requires_grad_()
torch.library.opcheck(gemm, (a, b), test_utils=("test_schema", "test_faketensor"))
check("call", gemm(a, b), a @ b.T)

gemm(a, b).float().square().sum().backward()
ours = a.grad.clone(), b.grad.clone()
a.grad = b.grad = None
(a @ b.T).float().square().sum().backward()
check("gradient of A", ours[0], a.grad)
check("gradient of B", ours[1], b.grad)


@torch.compile(fullgraph=True)
def layer(a, b):
    return torch.relu(gemm(a, b)) + 1


check("torch.compile", layer(a, b), torch.relu(a @ b.T) + 1)

# The kernel itself in a graph: captured once, replayed on new numbers.
k = dslc.load(SOURCE)
x, w, out = matrices(1024, 512), matrices(768, 512), matrices(1024, 768)
k(x, w, out=out)  # loads the cubin, which a capture may not
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    k(x, w, out=out)
x.copy_(matrices(1024, 512))
graph.replay()
torch.cuda.synchronize()
check("CUDA graph", out, x @ w.T)
