"""Files of translate_file() and score_file() of fuselage.ctranslate2."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any

from fuselage._arguments import path_text
from fuselage._core import Error
from fuselage._ctranslate2_tokens import Tokens


def rows_of(
    sources: Iterator[Tokens], targets: Iterator[Tokens]
) -> Iterator[tuple[Tokens, Tokens]]:
    """Give the lines of two files as pairs; the second may be longer."""
    for number, source in enumerate(sources):
        target = next(targets, None)
        if target is None:
            raise Error(f"the target file has {number} lines, but the source file has more")
        yield source, target


def unzipped(pairs: Iterator[tuple[Any, Any]]) -> tuple[Iterator[Any], Iterator[Any]]:
    first, second = itertools.tee(pairs)
    return (pair[0] for pair in first), (pair[1] for pair in second)


class Files:
    """The files of a call: those that are read, and the output."""

    def __init__(
        self,
        source: str | os.PathLike[str],
        target: str | os.PathLike[str] | None,
        output: str | os.PathLike[str],
    ) -> None:
        paths = [path_text("source_path", source)]
        if target is not None:
            paths.append(path_text("target_path", target))
        output = path_text("output_path", output)
        self._open: list[Any] = []
        try:
            self._open = [_opened(path, "r") for path in paths]
            for path in paths:
                if os.path.exists(output) and os.path.samefile(output, path):
                    raise Error(f"{output} is input and output at once")
            self._open.append(_opened(output, "w"))
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._open:
            file.close()

    def tokens(self, file: int, tokenize: Callable[[str], Tokens] | None) -> Iterator[Tokens]:
        """Give the tokens of each line of a file."""
        for line in self._open[file]:
            line = line.rstrip("\n").removesuffix("\r")
            yield tokenize(line) if tokenize else [token for token in line.split(" ") if token]

    def write(self, line: str) -> None:
        """Write a line of the output."""
        self._open[-1].write(line + "\n")


def _opened(path: str, mode: str) -> Any:
    try:
        return open(path, mode, encoding="utf-8", errors="replace", newline="\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Error(f"cannot open {path!r}: {reason}") from None
