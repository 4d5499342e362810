"""Parallel texts as ids of pieces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np


class Encoded:
    """Pairs as ids without the end symbol: one array for each side, and where each line begins."""

    def __init__(self, source: list[list[int]], target: list[list[int]]) -> None:
        self.sides = [_flat(source), _flat(target)]

    def __len__(self) -> int:
        return len(self.sides[0][1]) - 1

    def lengths(self) -> np.ndarray:
        """Give the number of pieces on each side: [2, pairs]."""
        return np.stack([np.diff(begins) for _, begins in self.sides])

    def line(self, side: int, index: int) -> np.ndarray:
        """Give the ids of one side of a pair."""
        ids, begins = self.sides[side]
        return ids[begins[index] : begins[index + 1]]

    def save(self, path: Path) -> None:
        """Write it to a file, which appears whole or not at all."""
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            (a, i), (b, j) = self.sides
            lengths = {"lengths_a": _short(np.diff(i)), "lengths_b": _short(np.diff(j))}
            np.savez(file, a=a, b=b, **lengths)
        partial.replace(path)

    @staticmethod
    def load(path: Path) -> Encoded:
        """Read what save() wrote."""
        made = Encoded.__new__(Encoded)
        with np.load(path) as file:
            made.sides = [(file[side], _begins(file[f"lengths_{side}"])) for side in "ab"]
        return made


def _flat(lines: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    begins = _begins([len(line) for line in lines])
    ids = np.fromiter((each for line in lines for each in line), np.int32, int(begins[-1]))
    return _short(ids), begins


def _begins(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    begins = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=begins[1:])
    return begins


def _short(numbers: np.ndarray) -> np.ndarray:
    """Give the numbers, which are not negative, in 16 bits if these hold them."""
    return numbers.astype(np.uint16) if numbers.size and numbers.max() < 65536 else numbers
