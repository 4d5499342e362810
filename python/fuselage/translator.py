"""Translation of lines of text."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Union, overload

from fuselage import _core
from fuselage._arguments import (
    BYTES,
    all_as_bytes,
    arguments_of,
    expect_text,
    flag,
    one_line,
    whole,
)
from fuselage._pairs import pairs_of

Path = Union[str, "os.PathLike[str]"]

# Seconds after which a waiting call lets Python handle signals.
_PATIENCE = 0.05


@dataclass(frozen=True)
class Guide:
    """Demands on the translation of a line.

    prefix: the beginning of the translation.
    terms: what the translation has to contain, in any order: for each term a text, or a list of its
        forms, of which one has to occur.
    """

    prefix: str = ""
    terms: Sequence[str | Sequence[str]] = ()

    def __post_init__(self) -> None:
        expect_text("a prefix", self.prefix)
        if isinstance(self.terms, (str, *BYTES)) or not isinstance(self.terms, Sequence):
            raise TypeError(
                f"terms are a list of texts or of lists of forms, not {type(self.terms).__name__}"
            )
        for forms in self._forms():
            for form in forms:
                expect_text("a term or a form of it", form)

    def _forms(self) -> list[list[str]]:
        return [list(term) if isinstance(term, (list, tuple)) else [term] for term in self.terms]


class Translator:
    """Translates lines of text.

    path: a model: a directory (of Fuselage, Marian, OPUS-MT, Firefox, Nematus, Amun), a .npz or
        .bin file, or a decoder configuration; None is the model that comes with the package, from
        English to German.
    device: "cpu", "cuda", "cuda:1", or several GPUs: "cuda:0,cuda:1".
    precision: of products with weights: "fp32", "bf16", "fp16", "int16", "int8", "int4",
        "int4-log" or "stored"; None is the model's own.
    threads: threads that work on sentences; 0 is one for each processor.
    n_best: hypotheses of a translation; 0 is all that the search finds.
    alignment: hypotheses have their alignment.
    model_scores: hypotheses of an ensemble have the score of each model.
    guided: lines may have a Guide; None is yes on a CPU. On a GPU the search then runs on the host.
    options: all others of `fuselage translate`, with `_` for `-`: beam_size=4, vocabs=[a, b],
        shortlist=[path, 50, 50], output_sampling=["topk", 10], weights_cache="/tmp/cache" …

    Raises Error for models that cannot be read, unknown options and wrong values. All methods may
    be called from several threads at the same time. A translator is pickled as its path and
    options, and loads its model again; after os.fork() the child has to make its own.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        device: str = "cpu",
        precision: str | None = None,
        threads: int = 0,
        n_best: int = 1,
        alignment: bool = False,
        model_scores: bool = False,
        guided: bool | None = None,
        **options: Any,
    ) -> None:
        named = {"device": device, "precision": precision, "cpu_threads": threads, **options}
        self._arguments = arguments_of({"model": path, **named})
        self._wanted = {
            "n_best": whole("n_best", n_best),
            "alignment": flag("alignment", alignment),
            "model_scores": flag("model_scores", model_scores),
            "guided": device == "cpu" and "skip_cost" not in options
            if guided is None
            else flag("guided", guided),
        }
        self._core = _core.Translator(all_as_bytes(self._arguments), **self._wanted)

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self._arguments, self._wanted)

    @property
    def notes(self) -> list[str]:
        """Notes from loading the model, its vocabularies and weights."""
        return self._core.notes

    @overload
    def translate(self, lines: str, guides: Guide | None = None) -> str: ...
    @overload
    def translate(
        self, lines: list[str] | tuple[str, ...], guides: Sequence[Guide] | None = None
    ) -> list[str]: ...
    @overload
    def translate(
        self, lines: Iterable[str], guides: Iterable[Guide] | None = None
    ) -> Iterator[str]: ...

    def translate(self, lines: Any, guides: Any = None) -> Any:
        """Translate a line, a list of lines, or an iterable.

        A line gives a text and a list gives a list. Any other iterable, as a generator or an open
        file, gives a generator in the same order, which reads some thousand lines ahead. The
        guides are one for each line.

        A text is one line. Line breaks at its end are removed, and one inside counts as a space,
        with a warning. Raises TypeError for what is no text, and Error for a text with a lone
        surrogate.
        """
        return self._translate(lines, guides, details=False)

    def translate_details(self, lines: Any, guides: Any = None) -> Any:
        """Translate as translate() does, but give Translation in place of texts."""
        return self._translate(lines, guides, details=True)

    async def translate_async(self, lines: Any, guides: Any = None) -> Any:
        """Translate a line or a list without blocking the event loop.

        Cancelling the task ends the work after the batches that are under way.
        """
        return await self._translate_async(lines, guides, details=False)

    async def translate_details_async(self, lines: Any, guides: Any = None) -> Any:
        """Translate as translate_async() does, but give Translation in place of texts."""
        return await self._translate_async(lines, guides, details=True)

    def translate_text(
        self, text: str, *, language: str = "", through: Translator | None = None
    ) -> str:
        """Translate a text of any sentences; its white space stays as it is.

        language: of the text, by whose abbreviations sentences are found: "en", "deu_Latn"; empty
            is the one that the model states.
        through: translates what this translator gives, into a third language.

        Long sentences are divided. Raises TypeError and Error as translate() does.
        """
        return self._translate_page("a text", text, language, through, html=False)

    def translate_html(
        self, html: str, *, language: str = "", through: Translator | None = None
    ) -> str:
        """Translate the text of a document of HTML, or of a text with tags.

        The arguments are those of translate_text(). With a Translator(alignment=True) tags within
        a sentence follow their words; otherwise they stay at the same part of the sentence. All
        that is no text stays as it is.
        """
        return self._translate_page("a document", html, language, through, html=True)

    def _translate_page(
        self, what: str, page: str, language: str, through: Translator | None, *, html: bool
    ) -> str:
        expect_text(what, page)
        expect_text("a language", language)
        if through is not None and not isinstance(through, Translator):
            raise TypeError(f"through is a Translator, not {type(through).__name__}")
        second = None if through is None else through._core
        return self._core.translate_page(page, html, language, second)

    def target_word(self, word: int) -> str:
        """Give the word or piece with an id of the target vocabulary (Hypothesis.words)."""
        return self._core.target_word(whole("word", word))

    def _translate(self, lines: Any, guides: Any, *, details: bool) -> Any:
        if isinstance(lines, str):
            guide = Guide() if guides is None else _expect_guide(guides)
            line = one_line("a line", lines)
            translation = self._core.translate(line, guide.prefix, guide._forms())
            return translation if details else translation.text
        if isinstance(lines, (list, tuple)):
            return list(self._results(self._job_of(lines, guides), iter(()), details))
        if isinstance(lines, BYTES) or not isinstance(lines, Iterable):
            raise TypeError(
                "lines are a text, a list of texts or an iterable of texts, "
                f"not {type(lines).__name__}"
            )
        if guides is not None and not isinstance(guides, Iterable):
            raise TypeError(
                f"guides are an iterable with a Guide for each line, not {type(guides).__name__}"
            )
        return self._stream(lines, guides, details)

    async def _translate_async(self, lines: Any, guides: Any, *, details: bool) -> Any:
        if not isinstance(lines, (str, list, tuple)):
            raise TypeError(f"lines are a text or a list of texts, not {type(lines).__name__}")
        alone = isinstance(lines, str)
        if alone:
            lines, guides = [lines], None if guides is None else [guides]
        job = self._job_of(lines, guides)
        try:
            results = await asyncio.to_thread(
                lambda: list(self._results(job, iter(()), details, patience=3600))
            )
        except asyncio.CancelledError:
            job.cancel()
            raise
        return results[0] if alone else results

    def _job_of(self, lines: Sequence[str], guides: Sequence[Guide] | None) -> _core.TranslationJob:
        """Start to translate all of these lines."""
        if guides is not None and not isinstance(guides, Sequence):
            raise TypeError(
                f"guides are a list with a Guide for each line, not {type(guides).__name__}"
            )
        if guides is not None and len(guides) != len(lines):
            raise _core.Error(
                f"there are {len(lines)} lines, but {len(guides)} guides; give one for each line"
            )
        job = self._core.start()
        for line, guide in zip(lines, guides or itertools.repeat(None), strict=False):
            _add_line(job, line, guide)
        job.end()
        return job

    def _stream(
        self, lines: Iterable[str], guides: Iterable[Guide] | None, details: bool
    ) -> Iterator[Any]:
        if guides is None:
            guided = ((line, None) for line in lines)
        else:
            guided = pairs_of(lines, guides, ("lines", "guides"))
        return self._results(self._core.start(), guided, details)

    @staticmethod
    def _results(
        job: _core.TranslationJob,
        lines: Iterator[tuple[str, Guide | None]],
        details: bool,
        patience: float = _PATIENCE,
    ) -> Iterator[Any]:
        """Feed the job with lines and yield its results in their order."""
        take = job.take if details else job.take_texts
        failure: BaseException | None = None
        more = True
        try:
            while not job.is_finished:
                while more and job.has_room:
                    try:
                        line, guide = next(lines)
                        _add_line(job, line, guide)
                    except StopIteration:
                        more = False
                    except Exception as error:
                        # Comes out behind the translations of the lines before.
                        failure, more = error, False
                    if not more:
                        job.end()
                if job.wait(patience, more):
                    yield from take()
            if failure is not None:
                raise failure
        finally:
            job.close()


def _add_line(job: _core.TranslationJob, line: str, guide: Guide | None) -> None:
    line = one_line("a line", line)
    if guide is None:
        job.add(line)
    else:
        job.add(line, _expect_guide(guide).prefix, guide._forms())


def _expect_guide(guide: Any) -> Guide:
    if not isinstance(guide, Guide):
        raise TypeError(f"a guide is a Guide, not {type(guide).__name__}")
    return guide


def _opened(arguments: list[str], wanted: dict[str, Any]) -> Translator:
    translator = Translator.__new__(Translator)
    translator._arguments = arguments
    translator._wanted = wanted
    translator._core = _core.Translator(all_as_bytes(arguments), **wanted)
    return translator
