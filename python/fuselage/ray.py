"""Translation of Ray datasets, by actors that each hold a translator.

import fuselage.ray

translated = fuselage.ray.translate(dataset, column="text")
"""

from __future__ import annotations

from typing import Any

from fuselage._core import Error
from fuselage._tables import expect_columns, translate_values
from fuselage.translator import Path, Translator

try:
    import ray.data
except ImportError as error:
    raise Error("fuselage.ray needs Ray; install it with: pip install 'fuselage[ray]'") from error


def translate(
    dataset: ray.data.Dataset,
    *,
    column: str,
    output: str = "translation",
    path: Path | None = None,
    workers: int = 1,
    threads: int = 1,
    batch_size: int = 1024,
    **options: Any,
) -> ray.data.Dataset:
    """Give the dataset with a column of the translations of another column.

    column: texts; missing values have no translation.
    output: the name of the new column.
    workers: number of actors; each has `threads` processors and loads the model once. Ray needs
        further processors for the tasks that feed them.
    batch_size: rows that an actor translates at a time.
    path, options: as for Translator.

    Lazy, as Ray's own transformations. Ray runs the rows of an actor that dies again.
    """
    expect_columns(dataset.columns(), column, output)
    return dataset.map_batches(
        _Worker,
        fn_constructor_kwargs={
            "path": path,
            "options": {"threads": threads, **options},
            "column": column,
            "output": output,
        },
        batch_format="pandas",
        batch_size=batch_size,
        concurrency=workers,
        num_cpus=threads,
    )


class _Worker:
    """Translates the batches of an actor."""

    def __init__(
        self, path: Path | None, options: dict[str, Any], column: str, output: str
    ) -> None:
        self._translator = Translator(path, **options)
        self._column, self._output = column, output

    def __call__(self, batch: Any) -> Any:
        translations = translate_values(self._translator, batch[self._column].tolist())
        return batch.assign(**{self._output: translations})
