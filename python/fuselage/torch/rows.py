"""Rows of a batch as axes of padded tensors.

A value is a tensor with an axis for each axis of its domain, then the dimensions of a row. The axes
of a domain: none for values without rows, the entries for a vocabulary, the sentences, and for each
kind of token its positions. An axis of size 1 where the domain has more rows means that the rows
are equal: a value that is read through a map is never repeated in memory.

A scan has the axes of its source, at the positions of the source: the order of a loop is the order
in which an executor visits them. Parents, hypotheses and prefixes have an axis for the steps, since
teacher forcing has one hypothesis for each sentence. Pairs have the axes of both members.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from fuselage import Error
from fuselage.structure import RowMap, Structure


class Padded(NamedTuple):
    """Rows of sentences: values [sentences, longest, dims…], lengths [sentences].

    Words are int64, with -1 where there is none. What lies behind a sentence's length has no
    meaning.
    """

    values: Tensor
    lengths: Tensor


class Axis(NamedTuple):
    """An axis of a domain: the domain that it counts, and how often it came before in a pair."""

    domain: int
    again: int = 0


class Rows:
    """Sizes of axes, masks and indexes for one batch. Raises Error for inputs that do not fit."""

    def __init__(self, structure: Structure, inputs: Mapping[str, Padded | Tensor]) -> None:
        self.structure = structure
        self.inputs = inputs
        self.lengths: dict[int, Tensor] = {}
        self.sizes: dict[int, int] = {}
        self.device = torch.device("cpu")
        for index, domain in enumerate(structure.domains):
            if domain.kind == "vocabulary":
                self.sizes[index] = domain.size
        for row_map in structure.maps:
            if row_map.kind == "word" and row_map.name in inputs:
                self._measure(row_map.source, inputs[row_map.name], row_map.name)
        for node in structure.nodes:
            if node.op == "input" and node.attributes["name"] in inputs:
                name = node.attributes["name"]
                self._measure(structure.values[node.results[0]].domain, inputs[name], name)
        for name, given in inputs.items():
            for index, domain in enumerate(structure.domains):
                if domain.name == name:
                    self._measure(index, given, name)

    # --- Domains ---

    def counted(self, domain: int) -> int:
        """Give the domain whose positions this domain's own axis counts."""
        kind = self.structure.domains[domain].kind
        if kind in ("scan", "hypothesis"):
            return self._owner(domain)
        if kind == "prefix":
            return self._owner(self._owner(domain))
        return domain

    def axes(self, domain: int) -> tuple[Axis, ...]:
        """Give the axes of a domain, sentences first."""
        declared = self.structure.domains[domain]
        kind = declared.kind
        if kind == "none":
            return ()
        if kind in ("vocabulary", "sentence"):
            return (Axis(domain),)
        if kind == "pairs":
            left, right = self.axes(self.left(domain)), self.axes(self.right(domain))
            own = [Axis(axis.domain, self._next(left, axis.domain)) for axis in right[1:]]
            return (*left, *own)
        if kind == "shortlist":
            raise Error(f"torch: '{declared.name}' is a shortlist; it is for searches alone")
        counted = self.counted(domain)
        return (*self.axes(self._owner(counted)), Axis(counted))

    def left(self, domain: int) -> int:
        """Give the left member of a pair."""
        return _given(self.structure.domains[domain].left)

    def right(self, domain: int) -> int:
        """Give the right member of a pair."""
        return _given(self.structure.domains[domain].right)

    def size(self, axis: Axis) -> int:
        """Give the size of an axis."""
        if axis.domain not in self.sizes:
            name = self.structure.domains[axis.domain].name
            raise Error(f"torch: no input gives the number of rows of '{name}'")
        return self.sizes[axis.domain]

    def positions(self, domain: int) -> Tensor:
        """Give the position of each row, over the last axis of the domain: [1, positions]."""
        axis = self.axes(domain)[-1]
        return torch.arange(self.size(axis), device=self.device)[None, :]

    def mask(self, domain: int) -> Tensor | None:
        """Whether each row exists, over all axes of the domain; None if all do."""
        declared = self.structure.domains[domain]
        if declared.kind == "pairs":
            return self._mask_of_pairs(domain)
        if declared.kind in ("none", "vocabulary", "sentence"):
            return None
        counted = self.counted(domain)
        lengths = self.lengths.get(counted)
        return None if lengths is None else self.positions(domain) < lengths[:, None]

    # --- Maps ---

    def pull(self, value: Tensor, row_map: RowMap, dims: int) -> tuple[Tensor, Tensor | None]:
        """Read `value`, of rows of `dims` dimensions, at the image of each row of the map's source.

        Also gives which rows have an image, over the axes of the source; None: all.
        """
        if row_map.kind == "structural":
            missing = len(self.axes(row_map.source)) - len(self.axes(row_map.target))
            return _with_axes(value, value.dim() - dims, missing), None
        if row_map.kind == "newest":
            return value, None
        if row_map.kind == "left":
            missing = len(self.axes(row_map.source)) - len(self.axes(row_map.target))
            return _with_axes(value, value.dim() - dims, missing), None
        if row_map.kind == "right":
            missing = len(self.axes(row_map.source)) - len(self.axes(row_map.target))
            return _with_axes(value, 1, missing), None
        if row_map.kind == "neighbour":
            return self._neighbours(value, row_map, dims)
        if row_map.kind == "token":
            return self._tokens(value, row_map, dims)
        return self._entries(value, row_map)

    def words(self, row_map: RowMap) -> Tensor:
        """Give the words that the caller gave for a word map, -1 for none."""
        given = self.inputs.get(row_map.name)
        if given is None:
            raise Error(f"torch: there is no input '{row_map.name}'")
        return given.values if isinstance(given, Padded) else given

    def _entries(self, value: Tensor, row_map: RowMap) -> tuple[Tensor, Tensor | None]:
        """Rows of a vocabulary: by word, position or distance."""
        size = self.structure.domains[row_map.target].size
        if row_map.kind == "word":
            words = self.words(row_map)
            found = words >= 0 if row_map.partial else None
            return value[words.clamp(min=0)], found
        if row_map.kind == "position":
            positions = self.positions(row_map.source) + row_map.offset
            return value[positions.clamp(0, size - 1)], None
        return value[self._distance_entries(row_map, size)], None

    def _neighbours(self, value: Tensor, row_map: RowMap, dims: int) -> tuple[Tensor, Tensor]:
        axis = value.dim() - dims - 1
        length, offset = value.shape[axis], row_map.offset
        at = self.positions(row_map.source) + offset
        found = at >= 0
        lengths = self.lengths.get(self.counted(row_map.source))
        if lengths is not None:
            found = found & (at < lengths[:, None])
        if length > 1:
            value = value.index_select(axis, at[0].clamp(0, length - 1))
        return value, found

    def _tokens(self, value: Tensor, row_map: RowMap, dims: int) -> tuple[Tensor, Tensor | None]:
        """Give the token of each sentence at a position, from the end if it is negative."""
        counted = self.counted(row_map.target)
        lengths = self.lengths.get(counted)
        if lengths is None:
            lengths = torch.tensor([self.size(Axis(counted))], device=self.device)
        at = row_map.offset + (lengths if row_map.offset < 0 else torch.zeros_like(lengths))
        found = (at >= 0) & (at < lengths) if row_map.partial else None
        axis = value.dim() - dims - 1
        at = at.clamp(min=0).clamp(max=value.shape[axis] - 1)
        sentences = max(value.shape[0], len(at))
        value = value.expand(sentences, *value.shape[1:])
        return value[torch.arange(sentences, device=value.device), at.expand(sentences)], found

    def _distances(self, domain: int) -> Tensor:
        """Position of the right member minus that of the left one: [left, right]."""
        return (
            self.positions(self.right(domain))[0][None, :]
            - self.positions(self.left(domain))[0][:, None]
        )

    def _distance_entries(self, row_map: RowMap, size: int) -> Tensor:
        """Give entries for the distances of pairs, as the engine does: [1, left, right]."""
        distance = self._distances(row_map.source)
        if row_map.logarithmic:
            table = [
                _logarithmic_entry(d, size, row_map)
                for d in range(-row_map.max_distance, row_map.max_distance + 1)
            ]
            entries = torch.tensor(table, device=self.device)
            limit = row_map.max_distance
            return entries[distance.clamp(-limit, limit) + limit][None]
        if row_map.causal:
            return (-distance).clamp(0, size - 1)[None]
        farthest = (size - 1) // 2
        return (distance.clamp(-farthest, farthest) + farthest)[None]

    def _mask_of_pairs(self, domain: int) -> Tensor | None:
        declared = self.structure.domains[domain]
        left, right = self.left(domain), self.right(domain)
        axes = len(self.axes(domain))
        masks = []
        # Rows of padding on the left are read by nobody.
        of_right = self.mask(right)
        if of_right is not None:
            masks.append(_with_axes(of_right, 1, axes - of_right.dim()))
        kinds = [self.structure.domains[member].kind for member in (left, right)]
        first, last = declared.window
        if "prefix" in kinds:
            if kinds[0] != "hypothesis":
                raise Error(f"torch: '{declared.name}' pairs a {kinds[0]} domain with a prefix")
            last = 0 if last is None else min(last, 0)
        if first is not None:
            masks.append((self._distances(domain) >= first)[None])
        if last is not None:
            masks.append((self._distances(domain) <= last)[None])
        if not masks:
            return None
        both = masks[0]
        for mask in masks[1:]:
            both = both & mask
        return both

    # --- Inputs ---

    def _measure(self, domain: int, given: Padded | Tensor, name: str) -> None:
        values = given.values if isinstance(given, Padded) else given
        self.device = values.device
        axes = self.axes(domain)
        shape = tuple(values.shape[: len(axes)])
        if isinstance(given, Padded) and len(axes) == 2:
            self._set_lengths(axes[-1].domain, given.lengths, name)
        for axis, size in zip(axes, shape, strict=False):
            known = self.sizes.setdefault(axis.domain, size)
            if known != size:
                other = self.structure.domains[axis.domain].name
                raise Error(
                    f"torch: input '{name}' has {size} rows of '{other}', others have {known}"
                )

    def _set_lengths(self, domain: int, lengths: Tensor, name: str) -> None:
        known = self.lengths.setdefault(domain, lengths)
        if known is not lengths and not torch.equal(known, lengths):
            raise Error(
                f"torch: input '{name}' has other lengths than the other inputs of its rows"
            )

    def _owner(self, domain: int) -> int:
        return _given(self.structure.domains[domain].of)

    @staticmethod
    def _next(axes: Sequence[Axis], domain: int) -> int:
        return sum(axis.domain == domain for axis in axes)


def read_path(
    rows: Rows, maps: Sequence[RowMap], tensor: Tensor, dims: int
) -> tuple[Tensor, Tensor | None]:
    """Read rows of `dims` dimensions through maps; the last one leads to the tensor's domain."""
    found: Tensor | None = None
    for row_map in reversed(maps):
        tensor, here = rows.pull(tensor, row_map, dims)
        if found is not None:
            found, _ = rows.pull(found, row_map, 0)
        if here is not None:
            found = here if found is None else found & here
    return tensor, found


def _given(number: int | None) -> int:
    assert number is not None
    return number


def _with_axes(value: Tensor, at: int, count: int) -> Tensor:
    """Insert axes of size 1."""
    for _ in range(count):
        value = value.unsqueeze(at)
    return value


def _logarithmic_entry(distance: int, size: int, row_map: RowMap) -> int:
    """Give T5's bucket (Raffel et al. 2020, section 2.1), with logarithms in float32."""
    if row_map.causal:
        return _bucket(max(-distance, 0), size, row_map.max_distance)
    half = size // 2
    return (half if distance > 0 else 0) + _bucket(abs(distance), half, row_map.max_distance)


def _bucket(steps: int, count: int, max_distance: int) -> int:
    exact = count // 2
    if steps < exact:
        return steps
    share = torch.log(torch.tensor(steps / exact, dtype=torch.float32)) / torch.tensor(
        math.log(max_distance / exact), dtype=torch.float32
    )
    return min(exact + int(share * (count - exact)), count - 1)
