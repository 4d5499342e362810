from __future__ import annotations

import pathlib
import subprocess

import fuselage
import pytest

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = pathlib.Path(fuselage.__file__).parent / "bin" / "fuselage"


def run_program(*arguments: str, text: str = "") -> str:
    """The output of the program that comes with the package."""
    done = subprocess.run(
        [PROGRAM, *arguments], input=text, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


@pytest.fixture(scope="session")
def translator() -> fuselage.Translator:
    return fuselage.Translator(threads=2)


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """Real text: 200 lines of the documentation."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    return [line for line in text.splitlines() if line.strip()][:200]
