"""Scores of translations and texts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, overload

from fuselage import _core
from fuselage._arguments import arguments_of


class Scorer:
    """Tells how likely given translations are, or with a language model given texts.

    The arguments are those of Translator; options are all others of `fuselage score`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        device: str = "cpu",
        precision: str | None = None,
        threads: int = 0,
        alignment: bool = False,
        **options: Any,
    ) -> None:
        named = {"device": device, "precision": precision, "cpu_threads": threads, **options}
        self._arguments = arguments_of({"model": path, **named})
        self._alignment = alignment
        self._core = _core.Scorer(self._arguments, alignment)

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self._arguments, self._alignment)

    @property
    def notes(self) -> list[str]:
        """Notes from loading the model, its vocabularies and weights."""
        return self._core.notes

    @overload
    def score(self, sources: str, targets: str | None = None) -> _core.Score: ...
    @overload
    def score(
        self, sources: Sequence[str], targets: Sequence[str] | None = None
    ) -> list[_core.Score]: ...

    def score(self, sources: Any, targets: Any = None) -> Any:
        """Score a translation or a list of translations; without targets, texts."""
        if isinstance(sources, str):
            return self.score([sources], None if targets is None else [targets])[0]
        sources = list(sources)
        if targets is None:
            return self._core.score_texts(sources)
        return self._core.score_pairs(sources, list(targets))


def _opened(arguments: list[str], alignment: bool) -> Scorer:
    scorer = Scorer.__new__(Scorer)
    scorer._arguments = arguments
    scorer._alignment = alignment
    scorer._core = _core.Scorer(arguments, alignment)
    return scorer
