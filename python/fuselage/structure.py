"""The parts of a graph as Python objects, for executors and tools written in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuselage.graph import Graph


@dataclass(frozen=True)
class Domain:
    """A set of rows; see "Row domains" in the page on the architecture.

    of: the number of the owner; left, right: of the members of pairs.
    window: the least and the largest distance of a pair, None where it is not bounded.
    """

    name: str
    kind: str
    size: int
    of: int | None
    reversed: bool
    left: int | None
    right: int | None
    window: tuple[int | None, int | None]


@dataclass(frozen=True)
class RowMap:
    """A function from the rows of the domain `source` to those of `target`."""

    name: str
    source: int
    target: int
    kind: str
    partial: bool
    offset: int
    logarithmic: bool
    max_distance: int
    causal: bool


@dataclass(frozen=True)
class Value:
    """A result of a node: its name, which may be empty, and its type."""

    name: str
    dtype: str
    domain: int
    dims: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Node:
    """An op applied to values, which have numbers. Attributes name domains and maps by number."""

    op: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    attributes: Mapping[str, Any]


class Structure:
    """Domains, maps, nodes in the order of creation, values by number, and outputs.

    It is made of plain values, as JSON has them, so that a graph can be executed where the engine
    is not installed.
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.parts = parts
        self.domains = [
            Domain(**{**each, "window": tuple(each["window"])}) for each in parts["domains"]
        ]
        self.maps = [RowMap(**each) for each in parts["maps"]]
        self.nodes = [
            Node(each["op"], tuple(each["operands"]), tuple(each["results"]), each["attributes"])
            for each in parts["nodes"]
        ]
        self.values = {
            int(number): Value(**{**each, "dims": tuple(each["dims"])})
            for number, each in parts["values"].items()
        }
        self.outputs: dict[str, int] = dict(parts["outputs"])
        self.producers = {result: node for node in self.nodes for result in node.results}

    @staticmethod
    def of(graph: Graph) -> Structure:
        """Give the structure of a graph."""
        from fuselage import _core

        return Structure(_core.structure(graph._core))

    @property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The shape of each weight; a table has a row for each entry of its vocabulary."""
        shapes = {}
        for node in self.nodes:
            if node.op == "param":
                value = self.values[node.results[0]]
                domain = self.domains[value.domain]
                rows = (domain.size,) if domain.kind == "vocabulary" else ()
                shapes[node.attributes["name"]] = rows + value.dims
        return shapes

    def describe(self, node: Node) -> str:
        """Name a node for messages: its op and the name of its first result."""
        name = self.values[node.results[0]].name if node.results else ""
        return f"{node.op} '{name}'" if name else node.op
