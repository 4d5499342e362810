"""Cross entropy of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from fuselage.train.batches import Batch

_ROWS = 64


def cross_entropy(
    scores: Tensor, target: Tensor, smoothing: float = 0.0, factor: float = 1.0
) -> Tensor:
    """Give `factor` times the sum over words of the cross entropy; targets of -100 do not count.

    scores: [lines, steps, words] before or after a log-softmax; target: [lines, steps].
    """
    rows, goals = scores.reshape(-1, scores.shape[-1]), target.reshape(-1)
    if not rows.is_cuda:
        total: Tensor = _CrossEntropy.apply(rows, goals, smoothing, factor)
        return total
    return factor * functional.cross_entropy(
        rows.float(), goals, label_smoothing=smoothing, reduction="sum"
    )


class _CrossEntropy(torch.autograd.Function):
    """Takes rows by pieces that fit in a cache, each with its gradient while it is there."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, target: Tensor, smoothing: float, factor: float
    ) -> Tensor:
        dtype = torch.promote_types(scores.dtype, torch.float32)
        gradient = torch.empty_like(scores) if ctx.needs_input_grad[0] else None
        total = torch.zeros((), dtype=torch.float64)
        for begin in range(0, len(scores), _ROWS):
            piece = slice(begin, begin + _ROWS)
            goal = target[piece, None]
            counts = (goal >= 0) * torch.tensor(factor, dtype=dtype)
            goal = goal.clamp(min=0)
            logs = torch.log_softmax(scores[piece], -1, dtype=dtype)
            losses = (1 - smoothing) * logs.gather(1, goal)
            if smoothing:
                losses += smoothing * logs.mean(-1, keepdim=True)
            total -= torch.where(counts != 0, losses * counts, 0.0).sum()
            if gradient is not None:
                parts = logs.exp_()
                if smoothing:
                    parts -= smoothing / scores.shape[-1]
                parts.scatter_add_(1, goal, parts.new_full(goal.shape, smoothing - 1))
                gradient[piece] = parts.mul_(counts)
        if gradient is not None:
            ctx.save_for_backward(gradient)
        return total.to(dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, factor: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient if factor == 1 else gradient * factor, None, None, None


def mean_loss(forward: Callable[[Batch], Tensor], batches: Iterable[Batch]) -> float:
    """Give the cross entropy a word of a text."""
    total, words = 0.0, 0
    with torch.no_grad():
        for batch in batches:
            scores = forward(batch)
            total += float(cross_entropy(scores, batch.target.to(scores.device)))
            words += batch.words
    return total / words
