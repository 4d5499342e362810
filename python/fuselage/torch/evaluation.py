"""Evaluation of a graph for one batch: all steps at once, and loops step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from fuselage import Error
from fuselage.structure import Node, RowMap, Structure
from fuselage.torch.forms import apply_form
from fuselage.torch.fusion import Fused
from fuselage.torch.iterations import Iterations
from fuselage.torch.plan import Loop, Step
from fuselage.torch.rows import Rows, read_path
from fuselage.torch.scan import linear_scan

Change = Callable[[str, Tensor], Tensor]


class Evaluation:
    """The values of a batch, for all steps of its loops; the context of forms."""

    def __init__(
        self, structure: Structure, rows: Rows, leaves: Mapping[str, Tensor], change: Change
    ) -> None:
        self.structure = structure
        self.rows = rows
        self.leaves = leaves
        self.change = change
        self.values: dict[int, Tensor] = {}

    @property
    def dtype(self) -> torch.dtype:
        """Give the type of numbers of the module's parameters."""
        return next(iter(self.leaves.values())).dtype if self.leaves else torch.get_default_dtype()

    def run(self, plan: Sequence[Step | Fused]) -> None:
        """Compute the values of the plan's nodes."""
        for step in plan:
            if isinstance(step, Loop):
                self._run_loop(step)
            elif isinstance(step, Node):
                self.compute(step)
            else:
                step.run(self)

    def compute(self, node: Node) -> None:
        """Compute the value of a node."""
        self.set(node, self._compute(node))

    def set(self, node: Node, result: Tensor) -> None:
        """Set the value of a node."""
        value = self.structure.values[node.results[0]]
        self.values[node.results[0]] = self.change(value.name, result) if value.name else result

    # --- The context of forms ---

    def dims(self, value: int) -> tuple[int, ...]:
        """Give the dimensions of a row."""
        return self.structure.values[value].dims

    def domain(self, value: int) -> int:
        """Give the domain of a value."""
        return self.structure.values[value].domain

    def axes(self, domain: int) -> int:
        """Give the number of axes of a domain."""
        return len(self.rows.axes(domain))

    def mask(self, domain: int) -> Tensor | None:
        """Tell which rows of a domain exist."""
        return self.rows.mask(domain)

    def positions(self, domain: int) -> Tensor:
        """Give the position of each row."""
        return self.rows.positions(domain)

    def row_map(self, index: int) -> RowMap:
        """Give a map by its number."""
        return self.structure.maps[index]

    def read(self, value: int, tensor: Tensor, via: Sequence[int]) -> tuple[Tensor, Tensor | None]:
        """Read rows through a path of maps."""
        return read_path(
            self.rows, [self.row_map(index) for index in via], tensor, len(self.dims(value))
        )

    # --- Nodes ---

    def _compute(self, node: Node) -> Tensor:
        if node.op in ("param", "input", "constant"):
            return self._leaf(node)
        operands = [self.values[operand] for operand in node.operands]
        if node.op in ("collect", "history"):
            return operands[0]
        if node.op == "state":
            return self._delayed(node, operands[0])
        return apply_form(self, self.structure, node, operands)

    def _leaf(self, node: Node) -> Tensor:
        dims = self.dims(node.results[0])
        if node.op == "constant":
            # A constant is f32, whatever the rest is computed in.
            numbers = torch.tensor(node.attributes["values"], dtype=torch.float32)
            values = numbers.to(self.rows.device, self.dtype)
            return values[0].expand(dims) if values.numel() == 1 else values.reshape(dims)
        name = node.attributes["name"]
        if node.op == "param":
            return self.leaves[name]
        if name not in self.rows.inputs:
            raise Error(f"torch: there is no input '{name}'")
        given = self.rows.inputs[name]
        return given if isinstance(given, Tensor) else given.values

    # --- Loops ---

    def initial(self, state: Node) -> Tensor:
        """Give the value of a state before the first step, with an axis of size 1 for steps."""
        first = self.values[state.operands[0]]
        rows = first.dim() - len(self.dims(state.operands[0]))
        return first.unsqueeze(1) if rows else first[None, None]

    def _delayed(self, state: Node, first: Tensor) -> Tensor:
        """Give a state whose next value does not depend on it: that value one step before."""
        nexts = [
            n for n in self.structure.nodes if n.op == "next" and n.operands[0] == state.results[0]
        ]
        return self.delayed(state, self.values[nexts[0].operands[1]], self.domain(state.results[0]))

    def delayed(self, state: Node, following: Tensor, domain: int) -> Tensor:
        """Give the values of a state, from those that follow them."""
        first = self.initial(state)
        steps = self.rows.size(self.rows.axes(domain)[-1])
        shape = torch.broadcast_shapes(first[:, :1].shape, following[:, :1].shape)
        following = following.expand((*shape[:1], steps, *shape[2:]))
        first = first.expand(shape)
        if not self.structure.domains[domain].reversed:
            return torch.cat([first, following[:, :-1]], 1)
        shifted = torch.cat([following[:, 1:], first], 1)
        # The first iteration of a sentence is at its last position.
        positions = self.positions(domain)
        ends = positions == self.rows.lengths[self.rows.counted(domain)][:, None] - 1
        return torch.where(ends.reshape(ends.shape + (1,) * (shifted.dim() - 2)), first, shifted)

    def _run_loop(self, loop: Loop) -> None:
        if loop.is_affine(self.structure):
            self._solve(loop)
        else:
            Iterations(self, loop).run()

    def _solve(self, loop: Loop) -> None:
        """Give a linear recurrence: each value of the loop is a * state + b."""
        ((state, following),) = loop.states.items()
        zero = torch.zeros((), dtype=self.initial(state).dtype, device=self.initial(state).device)
        parts: dict[int, tuple[Tensor, Tensor]] = {state.results[0]: (zero + 1, zero)}
        for node in loop.nodes:
            if node.op in ("state", "next"):
                continue
            terms = [parts.get(v) or (None, self._aligned(v, node)) for v in node.operands]
            parts[node.results[0]] = _affine(node.op, terms)
        a, b = parts[following]
        first = self.initial(state)
        steps = self.rows.size(self.rows.axes(loop.domain)[-1])
        mask = (
            self.mask(loop.domain) if self.structure.domains[loop.domain].kind == "scan" else None
        )
        if mask is not None:
            mask = mask.reshape(mask.shape + (1,) * len(self.dims(state.results[0])))
            a, b = torch.where(mask, a, zero + 1), torch.where(mask, b, zero)
        shape = torch.broadcast_shapes(a.shape, b.shape, first.shape)
        shape = (*shape[:1], steps, *shape[2:])
        a, b, first = a.expand(shape), b.expand(shape), first.expand((*shape[:1], 1, *shape[2:]))
        backwards = self.structure.domains[loop.domain].reversed
        if backwards:
            a, b = a.flip(1), b.flip(1)
        y = linear_scan(a, b, first)
        before = torch.cat([first, y[:, :-1]], 1)
        if backwards:
            y, before = y.flip(1), before.flip(1)
        for node in loop.nodes:
            if node.results:
                a, b = parts[node.results[0]]
                result = node.results[0]
                value = (
                    before
                    if node is state
                    else y
                    if result == following and mask is None
                    else a * before + b
                )
                self.set(node, value)

    def _aligned(self, value: int, node: Node) -> Tensor:
        """Give an operand from outside, with the dimensions of the node's rows."""
        tensor, own, dims = self.values[value], self.dims(value), self.dims(node.results[0])
        if own == dims:
            return tensor
        rows = tuple(tensor.shape[: tensor.dim() - len(own)])
        return tensor.reshape(
            rows
            + (
                dims
                if tensor.numel() and len(own) == len(dims) and own != (1,)
                else (1,) * len(dims)
            )
        )


def _affine(op: str, terms: list[tuple[Tensor | None, Tensor]]) -> tuple[Tensor, Tensor]:
    """Give a and b of a result a * state + b; a is None for an operand from outside of the loop."""
    if op == "select_rows":
        (a, b) = terms[0]
    elif op == "neg":
        ((a, b),) = terms
        a, b = -a, -b
    elif op == "mul":
        (a, b), (c, d) = terms
        a, b = (a * d, b * d) if a is not None else (c * b, d * b)
    else:
        (a, b), (c, d) = terms
        if op == "sub":
            c, d = None if c is None else -c, -d
        a, b = c if a is None else a if c is None else a + c, b + d
    return a, b
