from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import yaml
from test_trainer import CONFIG, folder  # noqa: F401

STEPS = {
    "teachers": ["config.yml", "config.yml"],
    "student": "config.yml",
    "translation": {"beam-size": 2, "n-best": 2, "min-chrf": 0},
    "shortlist": {"first": 20, "best": 20},
    "test": {"path": ["valid.en", "valid.de"]},
}


def test_a_student_of_two_teachers_is_made_in_steps(folder: Path) -> None:  # noqa: F811
    (folder / "steps.yml").write_text(yaml.safe_dump(STEPS))
    short = {**CONFIG, "training": {**CONFIG["training"], "updates": 20}}
    (folder / "config.yml").write_text(yaml.safe_dump(short))
    output = folder / "distilled"
    command = [sys.executable, "-m", "fuselage.train.distill", str(folder / "steps.yml")]
    command += ["--output", str(output), "--threads", "1"]
    first = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    for step in (
        "Training teacher0",
        "Training teacher1",
        "Translating",
        "Training student",
        "shortlist",
    ):
        assert step in first
    figures = json.loads((output / "figures.json").read_text())
    assert list(figures) == ["teachers", "student", "int8", "int8, shortlist"]
    # Steps whose results are there are left out.
    (output / "lexicon.bin").unlink()
    again = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    assert "Training" not in again and "Translating" not in again and "shortlist" in again
    assert json.loads((output / "figures.json").read_text()) == figures
    (folder / "config.yml").write_text(yaml.safe_dump(CONFIG))
