"""The files of pairs that trainings read."""

from __future__ import annotations

import gzip
from pathlib import Path

from cleaning import Pair


def write_pairs(pairs: list[Pair], path: Path) -> None:
    """Write a file of pairs, the same bytes for the same pairs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{english}\t{german}\n" for english, german in pairs)
    part = path.with_suffix(".part")
    part.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
    part.rename(path)
