"""Checkpoints: all that a training needs to go on. A kill while one is written loses nothing.

A checkpoint is a folder of files of at most 16 MB, and `state.json`, which is written last.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fuselage import Error
from fuselage.train.compact import compact, expand

_PART_BYTES = 15_500_000
_STATE = "state.json"


def save_checkpoint(
    folder: Path, tensors: dict[str, Tensor], state: dict[str, Any], *, small: bool = False
) -> None:
    """Write tensors and a state of JSON values in place of the checkpoint before.

    small: the tensors are those of Trainer.save(), which are stored in fewer bits; see compact.py.
    """
    partial, old = folder.with_suffix(".partial"), folder.with_suffix(".old")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    index = []
    for number, part in enumerate(_parts(compact(tensors) if small else tensors)):
        name = f"part{number}.bin"
        with (partial / name).open("wb") as file:
            for data in part["data"]:
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
        index.append({"file": name, "tensors": part["tensors"]})
    with (partial / _STATE).open("w", encoding="utf-8") as file:
        json.dump({"state": state, "parts": index}, file)
        file.flush()
        os.fsync(file.fileno())
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    partial.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """Read the newest whole checkpoint; None if there is none. Raises Error for a damaged one."""
    for candidate in (folder, folder.with_suffix(".old")):
        if not (candidate / _STATE).exists():
            continue
        try:
            stored = json.loads((candidate / _STATE).read_text(encoding="utf-8"))
            tensors = {}
            for part in stored["parts"]:
                data = np.fromfile(candidate / part["file"], np.uint8)
                for each in part["tensors"]:
                    _read_slice(tensors, each, data)
            return expand(tensors), stored["state"]
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise Error(f"the checkpoint '{candidate}' is damaged: {error}") from error
    return None


def _parts(tensors: dict[str, Tensor]) -> Iterator[dict[str, Any]]:
    """Cut the tensors' bytes into parts; a tensor may go on in the next one."""
    part: dict[str, Any] = {"tensors": [], "data": []}
    size = 0
    for name, tensor in tensors.items():
        tensor = tensor.detach().cpu().contiguous()
        kind = str(tensor.dtype).removeprefix("torch.")
        data = tensor.reshape(-1).view(torch.uint8).numpy()
        at = 0
        while at < len(data) or (len(data) == 0 and at == 0):
            count = min(len(data) - at, _PART_BYTES - size)
            part["tensors"].append(
                {
                    "name": name,
                    "type": kind,
                    "shape": list(tensor.shape),
                    "at": at,
                    "bytes": count,
                    "in": size,
                }
            )
            part["data"].append(data[at : at + count].tobytes())
            at, size = at + count, size + count
            if size == _PART_BYTES:
                yield part
                part, size = {"tensors": [], "data": []}, 0
            if len(data) == 0:
                break
    if part["tensors"]:
        yield part


def _read_slice(tensors: dict[str, Tensor], each: dict[str, Any], data: np.ndarray) -> None:
    if each["name"] not in tensors:
        tensors[each["name"]] = torch.empty(each["shape"], dtype=getattr(torch, each["type"]))
    if each["bytes"] == 0:
        return
    whole = tensors[each["name"]].reshape(-1).view(torch.uint8)
    stored = torch.from_numpy(data[each["in"] : each["in"] + each["bytes"]].copy())
    whole[each["at"] : each["at"] + each["bytes"]] = stored
