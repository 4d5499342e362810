"""Batches of lines of similar length, in an order that only seed and epoch decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from fuselage.torch import Padded
from fuselage.train.encoded import Encoded

EOS = 0
_MOST = 4  # lines that are joined to one


class Batch(NamedTuple):
    """source: words; previous: the words that each step reads; target: the words to predict.

    Behind the end of a line, targets are -100.
    """

    source: Padded
    previous: Padded
    target: Tensor

    @property
    def words(self) -> int:
        """The number of words to predict."""
        return int(self.previous.lengths.sum())


class Texts:
    """Several texts with weights, as one epoch of lines after the other.

    joined: the share of lines that go on with one to three others, up to max_length words.
    """

    def __init__(
        self,
        texts: list[Encoded],
        weights: list[float],
        seed: int,
        *,
        joined: float = 0.0,
        max_length: int = 1 << 30,
    ) -> None:
        self.texts = texts
        self.weights = weights
        self.seed = seed
        self.joined = joined
        self.max_length = max_length

    def epoch(self, number: int, batch_tokens: int, used: list[bool]) -> list[np.ndarray]:
        """Give the batches of an epoch: rows of a text and up to four of its pairs, -1 for none."""
        random = np.random.Generator(np.random.Philox(key=[self.seed, number]))
        lines, lengths = [], []
        for index, weight in enumerate(self.weights):
            if used[index]:
                of_text, sizes = self._draw(index, weight, random)
                lines.append(of_text)
                lengths.append(sizes)
        if not lines:
            return []
        every, sizes = np.concatenate(lines), np.concatenate(lengths, 1)
        # By target, then by source length; the noise makes other neighbours in each epoch.
        key = sizes[1] + 0.05 * sizes[0] + random.random(len(every))
        order = np.argsort(key, kind="stable")
        batches = list(_cut(order, sizes + 1, batch_tokens))
        random.shuffle(batches)
        return [every[batch] for batch in batches]

    def batch(self, lines: np.ndarray) -> Batch:
        """Make the tensors of a batch."""
        sides = [[self._line(side, *line) for line in lines] for side in (0, 1)]
        return make_batch(*sides)

    def _draw(
        self, index: int, weight: float, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the lines of a text in an epoch, and their lengths on both sides."""
        text = self.texts[index]
        whole, rest = divmod(weight, 1)
        parts = [np.arange(len(text))] * int(whole)
        if rest:
            parts.append(np.flatnonzero(random.random(len(text)) < rest))
        first = np.concatenate(parts) if parts else np.empty(0, np.int64)
        lines = np.full((len(first), 1 + _MOST), -1)
        lines[:, 0], lines[:, 1] = index, first
        lengths = text.lengths()
        sizes = lengths[:, first]
        more = np.where(
            random.random(len(first)) < self.joined, random.integers(1, _MOST, len(first)), 0
        )
        for place in range(1, _MOST):
            other = random.integers(0, len(text), len(first))
            fits = (place <= more) & np.all(sizes + lengths[:, other] <= self.max_length, 0)
            lines[fits, 1 + place] = other[fits]
            sizes = sizes + np.where(fits, lengths[:, other], 0)
        return lines, sizes

    def _line(self, side: int, text: int, *pairs: int) -> np.ndarray:
        parts = [self.texts[text].line(side, pair) for pair in pairs if pair >= 0]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def make_batch(source: list[np.ndarray], target: list[np.ndarray]) -> Batch:
    """Pad lines; each side ends with the end symbol."""
    words = _padded([np.append(line, EOS) for line in source], -1)
    goal = _padded([np.append(line, EOS) for line in target], -100)
    previous = _padded([np.concatenate([[-1], line]) for line in target], -1)
    return Batch(words, previous, goal.values)


def validation_batches(text: Encoded, batch_tokens: int, limit: int) -> Iterator[Batch]:
    """Give the first lines of a text, sorted by length."""
    count = min(len(text), limit or len(text))
    lengths = text.lengths()[:, :count]
    for batch in _cut(np.argsort(lengths[1], kind="stable"), lengths + 1, batch_tokens):
        yield make_batch(
            [text.line(0, int(i)) for i in batch], [text.line(1, int(i)) for i in batch]
        )


def _cut(order: np.ndarray, lengths: np.ndarray, batch_tokens: int) -> Iterator[np.ndarray]:
    """Cut a sorted order where the padded words of either side would exceed the size of a batch."""
    begin, longest = 0, 0
    for at, index in enumerate(order):
        longest = max(longest, int(lengths[:, index].max()))
        if at > begin and longest * (at - begin + 1) > batch_tokens:
            yield order[begin:at]
            begin, longest = at, int(lengths[:, index].max())
    if begin < len(order):
        yield order[begin:]


def _padded(lines: list[np.ndarray], fill: int) -> Padded:
    lengths = np.array([len(line) for line in lines])
    values = np.full((len(lines), int(lengths.max())), fill, np.int64)
    for row, line in zip(values, lines, strict=True):
        row[: len(line)] = line
    return Padded(torch.from_numpy(values), torch.from_numpy(lengths))
