"""Translation of Spark data frames, by the Python workers of the executors.

import fuselage.spark

translated = fuselage.spark.translate(frame, column="text")
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

from fuselage._core import Error
from fuselage._tables import expect_columns, translate_values
from fuselage.translator import Path, Translator

try:
    import pyspark.sql
    from pyspark.sql.types import StringType, StructField, StructType
except ImportError as error:
    raise Error(
        "fuselage.spark needs PySpark; install it with: pip install 'fuselage[spark]'"
    ) from error


def translate(
    frame: pyspark.sql.DataFrame,
    *,
    column: str,
    output: str = "translation",
    path: Path | None = None,
    threads: int = 1,
    **options: Any,
) -> pyspark.sql.DataFrame:
    """Give the frame with a column of the translations of another column.

    column: texts; nulls have no translation.
    output: the name of the new column.
    threads: of each Python worker, which loads the model once.
    path, options: as for Translator. The path is one of every executor; weights_cache lets the
        workers of a machine share memory.

    Lazy, as Spark's own transformations. Spark runs the rows of a worker that dies again.
    """
    expect_columns(frame.columns, column, output)
    kind = frame.schema[column].dataType
    if not isinstance(kind, StringType):
        raise Error(f"the column {column!r} has {kind.simpleString()}, but texts are translated")
    schema = StructType([*frame.schema.fields, StructField(output, StringType(), True)])
    work = partial(
        _translate_batches,
        column=column,
        output=output,
        path=path,
        options={"threads": threads, **options},
    )
    return frame.mapInPandas(work, schema)


def _translate_batches(
    batches: Iterator[Any], *, column: str, output: str, path: Path | None, options: dict[str, Any]
) -> Iterator[Any]:
    translator = _translator_of_process(path, options)
    for batch in batches:
        translations = translate_values(translator, batch[column].tolist())
        yield batch.assign(**{output: translations})


_lock = threading.Lock()
_translators: dict[str, Translator] = {}


def _translator_of_process(path: Path | None, options: dict[str, Any]) -> Translator:
    """Give the translator of this worker, which Spark keeps between tasks."""
    key = f"{path} {sorted(options.items())}"
    with _lock:
        if key not in _translators:
            _translators[key] = Translator(path, **options)
        return _translators[key]
