"""Small checkpoints: 5 bytes a parameter, not 16, for pieces of a training on several machines.

Weights are stored in fp16, which has more digits than bf16; the difference of their averages in
8 bits with 3 digits (e4m3); what the optimizer keeps in 8 bits with more range (e5m2), of squares
their root. The 8 bits of a tensor have a scale, by which its largest number is the type's largest.
"""

from __future__ import annotations

import torch
from torch import Tensor

_SCALE = "scale/"
_LEAST = 2.0**-16  # of e5m2


def compact(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give the tensors of a checkpoint, named as Trainer.save() does, in fewer bits."""
    stored: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        kind, _, parameter = name.partition("/")
        if kind == "weight":
            stored[name] = tensor.half()
        elif kind == "average":
            weight = tensors[f"weight/{parameter}"].half().float()
            _store(stored, name, tensor.float() - weight, torch.float8_e4m3fn)
        elif kind == "exp_avg":
            _store(stored, name, tensor.float(), torch.float8_e5m2)
        elif kind == "exp_avg_sq":
            _store(stored, name, tensor.float().sqrt(), torch.float8_e5m2)
    return stored


def expand(stored: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give tensors as compact() read them, and others as they are."""
    tensors: dict[str, Tensor] = {}
    for name, tensor in stored.items():
        kind, _, parameter = name.partition("/")
        if kind == "scale":
            continue
        if _SCALE + name not in stored:
            tensors[name] = tensor
            continue
        number = tensor.float() * stored[_SCALE + name]
        if kind == "average":
            number += stored[f"weight/{parameter}"].float()
        tensors[name] = number.square() if kind == "exp_avg_sq" else number
    return tensors


def _store(stored: dict[str, Tensor], name: str, tensor: Tensor, dtype: torch.dtype) -> None:
    largest = tensor.abs().amax() if tensor.numel() else tensor.sum()
    scale = torch.where(largest > 0, largest / torch.finfo(dtype).max, 1.0).reshape(1)
    scaled = tensor / scale
    if name.startswith("exp_avg_sq/"):
        # A root of 0 beside an average that is not would make an update without bounds.
        scaled = torch.where(scaled > 0, scaled.clamp(min=_LEAST), 0.0)
    stored[name], stored[_SCALE + name] = scaled.to(dtype), scale
