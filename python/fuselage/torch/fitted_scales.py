"""Scales of stored matrices that are fitted to the least squared error, as the engine fits them.

Rows are taken in parts that fit in a core's cache. Sums are in float64, as the engine's are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

LEAST_SCALE = 2 * torch.finfo(torch.float32).tiny
_TOP_EXPONENT = 7
_ROUNDS = 20
_SHARES = 11
_SHARE_STEP = 0.05
# Elements of a part: three tensors of this size fit in a core's second cache.
_PART = 1 << 16


def scale_of_powers(x: Tensor, top: Tensor, bits: int) -> Tensor:
    """Fit a scale for each row in turn with the nearest powers (fuselage/base/logarithmic.h).

    x: vectors along the last dimension; top: their largest magnitudes; bits of a number: 1 to 4.
    """
    return _in_parts(x, top, partial(_fit_powers, least=least_exponent(bits)))


def scale_of_integers(x: Tensor, top: Tensor, largest: int) -> Tensor:
    """Fit a scale for each row in turn with the nearest integers (models/quantized/fitted_scale.h).

    x: vectors along the last dimension; top: the scales by which the largest magnitude is the
    integer `largest`.
    """
    return _in_parts(x, top, partial(_fit_integers, largest=float(largest)))


def least_exponent(bits: int) -> int:
    """Give the exponent of the least power of numbers of some bits."""
    return int(_TOP_EXPONENT + 1 - 2 ** (bits - 1))


def _in_parts(x: Tensor, top: Tensor, fit: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    rows, tops = x.reshape(-1, x.shape[-1]).abs(), top.reshape(-1, 1)
    part = max(1, _PART // x.shape[-1]) if x.device.type == "cpu" else max(1, rows.shape[0])
    fitted = [fit(w, t) for w, t in zip(rows.split(part), tops.split(part), strict=True)]
    return torch.cat(fitted).reshape(top.shape)


def _inverse(scale: Tensor) -> Tensor:
    return torch.where(scale > 0, 1 / scale, 0.0)


# --- Powers of two (Aji and Heafield 2020, section 3.3) ---


def _fit_powers(magnitudes: Tensor, top: Tensor, least: int) -> Tensor:
    """Give the scale of each row: of those that the fit ends at, and that which reaches the top."""
    exact = top / 128
    exact = torch.where(exact < LEAST_SCALE, 0.0, exact)
    largest = exact.bfloat16().float()
    scale = largest.clone()
    moving = torch.arange(magnitudes.shape[0], device=magnitudes.device)
    for _ in range(_ROUNDS):
        w, before = magnitudes[moving], scale[moving]
        t = _levels(w, before, least)
        product = (w * t).sum(-1, keepdim=True, dtype=torch.float64)
        square = (t * t).sum(-1, keepdim=True, dtype=torch.float64)
        following = torch.where(before > 0, (product / square).float(), before)
        scale[moving] = following
        moving = moving[(following != before).squeeze(-1)]
        if moving.numel() == 0:
            break
    fitted = scale.bfloat16().float()
    error = partial(_error_of_powers, magnitudes, least=least)
    chosen = torch.where(error(largest) < error(fitted), largest, fitted)
    return torch.where(error(exact) == 0, exact, chosen)


def _levels(magnitudes: Tensor, scale: Tensor, least: int) -> Tensor:
    """Give the power of two nearest to each magnitude in scales."""
    q = (magnitudes * _inverse(scale)).view(torch.int32)
    biased = q.add_(0x00400000).bitwise_right_shift_(23).clamp_(127 + least, 127 + _TOP_EXPONENT)
    return biased.bitwise_left_shift_(23).view(torch.float32)


def _error_of_powers(magnitudes: Tensor, scale: Tensor, least: int) -> Tensor:
    """Give the sum of squared errors of each row, in float64."""
    error = magnitudes.double() - scale.double() * _levels(magnitudes, scale, least)
    return error.square_().sum(-1, keepdim=True)


# --- Integers (Lloyd 1982) ---


def _fit_integers(magnitudes: Tensor, top: Tensor, largest: float) -> Tensor:
    """Give the best share of the top, moved in turn with its integers, in bf16 if that loses."""
    rows = _Rows(magnitudes, largest)
    at_top = rows.error(top)
    error, scale = at_top, top
    for i in range(1, _SHARES + 1):
        share = top * (1 - _as_float(_SHARE_STEP) * i)
        # Smaller ones are not tried, as by the engine.
        found = torch.where(share < LEAST_SCALE, torch.inf, rows.error(share))
        scale = torch.where(found < error, share, scale)
        error = torch.minimum(found, error)
    scale = _moved(rows, scale)
    narrow, narrow_top = scale.bfloat16().float(), top.bfloat16().float()
    chosen = torch.where(rows.error(narrow) < rows.error(narrow_top), narrow, narrow_top)
    return torch.where((top > 0) & (at_top > 0), chosen, top)


def _moved(rows: _Rows, scale: Tensor) -> Tensor:
    scale = scale.clone()
    moving = torch.arange(scale.shape[0], device=scale.device)
    for _ in range(_ROUNDS):
        before = scale[moving]
        following = rows.of(moving).best_scale(before)
        is_over = (following == before) | (following < LEAST_SCALE)
        scale[moving] = torch.where(is_over, before, following)
        moving = moving[~is_over.squeeze(-1)]
        if moving.numel() == 0:
            break
    return scale


class _Rows:
    """Magnitudes of rows, and what their nearest integers for scales make of them."""

    def __init__(self, magnitudes: Tensor, largest: float) -> None:
        self.magnitudes, self.largest = magnitudes, largest
        self.wide = magnitudes.double()

    def of(self, rows: Tensor) -> _Rows:
        return _Rows(self.magnitudes[rows], self.largest)

    def error(self, scale: Tensor) -> Tensor:
        """Give the sum of squared errors of each row, in float64."""
        difference = self.wide - scale.double() * self._integers(scale)
        return difference.square_().sum(-1, keepdim=True)

    def best_scale(self, scale: Tensor) -> Tensor:
        """Give the scale with the least squared error for the integers of another one."""
        q = self._integers(scale)
        product = (self.wide * q).sum(-1, keepdim=True)
        square = (q * q).sum(-1, keepdim=True, dtype=torch.float64)
        return torch.where(square > 0, (product / square).float(), scale)

    def _integers(self, scale: Tensor) -> Tensor:
        return (self.magnitudes * _inverse(scale)).round_().clamp_(max=self.largest)


def _as_float(x: float) -> Tensor:
    """Give the nearest float32, with which a product is in float32 too."""
    return torch.tensor(x, dtype=torch.float32)
