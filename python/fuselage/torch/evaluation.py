"""Evaluation of a graph for one batch: all steps at once, and loops step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from fuselage import Error
from fuselage.structure import Node, RowMap, Structure
from fuselage.torch.forms import form_of
from fuselage.torch.plan import Loop, Step
from fuselage.torch.rows import Rows
from fuselage.torch.scan import linear_scan

Change = Callable[[str, Tensor], Tensor]


class Evaluation:
    """The values of a batch, for all steps of its loops; the context of forms."""

    def __init__(self, structure: Structure, rows: Rows, leaves: Mapping[str, Tensor], change: Change) -> None:
        self.structure = structure
        self.rows = rows
        self.leaves = leaves
        self.change = change
        self.values: dict[int, Tensor] = {}

    @property
    def dtype(self) -> torch.dtype:
        """Give the type of numbers of the module's parameters."""
        return next(iter(self.leaves.values())).dtype if self.leaves else torch.get_default_dtype()

    def run(self, plan: Sequence[Step]) -> None:
        """Compute the values of the plan's nodes."""
        for step in plan:
            if isinstance(step, Loop):
                self._run_loop(step)
            else:
                self._set(step, self._compute(step))

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
        return read_path(self.rows, [self.row_map(index) for index in via], tensor, len(self.dims(value)))

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

    def _set(self, node: Node, result: Tensor) -> None:
        value = self.structure.values[node.results[0]]
        self.values[node.results[0]] = self.change(value.name, result) if value.name else result

    # --- Loops ---

    def initial(self, state: Node) -> Tensor:
        """The value of a state before the first step, with an axis of size 1 for steps."""
        first = self.values[state.operands[0]]
        rows = first.dim() - len(self.dims(state.operands[0]))
        return first.unsqueeze(1) if rows else first[None, None]

    def _delayed(self, state: Node, first: Tensor) -> Tensor:
        """A state whose next value does not depend on it: that value one step before."""
        nexts = [n for n in self.structure.nodes if n.op == "next" and n.operands[0] == state.results[0]]
        return self.delayed(state, self.values[nexts[0].operands[1]], self.domain(state.results[0]))

    def delayed(self, state: Node, following: Tensor, domain: int) -> Tensor:
        """The values of a state, from those that follow them."""
        first = self.initial(state)
        steps = self.rows.size(self.rows.axes(domain)[-1])
        shape = torch.broadcast_shapes(first[:, :1].shape, following[:, :1].shape)
        following = following.expand(shape[:1] + (steps,) + shape[2:])
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
        """A linear recurrence: each value of the loop is a × state + b."""
        ((state, following),) = loop.states.items()
        zero = torch.zeros((), dtype=self.initial(state).dtype, device=self.initial(state).device)
        parts: dict[int, tuple[Tensor, Tensor]] = {state.results[0]: (zero + 1, zero)}
        for node in loop.nodes:
            if node.op in ("state", "next"):
                continue
            terms = [
                parts.get(v) or (None, self._aligned(v, node)) for v in node.operands
            ]
            parts[node.results[0]] = _affine(node.op, terms)
        a, b = parts[following]
        first = self.initial(state)
        steps = self.rows.size(self.rows.axes(loop.domain)[-1])
        mask = self.mask(loop.domain) if self.structure.domains[loop.domain].kind == "scan" else None
        if mask is not None:
            mask = mask.reshape(mask.shape + (1,) * len(self.dims(state.results[0])))
            a, b = torch.where(mask, a, zero + 1), torch.where(mask, b, zero)
        shape = torch.broadcast_shapes(a.shape, b.shape, first.shape)
        shape = shape[:1] + (steps,) + shape[2:]
        a, b, first = a.expand(shape), b.expand(shape), first.expand(shape[:1] + (1,) + shape[2:])
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
                value = before if node is state else y if result == following and mask is None else a * before + b
                self._set(node, value)

    def _aligned(self, value: int, node: Node) -> Tensor:
        """An operand from outside, with the dimensions of the node's rows."""
        tensor, own, dims = self.values[value], self.dims(value), self.dims(node.results[0])
        if own == dims:
            return tensor
        rows = tuple(tensor.shape[: tensor.dim() - len(own)])
        return tensor.reshape(rows + (dims if tensor.numel() and len(own) == len(dims) and own != (1,) else (1,) * len(dims)))


class Iterations:
    """A loop step by step; the context of forms for one step.

    Values of the loop have size 1 in the axis of steps. What comes from outside is read for all steps
    once, and cut.
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
                self.outside.values[value] = self._stacked(value, steps[::-1] if backwards else steps)

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
                new = torch.where(valid.reshape(valid.shape + (1,) * (new.dim() - 2)), new, states[state])
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
        """The rows of this step."""
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


def apply_form(context: object, structure: Structure, node: Node, operands: list[Tensor]) -> Tensor:
    """Evaluate a node by its form; raises Error if it has none."""
    form = form_of(node)
    if form is None:
        raise Error(
            f"torch: {structure.describe(node)} has no torch form; give it one with register_form, or the "
            "graph before the passes that made it"
        )
    return form(context, node, operands)


def read_path(rows: Rows, maps: Sequence[RowMap], tensor: Tensor, dims: int) -> tuple[Tensor, Tensor | None]:
    """Read rows of `dims` dimensions through maps, the last of which leads to the tensor's domain."""
    found: Tensor | None = None
    for row_map in reversed(maps):
        tensor, here = rows.pull(tensor, row_map, dims)
        if found is not None:
            found, _ = rows.pull(found, row_map, 0)
        if here is not None:
            found = here if found is None else found & here
    return tensor, found


def _affine(op: str, terms: list[tuple[Tensor | None, Tensor]]) -> tuple[Tensor, Tensor]:
    """a and b of a result a × state + b, from those of the operands; a is None outside of the loop."""
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
