"""Iterables side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from fuselage._core import Error

_END = object()


def pairs_of(
    first: Iterable[Any],
    second: Iterable[Any],
    names: tuple[str, str],
    error: type[Error] = Error,
) -> Iterator[tuple[Any, Any]]:
    """Give pairs; raise `error` behind them if one iterable ends before the other."""
    for number, (a, b) in enumerate(zip_longest(first, second, fillvalue=_END)):
        if a is _END or b is _END:
            more, fewer = reversed(names) if a is _END else names
            raise error(f"there are {number} {fewer}, but more {more}; give one for each")
        yield a, b
