"""Steps that compute several nodes at once: products of the same rows, and attention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from fuselage.structure import Node, Structure
from fuselage.torch.plan import Loop, Step

if TYPE_CHECKING:
    from fuselage.torch.evaluation import Evaluation


@dataclass
class Product:
    """A product of rows and a parameter; bias: a parameter that is added to it, or None."""

    node: Node
    bias: int | None
    result: Node


@dataclass
class Products:
    """Products of the same rows, as one."""

    parts: list[Product]

    def run(self, evaluation: Evaluation) -> None:
        """Compute the results."""
        first = self.parts[0].node
        x = evaluation.values[first.operands[0]]
        weights = [evaluation.values[part.node.operands[1]] for part in self.parts]
        if first.attributes["transposed"]:
            weights = [weight.transpose(0, 1) for weight in weights]
        sizes = [weight.shape[1] for weight in weights]
        bias = None
        if any(part.bias is not None for part in self.parts):
            biases = [
                weights[0].new_zeros(size) if part.bias is None else evaluation.values[part.bias]
                for part, size in zip(self.parts, sizes, strict=True)
            ]
            bias = biases[0] if len(biases) == 1 else torch.cat(biases)
        weight = weights[0] if len(weights) == 1 else torch.cat(weights, 1)
        result = _multiplied(x, weight, bias)
        for part, own in zip(self.parts, result.split(sizes, -1), strict=True):
            evaluation.set(part.result, own)


@dataclass
class Attention:
    """Scores of pairs, their softmax over the right members, and the mix of rows by them."""

    nodes: list[Node]

    def run(self, evaluation: Evaluation) -> None:
        """Compute the mixed rows."""
        *selections, dot, softmax, mix = self.nodes
        to_left = softmax.attributes["to"][0]
        if selections[0].attributes["via"] != [to_left]:
            selections.reverse()
        rows = evaluation.rows
        pairs = evaluation.row_map(to_left).source
        sizes = tuple(rows.size(axis) for axis in rows.axes(pairs))
        values = (*(node.operands[0] for node in selections), mix.operands[1])
        q, k, v = (evaluation.values[value] for value in values)
        expected = [sizes[:2], *[(sizes[0], *sizes[2:])] * 2]
        if [each.shape[:-1] for each in (q, k, v)] != expected:
            for node in self.nodes:
                evaluation.compute(node)
            return
        mask = evaluation.mask(pairs)
        heads, scale = dot.attributes["heads"], dot.attributes["scale"]
        evaluation.set(mix, _Attention.apply(q, k, v, mask, heads, scale))


Fused = Products | Attention


def fuse(
    plan: Sequence[Step], structure: Structure, outputs: Iterable[str], keeps: Callable[[str], bool]
) -> list[Step | Fused]:
    """Put nodes of a plan together; a value whose name `keeps` accepts is computed by itself."""
    return _Fusion(plan, structure, {structure.outputs[name] for name in outputs}, keeps).steps()


class _Fusion:
    def __init__(
        self,
        plan: Sequence[Step],
        structure: Structure,
        outputs: set[int],
        keeps: Callable[[str], bool],
    ) -> None:
        self.structure = structure
        self.outputs = outputs
        self.keeps = keeps
        self.plan = plan
        self.nodes = [step for step in plan if not isinstance(step, Loop)]
        every = [node for s in plan for node in (s.nodes if isinstance(s, Loop) else [s])]
        self.uses = Counter(operand for node in every for operand in node.operands)
        self.users: dict[int, list[Node]] = {}
        for node in self.nodes:
            for operand in node.operands:
                self.users.setdefault(operand, []).append(node)

    def steps(self) -> list[Step | Fused]:
        """Parameters come first, so that a step may be as early as its rows."""
        begins: dict[Node, Fused] = {}
        done: set[Node] = set()
        ends: dict[Node, Fused] = {}
        for group in self._products():
            members = [each for part in group.parts for each in {part.node, part.result}]
            done.update(members)
            begins[group.parts[0].node] = group
        for node in self.nodes:
            attention = self._attention(node) if node.op == "segment_softmax" else None
            if attention is not None:
                done.update(attention.nodes)
                ends[attention.nodes[-1]] = attention
        steps: list[Step | Fused] = [n for n in self.nodes if n.op == "param"]
        for step in self.plan:
            if isinstance(step, Node) and step.op == "param":
                continue
            fused = begins.get(step) or ends.get(step) if isinstance(step, Node) else None
            if fused is not None:
                steps.append(fused)
            elif isinstance(step, Loop) or step not in done:
                steps.append(step)
        return steps

    def _is_inner(self, value: int) -> bool:
        """Whether nothing but one node of the plan needs a value."""
        alone = self.uses[value] == 1 and len(self.users.get(value, [])) == 1
        return (
            alone
            and value not in self.outputs
            and not self.keeps(self.structure.values[value].name)
        )

    def _is_parameter(self, value: int, axes: int) -> bool:
        return self.structure.producers[value].op == "param" and len(self._shape_of(value)) == axes

    def _shape_of(self, value: int) -> tuple[int, ...]:
        declared = self.structure.values[value]
        domain = self.structure.domains[declared.domain]
        return (domain.size, *declared.dims) if domain.kind == "vocabulary" else declared.dims

    # --- Products ---

    def _products(self) -> list[Products]:
        groups: dict[Any, Products] = {}
        for node in self.nodes:
            if node.op != "matmul" or not self._is_parameter(node.operands[1], 2):
                continue
            if len(self.structure.values[node.operands[0]].dims) != 1:
                continue
            table = self.structure.producers[node.operands[1]].attributes.get("domain")
            key = (node.operands[0], node.attributes["transposed"], table)
            groups.setdefault(key, Products([])).parts.append(self._product(node))
        return list(groups.values())

    def _product(self, node: Node) -> Product:
        value = node.results[0]
        if self._is_inner(value):
            (add,) = self.users[value]
            others = [operand for operand in add.operands if operand != value]
            if add.op == "add" and len(others) == 1:
                dims = self.structure.values[value].dims
                if self._is_parameter(others[0], 1) and self._shape_of(others[0]) == dims:
                    return Product(node, others[0], add)
        return Product(node, None, node)

    # --- Attention ---

    def _attention(self, softmax: Node) -> Attention | None:
        producers = self.structure.producers
        dot = producers[softmax.operands[0]]
        if dot.op != "head_dot" or len(softmax.attributes["to"]) != 1:
            return None
        selections = [producers[operand] for operand in dot.operands]
        inner = [*(node.results[0] for node in selections), dot.results[0], softmax.results[0]]
        if not all(self._is_inner(value) for value in inner):
            return None
        (mix,) = self.users[softmax.results[0]]
        left = softmax.attributes["to"]
        if mix.op != "mix_rows" or mix.operands[0] != inner[-1] or mix.attributes["to"] != left:
            return None
        right = mix.attributes["via"]
        paths = [node.attributes.get("via") for node in selections]
        if any(node.op != "select_rows" for node in selections) or len(right) != 1:
            return None
        kinds = [self.structure.maps[index].kind for index in (*left, *right)]
        if kinds != ["left", "right"] or paths not in ([left, right], [right, left]):
            return None
        if self.structure.maps[left[0]].source != self.structure.maps[right[0]].source:
            return None
        return Attention([*selections, dot, softmax, mix])


def _is_half(tensor: Tensor) -> bool:
    kind = tensor.device.type
    return torch.is_autocast_enabled(kind) and torch.get_autocast_dtype(kind) is torch.bfloat16


def _multiplied(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if _is_half(x) and not x.is_cuda:
        result: Tensor = _HalfProduct.apply(x, weight, bias)
        return result
    return functional.linear(x, weight.transpose(0, 1), bias)


class _HalfProduct(torch.autograd.Function):
    """A product in bf16 with sums of gradients by the matrix unit too."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        rows = x.reshape(-1, x.shape[-1]).to(torch.bfloat16)
        matrix = weight.to(torch.bfloat16)
        ctx.save_for_backward(rows, matrix)
        ctx.types = x.dtype, weight.dtype, None if bias is None else bias.dtype
        if bias is None:
            result = torch.mm(rows, matrix)
        else:
            result = torch.addmm(bias.to(torch.bfloat16), rows, matrix)
        return result.reshape(*x.shape[:-1], weight.shape[1])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rows, matrix = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.types
        flat = gradient.reshape(-1, gradient.shape[-1]).to(torch.bfloat16)
        to_x = to_weight = to_bias = None
        if ctx.needs_input_grad[0]:
            to_x = torch.mm(flat, matrix.transpose(0, 1)).to(of_x)
            to_x = to_x.reshape(*gradient.shape[:-1], matrix.shape[0])
        if ctx.needs_input_grad[1]:
            # The narrow side is cheap to turn, and a product with it then twice as fast.
            turned = rows.transpose(0, 1)
            if rows.shape[1] <= flat.shape[1]:
                turned = turned.contiguous()
            to_weight = torch.mm(turned, flat).to(of_weight)
        if of_bias is not None and ctx.needs_input_grad[2]:
            to_bias = torch.mm(flat.new_ones(1, len(flat)), flat)[0].to(of_bias)
        return to_x, to_weight, to_bias


class _Attention(torch.autograd.Function):
    """Attention of several heads, with rows [sentences, rows, heads * size] on either side."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, heads: int, scale: float
    ) -> Tensor:
        ctx.types = q.dtype, k.dtype, v.dtype
        dtype = torch.bfloat16 if _is_half(q) else q.dtype
        q, k, v = (_heads_first(each.to(dtype), heads) for each in (q, k, v))
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores.to(torch.promote_types(dtype, torch.float32))
        if scale != 1:
            scores *= scale
        if mask is not None:
            missing = ~mask[:, None]
            scores.masked_fill_(missing, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights.masked_fill_(missing, 0)
        weights = weights.to(dtype)
        ctx.save_for_backward(q, k, v, weights)
        ctx.scale = scale
        return torch.matmul(weights, v).transpose(1, 2).flatten(2)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, weights = ctx.saved_tensors
        mixed = _heads_first(gradient.to(q.dtype), q.shape[1])
        # Matrices that are turned are slow as the left side of many small products.
        to_v = torch.matmul(weights.transpose(-1, -2).contiguous(), mixed)
        to_weights = torch.matmul(mixed, v.transpose(-1, -2))
        wide = torch.promote_types(q.dtype, torch.float32)
        to_weights, weights = to_weights.to(wide), weights.to(wide)
        to_scores = weights * (to_weights - (to_weights * weights).sum(-1, keepdim=True))
        to_scores = (to_scores * ctx.scale).to(q.dtype)
        to_q = torch.matmul(to_scores, k)
        to_k = torch.matmul(to_scores.transpose(-1, -2).contiguous(), q)
        results = (
            each.transpose(1, 2).flatten(2).to(dtype)
            for each, dtype in zip((to_q, to_k, to_v), ctx.types, strict=True)
        )
        return (*results, None, None, None)


def _heads_first(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).contiguous()
