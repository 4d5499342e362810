"""Linear recurrences y(t) = a(t) y(t - 1) + b(t), element by element, for all steps at once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def linear_scan(a: Tensor, b: Tensor, first: Tensor) -> Tensor:
    """Give y(0), y(1), … along axis 1, with y(-1) = first.

    a, b: [sentences, steps, dims…]; first: [sentences, 1, dims…].
    """
    return _LinearScan.apply(a, b, first)


class _LinearScan(torch.autograd.Function):
    """The gradient of a linear recurrence is one in the other direction."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, first: Tensor) -> Tensor:
        y = _solve(a, b, first)
        ctx.save_for_backward(a, y, first)
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a, y, first = ctx.saved_tensors
        # d(t) = g(t) + a(t + 1) d(t + 1)
        ahead = torch.cat([a[:, 1:], torch.zeros_like(a[:, :1])], 1)
        d = _solve(ahead.flip(1), gradient.flip(1), torch.zeros_like(first)).flip(1)
        before = torch.cat([first, y[:, :-1]], 1)
        return d * before, d, a[:, :1] * d[:, :1]


def _solve(a: Tensor, b: Tensor, first: Tensor) -> Tensor:
    return _solve_by_doubling(a, b, first) if b.is_cuda else _solve_by_steps(a, b, first)


def _solve_by_steps(a: Tensor, b: Tensor, first: Tensor) -> Tensor:
    y = torch.empty_like(b)
    last = first[:, 0]
    for t in range(b.shape[1]):
        last = torch.addcmul(b[:, t], a[:, t], last, out=y[:, t])
    return y


def _solve_by_doubling(a: Tensor, b: Tensor, first: Tensor) -> Tensor:
    """Few large kernels: pairs (a, b) of 1, 2, 4, … steps (Hillis and Steele 1986)."""
    b = torch.cat([torch.addcmul(b[:, :1], a[:, :1], first), b[:, 1:]], 1)
    a = torch.cat([torch.zeros_like(a[:, :1]), a[:, 1:]], 1)
    steps = 1
    while steps < b.shape[1]:
        b = torch.cat([b[:, :steps], torch.addcmul(b[:, steps:], a[:, steps:], b[:, :-steps])], 1)
        a = torch.cat([a[:, :steps], a[:, steps:] * a[:, :-steps]], 1)
        steps *= 2
    return b
