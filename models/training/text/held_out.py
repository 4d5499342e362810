"""The lines of test sets, which are in no training pair."""

from __future__ import annotations

import json
from pathlib import Path

from cleaning import key_of
from repository import Mirror, SourceError
from sources import HeldOut


def held_out_keys(held_out: HeldOut, folder: Path, mirror: Mirror) -> frozenset[str]:
    """Return the keys of all lines that are held out, and of every string in JSON files."""
    lines: list[str] = []
    for pattern in held_out.files:
        paths = sorted(folder.glob(pattern))
        if not paths:
            raise SourceError(
                f"{folder}: no file {pattern}; --held-out names the folder of the test sets that\n"
                "sources.yml lists under held-out"
            )
        for path in paths:
            text = path.read_text("utf-8")
            lines += _strings(json.loads(text)) if path.suffix == ".json" else text.splitlines()
    for place in held_out.places:
        lines += mirror.place(place).lines()
    return frozenset(key for key in map(key_of, lines) if key)


def _strings(value: object) -> list[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return []
