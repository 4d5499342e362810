"""Cross entropy of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from fuselage.train.batches import Batch

_ROWS = 64


def cross_entropy(scores: Tensor, target: Tensor, smoothing: float = 0.0) -> Tensor:
    """Give the sum over words of the cross entropy; targets of -100 do not count.

    scores: [lines, steps, words] before or after a log-softmax; target: [lines, steps].
    """
    rows, goals = scores.reshape(-1, scores.shape[-1]), target.reshape(-1)
    if not rows.is_cuda:
        total: Tensor = _CrossEntropy.apply(rows, goals, smoothing)
        return total
    return functional.cross_entropy(rows.float(), goals, label_smoothing=smoothing, reduction="sum")


class _CrossEntropy(torch.autograd.Function):
    """Takes rows by pieces that fit in a cache, each with its gradient while it is there."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, target: Tensor, smoothing: float) -> Tensor:
        words = scores.shape[-1]
        dtype = torch.promote_types(scores.dtype, torch.float32)
        needed = ctx.needs_input_grad[0]
        gradient = torch.empty_like(scores) if needed else None
        total = torch.zeros((), dtype=torch.float64)
        for begin in range(0, len(scores), _ROWS):
            piece = slice(begin, begin + _ROWS)
            goal = target[piece, None]
            counts = goal >= 0
            goal = goal.clamp(min=0)
            logs = torch.log_softmax(scores[piece], -1, dtype=dtype)
            losses = (1 - smoothing) * logs.gather(1, goal)
            if smoothing:
                losses += smoothing / words * logs.sum(-1, keepdim=True)
            total -= torch.where(counts, losses, 0.0).sum()
            if gradient is not None:
                parts = logs.exp_()
                if smoothing:
                    parts -= smoothing / words
                parts.scatter_add_(1, goal, parts.new_full(goal.shape, smoothing - 1))
                gradient[piece] = parts.mul_(counts)
        if gradient is not None:
            ctx.save_for_backward(gradient)
        return total.to(dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, factor: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * factor, None, None


def mean_loss(forward: Callable[[Batch], Tensor], batches: Iterable[Batch]) -> float:
    """Give the cross entropy a word of a text."""
    total, words = 0.0, 0
    with torch.no_grad():
        for batch in batches:
            scores = forward(batch)
            total += float(cross_entropy(scores, batch.target.to(scores.device)))
            words += batch.words
    return total / words
