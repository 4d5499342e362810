"""Cross entropy of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor
from torch.nn import functional

from fuselage.train.batches import Batch


def cross_entropy(scores: Tensor, target: Tensor, smoothing: float = 0.0) -> Tensor:
    """Give the sum over words of the cross entropy; targets of -100 do not count.

    scores: [lines, steps, words] before or after a log-softmax; target: [lines, steps].
    """
    return functional.cross_entropy(
        scores.reshape(-1, scores.shape[-1]).float(),
        target.reshape(-1),
        label_smoothing=smoothing,
        reduction="sum",
    )


def mean_loss(forward: Callable[[Batch], Tensor], batches: Iterable[Batch]) -> float:
    """Give the cross entropy a word of a text."""
    total, words = 0.0, 0
    with torch.no_grad():
        for batch in batches:
            scores = forward(batch)
            total += float(cross_entropy(scores, batch.target.to(scores.device)))
            words += batch.words
    return total / words
