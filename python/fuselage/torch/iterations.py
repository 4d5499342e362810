"""A loop that is evaluated step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from fuselage.structure import Node, RowMap
from fuselage.torch.forms import apply_form
from fuselage.torch.plan import Loop
from fuselage.torch.rows import read_path

if TYPE_CHECKING:
    from fuselage.torch.evaluation import Evaluation


class Iterations:
    """A loop step by step; the context of forms for one step.

    Values of the loop have size 1 in the axis of steps. What comes from outside is read once for
    all steps, and cut.
    """

    def __init__(self, outside: Evaluation, loop: Loop) -> None:
        self.outside = outside
        self.structure = outside.structure
        self.rows = outside.rows
        self.loop = loop
        self.inside = {result for node in loop.nodes for result in node.results}
        self.axis = self.rows.counted(loop.domain)
        self.is_scan = self.structure.domains[loop.domain].kind == "scan"
        self.step = 0
        self.current: dict[int, Tensor] = {}
        self.past: dict[int, list[Tensor]] = {value: [] for value in self.inside}
        self.reads: dict[tuple[int, tuple[int, ...]], tuple[Tensor, Tensor | None]] = {}

    def run(self) -> None:
        """Compute all values of the loop, for all steps."""
        count = self.rows.size(self.rows.axes(self.loop.domain)[-1])
        backwards = self.structure.domains[self.loop.domain].reversed
        states = {state: self.outside.initial(state) for state in self.loop.states}
        for self.step in range(count - 1, -1, -1) if backwards else range(count):
            self._iterate(states)
        for value, steps in self.past.items():
            if self._is_used_outside(value):
                self.outside.values[value] = self._stacked(
                    value, steps[::-1] if backwards else steps
                )

    def _iterate(self, states: dict[Node, Tensor]) -> None:
        for node in self.loop.nodes:
            if node.op == "next":
                continue
            if node.op == "state":
                result = states[node]
            elif node.op in ("collect", "history"):
                result = self._operand(node.operands[0])
            else:
                operands = [self._operand(operand) for operand in node.operands]
                result = apply_form(self, self.structure, node, operands)
            name = self.structure.values[node.results[0]].name
            result = self.outside.change(name, result) if name else result
            self.current[node.results[0]] = result
            self.past[node.results[0]].append(result)
        valid = self.mask(self.loop.domain) if self.is_scan else None
        for state, following in self.loop.states.items():
            new = self._operand(following)
            if valid is not None:
                new = torch.where(
                    valid.reshape(valid.shape + (1,) * (new.dim() - 2)), new, states[state]
                )
            states[state] = new

    # --- The context of forms ---

    @property
    def dtype(self) -> torch.dtype:
        """Give the type of numbers of the module's parameters."""
        return self.outside.dtype

    def dims(self, value: int) -> tuple[int, ...]:
        """Give the dimensions of a row."""
        return self.outside.dims(value)

    def domain(self, value: int) -> int:
        """Give the domain of a value."""
        return self.outside.domain(value)

    def axes(self, domain: int) -> int:
        """Give the number of axes of a domain."""
        return self.outside.axes(domain)

    def mask(self, domain: int) -> Tensor | None:
        """Tell which rows of a domain exist in this step."""
        mask = self.outside.mask(domain)
        return None if mask is None else self._cut(mask, domain)

    def positions(self, domain: int) -> Tensor:
        """Give the position of each row."""
        return self._cut(self.outside.positions(domain), domain)

    def row_map(self, index: int) -> RowMap:
        """Give a map by its number."""
        return self.outside.row_map(index)

    def read(self, value: int, tensor: Tensor, via: Sequence[int]) -> tuple[Tensor, Tensor | None]:
        """Read rows through a path of maps."""
        maps = [self.row_map(index) for index in via]
        if value in self.inside:
            return self._read_inside(value, maps)
        key = (value, tuple(via))
        if key not in self.reads:
            self.reads[key] = self.outside.read(value, self.outside.values[value], via)
        rows, found = self.reads[key]
        start = maps[0].source if maps else self.domain(value)
        return self._cut(rows, start), None if found is None else self._cut(found, start)

    # --- Rows of one step ---

    def _read_inside(self, value: int, maps: list[RowMap]) -> tuple[Tensor, Tensor | None]:
        tensor = self.current[value]
        dims = len(self.dims(value))
        last = maps[-1] if maps else None
        if last is not None and self._is_prefix(self.domain(value)):
            if last.kind == "neighbour":
                at = self.step + last.offset
                found = torch.full((1, 1), at >= 0, device=tensor.device)
                tensor = self.past[value][max(at, 0)]
                rest, more = read_path(self.rows, maps[:-1], tensor, dims)
                return rest, found if more is None else found & more
            if last.kind == "right":
                steps = self.past[value]
                shape = torch.broadcast_shapes(*(each.shape for each in steps))
                tensor = torch.cat([each.expand(shape) for each in steps], 1)
        return read_path(self.rows, maps, tensor, dims)

    def _operand(self, value: int) -> Tensor:
        if value in self.inside:
            return self.current[value]
        return self._cut(self.outside.values[value], self.domain(value))

    def _cut(self, tensor: Tensor, domain: int) -> Tensor:
        """Give the rows of this step."""
        declared = self.structure.domains[domain]
        if declared.kind == "pairs":
            left, right = self.rows.left(domain), self.rows.right(domain)
            tensor = self._cut(tensor, left)
            if self._is_prefix(right) and self.rows.counted(right) == self.axis:
                at = len(self.rows.axes(domain)) - 1
                if tensor.shape[at] > self.step + 1:
                    tensor = tensor.narrow(at, 0, self.step + 1)
            return tensor
        if not self._is_stepped(domain):
            return tensor
        at = len(self.rows.axes(domain)) - 1
        return tensor.narrow(at, self.step, 1) if tensor.shape[at] > 1 else tensor

    def _is_stepped(self, domain: int) -> bool:
        if self.is_scan:
            return domain == self.loop.domain
        kind = self.structure.domains[domain].kind
        return kind in ("parent", "hypothesis", "prefix") and self.rows.counted(domain) == self.axis

    def _is_prefix(self, domain: int) -> bool:
        return self.structure.domains[domain].kind == "prefix"

    # --- Results ---

    def _is_used_outside(self, value: int) -> bool:
        members = set(self.loop.nodes)
        users = (n for n in self.structure.nodes if value in n.operands and n not in members)
        return value in self.structure.outputs.values() or any(users)

    def _stacked(self, value: int, steps: list[Tensor]) -> Tensor:
        domain = self.domain(value)
        declared = self.structure.domains[domain]
        is_pair = declared.kind == "pairs"
        at = len(self.rows.axes(self.rows.left(domain) if is_pair else domain)) - 1
        if is_pair and self._is_prefix(self.rows.right(domain)):
            last = len(self.rows.axes(domain)) - 1
            behind = 2 * (steps[0].dim() - 1 - last)
            steps = [
                torch.nn.functional.pad(each, (0,) * behind + (0, len(steps) - each.shape[last]))
                for each in steps
            ]
        shape = torch.broadcast_shapes(*(each.shape for each in steps))
        return torch.cat([each.expand(shape) for each in steps], at)
