"""Scores of translations and texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, overload

from fuselage import _core
from fuselage._arguments import BYTES, all_as_bytes, arguments_of, flag, one_line, whole


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
        self._alignment = flag("alignment", alignment)
        self._core = _core.Scorer(all_as_bytes(self._arguments), self._alignment)

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
        """Score a translation or a list of translations; without targets, texts.

        A line break inside a text counts as a space, with a warning, since a text is one line.
        """
        if isinstance(sources, str):
            if targets is not None and not isinstance(targets, str):
                raise TypeError(
                    f"the source is a text, so the target is one, not {type(targets).__name__}"
                )
            return self.score([sources], None if targets is None else [targets])[0]
        sources = _lines("sources", "a source", sources)
        if targets is None:
            return self._core.score_texts(sources)
        return self._core.score_pairs(sources, _lines("targets", "a target", targets))

    def score_n_best(
        self, sources: Sequence[str], hypotheses: Sequence[Sequence[str]]
    ) -> list[list[_core.Score]]:
        """Score several translations of each source; gives a list for each."""
        sources = _lines("sources", "a source", sources)
        lists = [_lines("hypotheses", "a hypothesis", texts) for texts in hypotheses]
        if len(sources) != len(lists):
            raise _core.Error(
                f"there are {len(sources)} source lines and {len(lists)} lists of hypotheses; "
                "give one list for each"
            )
        repeated = [source for source, texts in zip(sources, lists, strict=True) for _ in texts]
        targets = [text for texts in lists for text in texts]
        scores = iter(self._core.score_pairs(repeated, targets))
        return [[next(scores) for _ in texts] for texts in lists]

    def target_word(self, word: int) -> str:
        """Give the word or piece with an id of the target vocabulary (Score.words)."""
        return self._core.target_word(whole("word", word))


def _lines(names: str, name: str, texts: Any) -> list[str]:
    if isinstance(texts, (str, *BYTES)) or not isinstance(texts, Iterable):
        raise TypeError(f"{names} are a list of texts, not {type(texts).__name__}")
    return [one_line(name, text) for text in texts]


def _opened(arguments: list[str], alignment: bool) -> Scorer:
    scorer = Scorer.__new__(Scorer)
    scorer._arguments = arguments
    scorer._alignment = alignment
    scorer._core = _core.Scorer(all_as_bytes(arguments), alignment)
    return scorer
