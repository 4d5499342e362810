"""Columns of tables, as Ray and Spark have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuselage._core import Error
from fuselage.translator import Translator


def expect_columns(names: Sequence[str], column: str, output: str) -> None:
    """Raise Error unless the table has the column, and none with the name of the output."""
    if column not in names:
        raise Error(f"there is no column {column!r}; the columns are {', '.join(names)}")
    if output in names:
        raise Error(f"there is a column {output!r} already; choose another output")


def translate_values(translator: Translator, values: Sequence[Any]) -> list[str | None]:
    """Translate the texts of a column; missing values, as None and NaN, become None."""
    from pandas import isna  # comes with Ray's and Spark's extras alone

    for value in values:
        if not isinstance(value, str) and not isna(value):
            raise TypeError(f"the column has texts, not {type(value).__name__}")
    translations = iter(translator.translate([value for value in values if isinstance(value, str)]))
    return [next(translations) if isinstance(value, str) else None for value in values]
