"""Averages the weights of model directories that began as one model.

    python models/training/average.py OUTPUT DIRECTORY=SHARE...

Weights of fine-tunings of one model can be averaged (Wortsman et al. 2022, "Model soups: averaging
weights of multiple fine-tuned models improves accuracy without increasing inference time", section
2); the shares add up to 1. OUTPUT is the first directory with these weights, without SHA256SUMS.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file


def average(output: Path, parts: dict[Path, float]) -> None:
    """Write the weighted mean of the directories' weights."""
    if abs(sum(parts.values()) - 1) > 1e-6:
        raise SystemExit(f"the shares add up to {sum(parts.values())}, not 1")
    weights: dict[str, np.ndarray] = {}
    for directory, share in parts.items():
        for name, value in load_file(directory / "weights.safetensors").items():
            weights[name] = weights.get(name, 0) + share * value.astype(np.float32)
    first = next(iter(parts))
    with safe_open(first / "weights.safetensors", "numpy") as file:
        metadata = file.metadata()
    shutil.copytree(first, output, ignore=shutil.ignore_patterns("SHA256SUMS"))
    save_file(weights, output / "weights.safetensors", metadata=metadata)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    given = dict(part.rsplit("=", 1) for part in sys.argv[2:])
    average(Path(sys.argv[1]), {Path(name): float(share) for name, share in given.items()})
