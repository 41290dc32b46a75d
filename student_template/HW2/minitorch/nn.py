"""Layers without parameters: pooling, softmax, dropout, normalisation."""

from __future__ import annotations

from .autodiff import Context
from .tensor import Tensor
from .tensor_functions import Function, rand


def tile(input: Tensor, kernel: tuple[int, int]) -> tuple[Tensor, int, int]:
    """Gather the windows of a pooling in the last dimension.

    Args:
        input: ``[batch, channel, height, width]``.
        kernel: height and width of a window; they divide those of the input.

    Returns:
        ``[batch, channel, new_height, new_width, window]``, ``new_height`` and ``new_width``.
    """
    batch, channel, height, width = input.shape
    kh, kw = kernel
    assert (height % kh, width % kw) == (0, 0), f"windows of {kernel} do not tile {height} × {width}"
    new_height, new_width = height // kh, width // kw
    windows = input.contiguous().view(batch, channel, new_height, kh, new_width, kw)
    windows = windows.permute(0, 1, 2, 4, 3, 5).contiguous()
    return windows.view(batch, channel, new_height, new_width, kh * kw), new_height, new_width


def avgpool2d(input: Tensor, kernel: tuple[int, int]) -> Tensor:
    """The mean of each window: ``[batch, channel, height, width]`` to ``[..., height/kh, width/kw]``."""
    windows, new_height, new_width = tile(input, kernel)
    return windows.mean(dim=4).view(*input.shape[:2], new_height, new_width)


def maxpool2d(input: Tensor, kernel: tuple[int, int]) -> Tensor:
    """The maximum of each window: ``[batch, channel, height, width]`` to ``[..., height/kh, width/kw]``."""
    windows, new_height, new_width = tile(input, kernel)
    return max(windows, 4).view(*input.shape[:2], new_height, new_width)


def max_reduce(input: Tensor, dim: int) -> Tensor:
    """The maximum over a dimension, which is kept with size 1; not recorded in the graph."""
    return input.f.max_reduce(input, dim)


def argmax(input: Tensor, dim: int) -> Tensor:
    """1 where an element is the greatest along ``dim``, else 0; a constant of the input's shape."""
    return input.f.eq_zip(max_reduce(input, dim), input)


class Max(Function):
    """The maximum over a dimension, which is kept with size 1."""

    @staticmethod
    def forward(ctx: Context, input: Tensor, dim: Tensor | int) -> Tensor:
        """``[..., N, ...]`` to ``[..., 1, ...]``."""
        out = max_reduce(input, dim if isinstance(dim, int) else int(dim.item()))
        ctx.save_for_backward(input, out)
        return out

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``d`` to every element that equals the maximum."""
        input, out = ctx.saved_values
        f = grad_output.f
        return f.mul_zip(f.eq_zip(out, input), grad_output)


def max(input: Tensor, dim: int) -> Tensor:
    """The maximum over ``dim``, which is kept with size 1."""
    return Max.apply(input, dim=dim)


def softmax(input: Tensor, dim: int) -> Tensor:
    """``exp(x) / Σ exp(x)`` along ``dim``; shifted by the maximum, so that nothing overflows."""
    e = (input - max_reduce(input, dim)).exp()
    return e / e.sum(dim=dim)


def logsoftmax(input: Tensor, dim: int) -> Tensor:
    """The logarithm of the softmax along ``dim``: ``x - max - log Σ exp(x - max)``."""
    shifted = input - max_reduce(input, dim)
    return shifted - shifted.exp().sum(dim=dim).log()


def dropout(input: Tensor, rate: float, ignore: bool = False) -> Tensor:
    """Set each element to 0 with probability ``rate``; the others are not rescaled.

    Args:
        input: of any shape.
        rate: the probability, in [0, 1).
        ignore: leave the input as it is, as in evaluation.
    """
    if ignore:
        return input
    noise = rand(input.shape, backend=input.backend)
    return input * (noise > rate)


def layer_norm(input: Tensor, eps: float = 1e-5) -> Tensor:
    """Shift and scale the last dimension to mean 0 and variance 1.

    Args:
        input: of any shape.
        eps: added to the variance.
    """
    last = input.dims - 1
    return (input - input.mean(last)) / (input.var(last) + eps) ** 0.5


__all__ = [
    "Max",
    "argmax",
    "avgpool2d",
    "dropout",
    "layer_norm",
    "logsoftmax",
    "max",
    "max_reduce",
    "maxpool2d",
    "softmax",
    "tile",
]
