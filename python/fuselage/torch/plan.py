"""The order of evaluation: single nodes, and loops of nodes that need each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from fuselage import Error
from fuselage.structure import Node, Structure


@dataclass
class Loop:
    """Nodes that depend on each other through states, in an order of one iteration.

    domain: of its states, a scan or the parents of the decoder's steps.
    states: for each state node its next value.
    """

    domain: int
    nodes: list[Node]
    states: dict[Node, int] = field(default_factory=dict)

    def is_affine(self, structure: Structure) -> bool:
        """Whether its only state is a linear recurrence, element by element."""
        values = {result for node in self.nodes for result in node.results}
        if len(self.states) != 1:
            return False
        dims = structure.values[next(iter(self.states)).results[0]].dims
        for node in self.nodes:
            if any(structure.values[result].dims != dims for result in node.results):
                return False
            inside = [operand in values for operand in node.operands]
            if node.op in ("add", "sub", "neg", "state", "next"):
                continue
            if node.op == "mul" and sum(inside) == 1:
                continue
            if node.op == "select_rows" and inside == [True] and _is_owner(structure, node):
                continue
            return False
        return True


Step = Node | Loop


def make_plan(structure: Structure, outputs: Iterable[str]) -> list[Step]:
    """Give the nodes that outputs need, in order. Raises Error for unknown outputs."""
    nexts: dict[int, list[Node]] = {}
    for node in structure.nodes:
        if node.op == "next":
            nexts.setdefault(node.operands[0], []).append(node)
    roots = []
    for name in outputs:
        if name not in structure.outputs:
            known = ", ".join(structure.outputs)
            raise Error(f"torch: the graph has no output '{name}'; it has {known}")
        roots.append(structure.producers[structure.outputs[name]])

    def needs(node: Node) -> list[Node]:
        # A next value is of an iteration; that it names its state is no need of it.
        operands = node.operands[1:] if node.op == "next" else node.operands
        of = [structure.producers[operand] for operand in operands]
        return of + nexts[node.results[0]] if node.op == "state" else of

    plan: list[Step] = []
    for component in _components(roots, needs):
        if len(component) == 1 and component[0] not in needs(component[0]):
            if component[0].op != "next":
                plan.append(component[0])
            continue
        plan.append(_loop(structure, component))
    return plan


def _loop(structure: Structure, nodes: list[Node]) -> Loop:
    states = {}
    for node in nodes:
        if node.op == "next":
            states[structure.producers[node.operands[0]]] = node.operands[1]
    domains = {structure.values[state.results[0]].domain for state in states}
    if len(domains) != 1:
        names = ", ".join(structure.domains[domain].name for domain in domains)
        raise Error(f"torch: one loop over several domains: {names}")
    members = set(nodes)
    order = [node for node in structure.nodes if node in members]
    order = _by_operands(structure, order)
    return Loop(domains.pop(), order, states)


def _by_operands(structure: Structure, nodes: list[Node]) -> list[Node]:
    """Put producers before users, leaving out the edges from one iteration to the next."""
    members = set(nodes)
    done: set[Node] = set()
    order: list[Node] = []
    for root in nodes:
        stack = [(root, False)]
        while stack:
            node, expanded = stack.pop()
            if expanded:
                order.append(node)
                continue
            if node in done:
                continue
            done.add(node)
            stack.append((node, True))
            if node.op != "state":
                for operand in node.operands:
                    producer = structure.producers[operand]
                    if producer in members:
                        stack.append((producer, False))
    return order


def _components(roots: list[Node], needs: Callable[[Node], list[Node]]) -> list[list[Node]]:
    """Give strongly connected components, those that others need first (Tarjan 1972)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    open_nodes: list[Node] = []
    is_open: set[Node] = set()
    components: list[list[Node]] = []
    for root in roots:
        if root in index:
            continue
        work = [(root, iter(needs(root)))]
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        is_open.add(root)
        while work:
            node, rest = work[-1]
            advanced = False
            for need in rest:
                if need not in index:
                    index[need] = low[need] = len(index)
                    open_nodes.append(need)
                    is_open.add(need)
                    work.append((need, iter(needs(need))))
                    advanced = True
                    break
                if need in is_open:
                    low[node] = min(low[node], index[need])
            if advanced:
                continue
            work.pop()
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[node])
            if low[node] == index[node]:
                component = []
                while True:
                    member = open_nodes.pop()
                    is_open.discard(member)
                    component.append(member)
                    if member is node:
                        break
                components.append(component)
    return components


def _is_owner(structure: Structure, node: Node) -> bool:
    """Whether a selection reads the rows of owners with the same axes: hypotheses of parents."""
    maps = [structure.maps[index] for index in node.attributes["via"]]
    kinds = [structure.domains[each.source].kind for each in maps]
    return all(each.kind == "structural" for each in maps) and kinds == ["hypothesis"]
