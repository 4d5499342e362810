"""Quantized numbers as the engine has them, with gradients that pass as if nothing were rounded.

A quantized tensor is represented by the numbers that it stands for. Scales and integers are
computed in float32 in the engine's order (fuselage/base/quantized.h, logarithmic.h).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from fuselage import Error
from fuselage.structure import Node
from fuselage.torch.fitted_scales import (
    LEAST_SCALE,
    least_exponent,
    scale_of_integers,
    scale_of_powers,
)
from fuselage.torch.forms import Context, register_form

if TYPE_CHECKING:
    from fuselage.torch.module import Module

_TOP_EXPONENT, _TOP_ROW_EXPONENT = 7, 6


@torch.no_grad()
def round_stored(module: Module) -> None:
    """Round the matrices that a model stores in fewer bits to the numbers that it stores, in place.

    These have a quantizer that is marked as `stored`; see fuselage/train/storage.py.
    """
    parameters, producers = module.parameters_by_name(), module.structure.producers
    for node in module.structure.nodes:
        if node.op != "quantize" or not node.attributes.get("stored", False):
            continue
        source = producers[node.operands[0]]
        is_turned = source.op == "transpose"
        if is_turned:
            source = producers[source.operands[0]]
        parameter = parameters[source.attributes["name"]]
        vectors = parameter.mT if is_turned else parameter
        vectors.copy_(_rounded(vectors.float().contiguous(), node.attributes, []))


def _quantize(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x = operands[0]
    settings = node.attributes
    dims = context.dims(node.results[0])
    vectors = x.reshape(x.shape[: x.dim() - len(context.dims(node.operands[0]))] + dims)
    return _StraightThrough.apply(vectors, settings, operands[1:])


class _StraightThrough(torch.autograd.Function):
    """The rounded numbers, exactly; gradients pass (Bengio et al. 2013, section 1).

    Parameters stay in float, so the error of rounding a weight is kept for the updates that follow,
    unless round_stored() drops it.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, settings: dict[str, Any], scales: list[Tensor]) -> Tensor:
        return _rounded(x.float(), settings, scales).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return gradient, None, None


def _rounded(x: Tensor, settings: dict[str, Any], scales: list[Tensor]) -> Tensor:
    """Give the nearest numbers that the vectors along the last dimension can represent.

    settings: attributes of the op `quantize`; and those that only quantizers of stored matrices
        have (fuselage/train/storage.py): `fitted`, for a fitted scale of qint8, `bits` of qlog4,
        and `stored`, which is not read here.
    """
    to = settings["to"]
    if to in ("bf16", "f16"):
        return x.to(torch.bfloat16 if to == "bf16" else torch.float16).float()
    if to not in ("qint8", "qint16", "qlog4"):
        raise Error(f"torch: numbers cannot be quantized to {to}")
    top = x.abs().amax(-1, keepdim=True)
    bits = settings.get("bits", 4)
    if scales:
        scale = scales[0].float().reshape(())
    elif settings["given_scale"] > 0:
        scale = torch.tensor(settings["given_scale"], dtype=torch.float32, device=x.device)
    elif to == "qlog4":
        scale = scale_of_powers(x, top, bits)
    else:
        scale = top / settings["largest"]
        scale = torch.where(scale < LEAST_SCALE, 0.0, scale)
        if settings.get("fitted", False):
            scale = scale_of_integers(x, scale, settings["largest"])
        if settings["largest_sum"] > 0:
            scale = _bounded_scale(x, scale, settings["largest_sum"])
    inverse = torch.where(scale > 0, 1 / scale, 0.0)
    q = x * inverse
    if to == "qlog4":
        power = _nearest_power(q, least_exponent(bits), _TOP_EXPONENT)
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


register_form("quantize", _quantize)
register_form("dequantize", lambda context, node, operands: operands[0])
