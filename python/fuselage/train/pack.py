"""A piece of a training for a machine that has PyTorch and numpy, and nothing else."""

from __future__ import annotations

import io
import tarfile
import tempfile
from pathlib import Path

from fuselage.train.checkpoint import load_checkpoint, save_checkpoint

_PACKAGE = '''"""The part of the package fuselage that trains: no engine."""


class Error(Exception):
    """A mistake of a user."""
'''
_RUN = """#!/bin/sh
# run.sh TIME [OPTION...]: goes on with the training for a time such as 8m, in small checkpoints.
cd "$(dirname "$0")" || exit
PYTHONPATH=code exec python3 -m fuselage.train --output training --small-checkpoints --time "$@"
"""


def pack(folder: Path, path: Path) -> None:
    """Write an archive: the code, a prepared folder with its checkpoint in few bits, and run.sh."""
    package = Path(__file__).parents[1]
    with tarfile.open(path, "w:xz", preset=9) as archive:
        _add(archive, "piece/code/fuselage/__init__.py", _PACKAGE)
        _add(archive, "piece/run.sh", _RUN, 0o755)
        for source in [
            package / "structure.py",
            *_sources(package, "torch"),
            *_sources(package, "train"),
        ]:
            name = source.relative_to(package)
            archive.add(source.resolve(), f"piece/code/fuselage/{name}", filter=_plain)
        for name in ("config.json", "structure.json", "valid.npz"):
            archive.add(folder / name, f"piece/training/{name}", filter=_plain)
        for text in sorted(folder.glob("train*.npz")):
            archive.add(text, f"piece/training/{text.name}", filter=_plain)
        checkpoint = load_checkpoint(folder / "checkpoint")
        if checkpoint is None:
            for start in folder.glob("initial.npz"):
                archive.add(start, f"piece/training/{start.name}", filter=_plain)
            return
        with tempfile.TemporaryDirectory() as small:
            save_checkpoint(Path(small) / "checkpoint", *checkpoint, small=True)
            for part in sorted((Path(small) / "checkpoint").glob("*")):
                archive.add(part, f"piece/training/checkpoint/{part.name}", filter=_plain)


def _sources(package: Path, room: str) -> list[Path]:
    return sorted((package / room).glob("*.py"))


def _add(archive: tarfile.TarFile, name: str, text: str, mode: int = 0o644) -> None:
    content = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """No names of users or machines."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
