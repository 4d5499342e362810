"""The tutorial of docs/train-tutorial.md, followed with a small text."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import PROGRAM, ROOT


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_tutorial_can_be_followed(tmp_path: Path, lines, translator) -> None:
    page = (ROOT / "docs" / "train-tutorial.md").read_text()
    pairs = list(zip(lines, translator.translate(lines), strict=True))
    for side, language in enumerate(("en", "de")):
        text = "".join(pair[side] + "\n" for pair in pairs)
        (tmp_path / f"train.{language}.gz").write_bytes(gzip.compress(text.encode()))
        (tmp_path / f"dev.{language}").write_text("".join(p[side] + "\n" for p in pairs[:20]))
    (equations,) = blocks(page, "python")
    small = equations.replace(
        "words, size, layers = 8000, 256, 3", "words, size, layers = 400, 32, 2"
    )
    assert small != equations
    (tmp_path / "equations.py").write_text(small)
    names = re.findall(r"`([a-z-]+\.yml)`", page)
    for name, config in zip(names, blocks(page, "yaml"), strict=True):
        config = config.replace("vocabulary-size: 8000", "vocabulary-size: 400")
        config = re.sub("updates: [0-9]+", "updates: 6", config).replace("every: 500", "every: 3")
        (tmp_path / name).write_text(config)
    commands = "".join(blocks(page, "sh")[1:])
    assert commands.count("fuselage") > 7
    bins = f"{Path(sys.executable).parent}:{PROGRAM.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=tmp_path,
        env={**os.environ, "PATH": bins},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "validation loss" in done.stderr and (tmp_path / "page.html").stat().st_size > 10_000
    sizes = [
        (tmp_path / name / "weights.safetensors").stat().st_size
        for name in ("training/last", "tuned-four-bits")
    ]
    assert sizes[1] < sizes[0] / 4
