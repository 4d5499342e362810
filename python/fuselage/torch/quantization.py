"""Quantized numbers as the engine has them, with gradients that pass as if nothing were rounded.

A quantized tensor is represented by the numbers that it stands for. Scales and integers are
computed in float32 in the engine's order (fuselage/base/quantized.h, logarithmic.h).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fuselage import Error
from fuselage.structure import Node
from fuselage.torch.forms import Context, register_form

_LEAST_SCALE = 2 * torch.finfo(torch.float32).tiny
_TOP_EXPONENT, _TOP_ROW_EXPONENT = 7, 6
_ROUNDS = 20
# Elements of a part: three tensors of this size fit in a core's second cache.
_PART = 1 << 16


def _quantize(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x = operands[0]
    settings = node.attributes
    dims = context.dims(node.results[0])
    vectors = x.reshape(x.shape[: x.dim() - len(context.dims(node.operands[0]))] + dims)
    return _StraightThrough.apply(vectors, settings, operands[1:])


class _StraightThrough(torch.autograd.Function):
    """The rounded numbers, exactly; gradients pass (Bengio et al. 2013, section 1).

    Parameters stay in float, so the error of rounding a weight is kept for the updates that follow.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, settings: dict[str, Any], scales: list[Tensor]) -> Tensor:
        return _rounded(x.float(), settings, scales).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return gradient, None, None


def _rounded(x: Tensor, settings: dict[str, Any], scales: list[Tensor]) -> Tensor:
    """Give the nearest numbers that the vectors along the last dimension can represent."""
    to = settings["to"]
    if to in ("bf16", "f16"):
        return x.to(torch.bfloat16 if to == "bf16" else torch.float16).float()
    if to not in ("qint8", "qint16", "qlog4"):
        raise Error(f"torch: numbers cannot be quantized to {to}")
    top = x.abs().amax(-1, keepdim=True)
    if scales:
        scale = scales[0].float().reshape(())
    elif settings["given_scale"] > 0:
        scale = torch.tensor(settings["given_scale"], dtype=torch.float32, device=x.device)
    elif to == "qlog4":
        scale = _fitted_scale(x, top)
    else:
        scale = top / settings["largest"]
        scale = torch.where(scale < _LEAST_SCALE, 0.0, scale)
        if settings["largest_sum"] > 0:
            scale = _bounded_scale(x, scale, settings["largest_sum"])
    inverse = torch.where(scale > 0, 1 / scale, 0.0)
    q = x * inverse
    if to == "qlog4":
        power = _nearest_power(q, 0, _TOP_EXPONENT)
        return torch.where(scale > 0, scale * torch.where(x < 0, -power, power), 0.0)
    if settings["logarithmic"]:
        power = _nearest_power(q, 0, _TOP_ROW_EXPONENT)
        return scale * torch.where(q.abs() < 0.5, 0.0, torch.where(q < 0, -power, power))
    return scale * torch.round(q).clamp(-settings["largest"], settings["largest"])


def _nearest_power(q: Tensor, least: int, most: int) -> Tensor:
    """Give the power of two nearest to |q|: half a mantissa carries into the exponent."""
    biased = (q.abs().contiguous().view(torch.int32) + 0x00400000) >> 23
    return torch.exp2((biased - 127).clamp(least, most).float())


def _bounded_scale(x: Tensor, scale: Tensor, largest_sum: int) -> Tensor:
    """Give a scale that bounds the sum of the magnitudes of a vector's integers."""
    needed = x.double().abs().sum(-1, keepdim=True) / (largest_sum - 0.5 * x.shape[-1])
    above = torch.nextafter(needed.float(), torch.full_like(scale, torch.inf))
    return torch.where((scale > 0) & (scale < needed), above, scale)


def _fitted_scale(x: Tensor, top: Tensor) -> Tensor:
    """Fit levels and scale in turn (Aji and Heafield 2020, section 3.3), in parts for caches."""
    rows, tops = x.reshape(-1, x.shape[-1]), top.reshape(-1, 1)
    part = max(1, _PART // x.shape[-1]) if x.device.type == "cpu" else max(1, rows.shape[0])
    fitted = [_fit(w, t) for w, t in zip(rows.split(part), tops.split(part), strict=True)]
    return torch.cat(fitted).reshape(top.shape)


def _fit(rows: Tensor, top: Tensor) -> Tensor:
    """Give the scale of each row: of those that the fit ends at, and that which reaches the top."""
    magnitudes = rows.abs()
    exact = top / 128
    exact = torch.where(exact < _LEAST_SCALE, 0.0, exact)
    largest = exact.bfloat16().float()
    scale = largest.clone()
    moving = torch.arange(rows.shape[0], device=rows.device)
    for _ in range(_ROUNDS):
        w, before = magnitudes[moving], scale[moving]
        t = _levels(w, before)
        product = (w * t).sum(-1, keepdim=True, dtype=torch.float64)
        square = (t * t).sum(-1, keepdim=True, dtype=torch.float64)
        following = torch.where(before > 0, (product / square).float(), before)
        scale[moving] = following
        moving = moving[(following != before).squeeze(-1)]
        if moving.numel() == 0:
            break
    fitted = scale.bfloat16().float()
    is_worse = _error(magnitudes, largest) < _error(magnitudes, fitted)
    chosen = torch.where(is_worse, largest, fitted)
    return torch.where(_error(magnitudes, exact) == 0, exact, chosen)


def _levels(magnitudes: Tensor, scale: Tensor) -> Tensor:
    """Give the power of two of 0 to 7 nearest to each magnitude in scales."""
    q = (magnitudes * torch.where(scale > 0, 1 / scale, 0.0)).view(torch.int32)
    biased = q.add_(0x00400000).bitwise_right_shift_(23).clamp_(127, 127 + _TOP_EXPONENT)
    return biased.bitwise_left_shift_(23).view(torch.float32)


def _error(magnitudes: Tensor, scale: Tensor) -> Tensor:
    """Give the sum of squared errors of each row, in float64."""
    error = magnitudes.double() - scale.double() * _levels(magnitudes, scale)
    return error.square_().sum(-1, keepdim=True)


register_form("quantize", _quantize)
register_form("dequantize", lambda context, node, operands: operands[0])
