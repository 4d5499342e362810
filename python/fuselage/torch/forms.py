"""The torch form of each op: a function of its operands' tensors that gives its result."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from fuselage import Error
from fuselage.structure import Node, RowMap, Structure


class Context(Protocol):
    """What a form may ask for: types, masks and rows of the values of its node."""

    @property
    def dtype(self) -> torch.dtype:
        """Give the type of numbers of the module's parameters."""

    def dims(self, value: int) -> tuple[int, ...]:
        """Give the dimensions of a row."""

    def mask(self, domain: int) -> Tensor | None:
        """Tell which rows of a domain exist, over its axes; None: all."""

    def domain(self, value: int) -> int:
        """Give the domain of a value."""

    def axes(self, domain: int) -> int:
        """Give the number of axes of a domain."""

    def read(self, value: int, tensor: Tensor, via: Sequence[int]) -> tuple[Tensor, Tensor | None]:
        """Read rows through a path of maps; also gives which rows have an image (None: all)."""

    def positions(self, domain: int) -> Tensor:
        """Give the position of each row."""

    def row_map(self, index: int) -> RowMap:
        """Give a map by its number."""


Form = Callable[[Context, Node, list[Tensor]], Tensor]
_forms: dict[str, Form] = {}


def register_form(op: str, form: Form) -> None:
    """Give an op its torch form: a function of a context, the node and its operands' tensors.

    The tensors have axes for rows, then the dimensions of a row; the result has the dimensions of
    the node's first result. Raises Error if the op has one already.
    """
    if op in _forms:
        raise Error(f"torch: the op '{op}' has a form already")
    _forms[op] = form


def form_of(node: Node) -> Form | None:
    """Give the form of a node's op; None if there is none."""
    return _forms.get(node.op)


def _form(*ops: str) -> Callable[[Form], Form]:
    def register(form: Form) -> Form:
        for op in ops:
            register_form(op, form)
        return form

    return register


def apply_form(
    context: Context, structure: Structure, node: Node, operands: list[Tensor]
) -> Tensor:
    """Evaluate a node by its form; raises Error if it has none."""
    form = form_of(node)
    if form is None:
        raise Error(
            f"torch: {structure.describe(node)} has no torch form; give it one with register_form, "
            "or the graph before the passes that made it"
        )
    return form(context, node, operands)


# --- Elementwise ops ---


_ELEMENTWISE: dict[str, Callable[..., Tensor]] = {
    "neg": torch.neg,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "swish": functional.silu,
    "gelu": functional.gelu,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "abs": torch.abs,
    "sin": torch.sin,
    "cos": torch.cos,
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "max": torch.maximum,
    "min": torch.minimum,
    "equal": lambda a, b: (a == b).to(a.dtype),
    "not_equal": lambda a, b: (a != b).to(a.dtype),
    "less": lambda a, b: (a < b).to(a.dtype),
    "less_equal": lambda a, b: (a <= b).to(a.dtype),
    "greater": lambda a, b: (a > b).to(a.dtype),
    "greater_equal": lambda a, b: (a >= b).to(a.dtype),
    "where": lambda condition, a, b: torch.where(condition != 0, a, b),
}


@_form(*_ELEMENTWISE)
def _elementwise(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    """Give a row is one list of numbers; a list of one number is repeated."""
    dims = context.dims(node.results[0])
    shaped = []
    for value, tensor in zip(node.operands, operands, strict=True):
        own = context.dims(value)
        if own != dims:
            single = math.prod(own) == 1
            tensor = tensor.reshape(_rows(tensor, own) + ((1,) * len(dims) if single else dims))
        shaped.append(tensor)
    result = _ELEMENTWISE[node.op](*shaped)
    return result.expand(_rows(result, dims) + dims)


# --- Products ---


@_form("matmul")
def _matmul(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, w = operands
    return functional.linear(x, w if node.attributes["transposed"] else w.transpose(-1, -2))


@_form("batch_matmul")
def _batch_matmul(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    a, b = operands
    return torch.matmul(a, b.transpose(-1, -2) if node.attributes["transposed"] else b)


@_form("transpose")
def _transpose(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return operands[0].transpose(-1, -2)


@_form("head_dot")
def _head_dot(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    """Multiply slices of two vectors; as matrices where each varies over axes of its own."""
    heads, scale = node.attributes["heads"], node.attributes["scale"]
    a, b = (_heads(each, heads) for each in operands)
    if scale != 1:
        a = a * scale
    return _einsum(a, b, "hk", "hk", "h")


# --- Normalization ---


@_form("softmax")
def _softmax(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return torch.softmax(operands[0], -1)


@_form("log_softmax")
def _log_softmax(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return torch.log_softmax(operands[0], -1)


@_form("log_sum_exp")
def _log_sum_exp(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return _shaped(context, node, torch.logsumexp(operands[0], -1), operands[0])


@_form("layer_norm")
def _layer_norm(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, gain, *bias = operands
    if gain.shape == x.shape[-1:] and all(each.shape == gain.shape for each in bias):
        return functional.layer_norm(x, gain.shape, gain, *bias, eps=node.attributes["epsilon"])
    normal = functional.layer_norm(x, x.shape[-1:], eps=node.attributes["epsilon"]) * gain
    return normal + bias[0] if bias else normal


@_form("rms_norm")
def _rms_norm(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, gain = operands
    return gain * x * torch.rsqrt((x * x).mean(-1, keepdim=True) + node.attributes["epsilon"])


@_form("reduce_sum")
def _reduce_sum(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return _shaped(context, node, operands[0].sum(-1), operands[0])


@_form("reduce_mean")
def _reduce_mean(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return _shaped(context, node, operands[0].mean(-1), operands[0])


@_form("reduce_max")
def _reduce_max(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return _shaped(context, node, operands[0].amax(-1), operands[0])


# --- Shapes ---


@_form("concat")
def _concat(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    parts = []
    shapes = [_rows(t, context.dims(v)) for v, t in zip(node.operands, operands, strict=True)]
    rows = torch.broadcast_shapes(*shapes)
    for value, tensor in zip(node.operands, operands, strict=True):
        parts.append(tensor.expand(rows + context.dims(value)))
    return torch.cat(parts, -1)


@_form("slice")
def _slice(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return operands[0][..., node.attributes["begin"] : node.attributes["end"]]


@_form("slice_leading")
def _slice_leading(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, begin, end = operands[0], node.attributes["begin"], node.attributes["end"]
    return x.narrow(x.dim() - len(context.dims(node.operands[0])), begin, end - begin)


@_form("reshape")
def _reshape(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return _shaped(context, node, operands[0], operands[0])


@_form("expand")
def _expand(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, dims = operands[0], context.dims(node.results[0])
    own = context.dims(node.operands[0])
    rows = _rows(x, own)
    return x.reshape(rows + (1,) * (len(dims) - len(own)) + own).expand(rows + dims)


@_form("permute")
def _permute(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, order = operands[0], node.attributes["order"]
    rows = x.dim() - len(order)
    return x.permute(*range(rows), *(rows + each for each in order))


# --- Rows ---


@_form("select_rows")
def _select_rows(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    rows, found = context.read(node.operands[0], operands[0], node.attributes["via"])
    if found is None:
        return rows
    dims = context.dims(node.results[0])
    found = found.reshape(found.shape + (1,) * len(dims))
    other = (
        operands[1] if len(operands) > 1 else torch.zeros((), dtype=rows.dtype, device=rows.device)
    )
    return torch.where(found, rows, other)


@_form("segment_softmax")
def _segment_softmax(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, axes = _masked(context, node, operands[0], torch.finfo(operands[0].dtype).min)
    return (
        torch.exp(x - torch.logsumexp(x, axes, keepdim=True))
        if len(axes) > 1
        else torch.softmax(x, axes[0])
    )


@_form("segment_log_softmax")
def _segment_log_softmax(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, axes = _masked(context, node, operands[0], torch.finfo(operands[0].dtype).min)
    return x - torch.logsumexp(x, axes, keepdim=True)


@_form("segment_log_sum_exp")
def _segment_log_sum_exp(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, axes = _masked(context, node, operands[0], -math.inf)
    return torch.logsumexp(x, axes)


@_form("max_rows")
def _max_rows(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, axes = _masked(context, node, operands[0], -math.inf)
    return x.amax(axes)


@_form("sum_rows")
def _sum_rows(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, axes = _masked(context, node, operands[0], 0)
    return x.sum(axes)


@_form("mean_rows")
def _mean_rows(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, axes = _masked(context, node, operands[0], 0)
    ones = torch.ones_like(x[..., :1]) if context.dims(node.operands[0]) else torch.ones_like(x)
    count, _ = _masked(context, node, ones, 0)
    return x.sum(axes) / count.sum(axes).clamp(min=1)


@_form("mix_rows")
def _mix_rows(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    """Give a matrix product where the mixed rows do not vary over the axes of the result."""
    weights, x = operands
    heads = context.dims(node.operands[0])[0]
    rows, found = context.read(node.operands[1], x, node.attributes["via"])
    if found is not None:
        rows = torch.where(
            found[..., None], rows, torch.zeros((), dtype=rows.dtype, device=rows.device)
        )
    pairs = context.row_map(node.attributes["to"][0])
    mask = context.mask(pairs.source)
    if mask is not None:
        weights = torch.where(
            mask[..., None], weights, torch.zeros((), dtype=weights.dtype, device=weights.device)
        )
    kept = context.axes(pairs.target)
    mixed = _einsum(weights, _heads(rows, heads), "h", "hk", "hk", kept=kept)
    return mixed.reshape(mixed.shape[:-2] + context.dims(node.results[0]))


# --- Positions ---


@_form("position")
def _position(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    return context.positions(node.attributes["domain"])


@_form("sinusoid")
def _sinusoid(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    """Angles are rounded to float32 in all precisions, as the engine does."""
    half = node.attributes["dim"] // 2
    increment = torch.tensor(math.log(10000.0), dtype=torch.float32) / (half - 1)
    exponents = torch.arange(half, dtype=torch.float32) * -increment
    frequencies = torch.exp(exponents.double()).float().to(operands[0].device)
    angles = (operands[0].float()[..., None] * frequencies).double()
    return torch.cat([torch.sin(angles), torch.cos(angles)], -1).to(context.dtype)


@_form("rotary")
def _rotary(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    x, cos, sin = operands
    heads = node.attributes["heads"]
    split = _heads(x, heads)
    half = split.shape[-1] // 2
    a, b = split[..., :half], split[..., half:]
    cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
    rotated = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
    return rotated.reshape(rotated.shape[:-2] + context.dims(node.results[0]))


# --- Precision ---


@_form("cast")
def _cast(context: Context, node: Node, operands: list[Tensor]) -> Tensor:
    """Round to 16 bits."""
    types: dict[str, Any] = {"bf16": torch.bfloat16, "f16": torch.float16}
    x = operands[0]
    if node.attributes["to"] not in types or not x.is_floating_point():
        return x
    # The type has a gradient of its own, which is rounded too.
    return x.to(types[node.attributes["to"]]).to(x.dtype)


# --- Helpers ---


def _rows(tensor: Tensor, dims: tuple[int, ...]) -> tuple[int, ...]:
    """Give the sizes of the axes of rows."""
    return tuple(tensor.shape[: tensor.dim() - len(dims)])


def _shaped(context: Context, node: Node, result: Tensor, operand: Tensor) -> Tensor:
    """Give a result that has lost dimensions, with the dimensions of its type."""
    rows = _rows(operand, context.dims(node.operands[0]))
    return result.reshape(rows + context.dims(node.results[0]))


def _heads(x: Tensor, heads: int) -> Tensor:
    return x.reshape((*x.shape[:-1], heads, x.shape[-1] // heads))


def _masked(context: Context, node: Node, x: Tensor, fill: float) -> tuple[Tensor, tuple[int, ...]]:
    """Rows that do not exist set to `fill`, and the axes that the op reduces."""
    grouping = context.row_map(node.attributes["to"][0])
    dims = context.dims(node.operands[0])
    kept, axes = context.axes(grouping.target), context.axes(grouping.source)
    mask = context.mask(grouping.source)
    if mask is not None:
        mask = mask.reshape(mask.shape + (1,) * len(dims))
        x = torch.where(mask, x, torch.full((), fill, dtype=x.dtype, device=x.device))
    return x, tuple(range(kept, axes))


def _einsum(
    a: Tensor, b: Tensor, of_a: str, of_b: str, of_result: str, kept: int | None = None
) -> Tensor:
    """Give a product over named dimensions behind the axes of rows.

    An axis of size 1 in one operand is left out there, so that torch can multiply matrices. Axes
    from number `kept` on are summed.
    """
    axes = a.dim() - len(of_a)
    letters = string.ascii_uppercase[:axes]
    sizes = torch.broadcast_shapes(a.shape[:axes], b.shape[:axes])
    names = []
    operands = []
    for tensor, other, dims in ((a, b, of_a), (b, a, of_b)):
        left_out = [
            axis
            for axis in range(axes)
            if tensor.shape[axis] == 1 and (sizes[axis] > 1 or tensor is b) and other.dim() > axis
        ]
        names.append("".join(letters[i] for i in range(axes) if i not in left_out) + dims)
        operands.append(tensor.squeeze(left_out) if left_out else tensor)
    result = letters[: axes if kept is None else kept] + of_result
    return torch.einsum(f"{names[0]},{names[1]}->{result}", *operands)
