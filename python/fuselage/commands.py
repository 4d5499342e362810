"""The commands of the program that write, check and describe models, as functions.

They run the program that comes with the package. Their further options are the commands' own, with
`_` for `-`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Union

from fuselage._arguments import all_as_bytes, arguments_of, path_text
from fuselage._core import Error

AnyPath = Union[str, "os.PathLike[str]"]

_PROGRAM = Path(__file__).parent / "bin" / "fuselage"


def main() -> NoReturn:
    """Become the program, with the arguments of this process."""
    os.execv(_PROGRAM, ["fuselage", *sys.argv[1:]])


def _run(
    command: str, paths: list[AnyPath], options: dict[str, Any]
) -> subprocess.CompletedProcess[str]:
    texts = [path_text("a file", path) for path in paths] + arguments_of(options)
    return subprocess.run(
        [_PROGRAM, command, *all_as_bytes(texts)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",  # messages name paths, which may have any bytes
        check=False,
    )


def run_command(command: str, paths: list[AnyPath], options: dict[str, Any]) -> str:
    """Give the output of a command; raise its message as an Error."""
    done = _run(command, paths, options)
    if done.returncode != 0:
        raise _error(command, done)
    return done.stdout


def _error(command: str, done: subprocess.CompletedProcess[str]) -> Error:
    if done.returncode < 0:
        return Error(f"fuselage {command} was ended by signal {-done.returncode}")
    lines = [line for line in done.stderr.splitlines() if not line.startswith("fuselage: note: ")]
    return Error((lines or ["fuselage failed without a message"])[-1].removeprefix("fuselage: "))


def convert(model: AnyPath, output: AnyPath, **options: Any) -> None:
    """Write a model as a model directory.

    model: as for Translator.
    output: the directory to write.
    options: those of `fuselage convert`, as half=True, vocabs=[source, target], beam_size=4.
    """
    run_command("convert", [], {"model": model, "output": output, **options})


def quantize(model: AnyPath, output: AnyPath, precision: str | None = None, **options: Any) -> str:
    """Write a model as a model directory with its matrices in fewer bits; gives a report.

    precision: "int8" unless it is given.
    options: those of `fuselage quantize`, as precision_of="Wemb=int8,*=int4".
    """
    named = {"model": model, "output": output, "precision": precision, **options}
    return run_command("quantize", [], named)


@dataclass(frozen=True)
class Check:
    """The result of check().

    passed: all differences are within the limits.
    report: a line for each precision.
    """

    passed: bool
    report: str


def check(model: AnyPath, precision: str | None = None, **options: Any) -> Check:
    """Tell whether a model computes what it did when it was converted.

    precision: None is fp32 and the model's own.
    options: those of `fuselage check`, as bisect=True.
    """
    done = _run("check", [], {"model": model, "precision": precision, **options})
    if done.returncode != 0 and not done.stdout:
        raise _error("check", done)
    return Check(done.returncode == 0, done.stdout)


def lexicon(
    source: AnyPath, target: AnyPath, output: AnyPath, model: AnyPath | None = None, **options: Any
) -> None:
    """Make the lexical table of a shortlist from parallel text, two files with a sentence a line.

    output: a text, or Marian's binary form if it ends in .bin.
    model: the one whose vocabularies are used, as for Translator.
    options: those of `fuselage lexicon`, as first=50, best=50.
    """
    run_command("lexicon", [source, target], {"output": output, "model": model, **options})


def info(model: AnyPath | None = None, **options: Any) -> dict[str, Any]:
    """Tell what a model is: architecture, sizes, precisions, vocabularies, defaults."""
    return json.loads(run_command("info", [], {"model": model, **options, "format": "json"}))
