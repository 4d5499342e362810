"""Parallel texts as ids of pieces."""

from __future__ import annotations

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
            np.savez(file, a=a, i=i, b=b, j=j)
        partial.replace(path)

    @staticmethod
    def load(path: Path) -> Encoded:
        """Read what save() wrote."""
        made = Encoded.__new__(Encoded)
        with np.load(path) as file:
            made.sides = [(file["a"], file["i"]), (file["b"], file["j"])]
        return made


def _flat(lines: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    begins = np.cumsum([0, *(len(line) for line in lines)], dtype=np.int64)
    ids = np.fromiter((each for line in lines for each in line), np.int32, int(begins[-1]))
    return (ids.astype(np.uint16) if ids.size and ids.max() < 65536 else ids), begins
