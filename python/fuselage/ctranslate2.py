"""CTranslate2's call shapes: programs for it run with the import changed.

    from fuselage import ctranslate2

    translator = ctranslate2.Translator("model", device="cpu")
    translator.translate_batch([["▁Hello", "."]], beam_size=4)[0].hypotheses

The model is one that fuselage.Translator reads. Tokens are read and written as CTranslate2 does, so
a program keeps its own tokenization. A keyword that is not supported is an Error, unless it has
CTranslate2's default. What CTranslate2 refuses with ValueError or TypeError is an Error that is one
of these, too.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import fuselage
from fuselage import Error, Guide, Hypothesis, Score, Translation
from fuselage._ctranslate2_files import Files, rows_of, unzipped
from fuselage._ctranslate2_keywords import (
    DEFAULTS,
    PRECISIONS,
    InvalidTypeError,
    InvalidValueError,
    batches,
    choice,
    given_keywords,
    max_length,
    search_options,
    size,
)
from fuselage._ctranslate2_tokens import END, Engine, Tokens, line_of, scored_tokens
from fuselage._pairs import pairs_of

__all__ = [
    "AsyncScoringResult",
    "AsyncTranslationResult",
    "ExecutionStats",
    "GenerationStepResult",
    "InvalidTypeError",
    "InvalidValueError",
    "ScoringResult",
    "TranslationResult",
    "Translator",
]

# Option sets whose translators are kept: each has weights of its own in memory.
_KEPT = 4


@dataclass(frozen=True)
class TranslationResult:
    """The translations of an example, best first.

    attention: for each translation and token the weights of the source tokens. Neither has a row or
        column for the end symbol.
    scores: log-probabilities of the tokens and the end symbol, those of a prefix left out, divided
        by length ** length_penalty; all tokens count in the length.
    """

    hypotheses: list[Tokens]
    scores: list[float] = field(default_factory=list)
    attention: list[list[list[float]]] = field(default_factory=list)
    logits: list[Any] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __getitem__(self, index: int) -> dict[str, Any]:
        # As CTranslate2's, which is deprecated there.
        warnings.warn(
            "read the attributes of a TranslationResult", DeprecationWarning, stacklevel=2
        )
        item: dict[str, Any] = {"tokens": self.hypotheses[index]}
        if self.scores:
            item["score"] = self.scores[index]
        if self.attention:
            item["attention"] = self.attention[index]
        return item


@dataclass(frozen=True)
class ScoringResult:
    """The log-probabilities of a translation's tokens, the end symbol included.

    tokens: as the vocabulary has them: "<unk>" stands for a token that it has not.
    """

    tokens: Tokens
    log_probs: list[float]


@dataclass(frozen=True)
class GenerationStepResult:
    """A token of a translation; the last one is the end symbol, unless it was cut off."""

    step: int
    batch_id: int
    token_id: int
    hypothesis_id: int
    token: str
    log_prob: float | None = None
    logits: Any = None
    is_last: bool = False


@dataclass(frozen=True)
class ExecutionStats:
    """What translate_file() or score_file() did: tokens that were made or scored, lines, time."""

    num_tokens: int
    num_examples: int
    total_time_in_ms: float


class _AsyncResult:
    def __init__(self, future: Future[list[Any]], index: int) -> None:
        self._future, self._index = future, index

    def result(self) -> Any:
        """Wait for the result; raises the call's error."""
        return self._future.result()[self._index]

    def done(self) -> bool:
        """Tell whether the result is there."""
        return self._future.done()


class AsyncTranslationResult(_AsyncResult):
    """A TranslationResult to come."""


class AsyncScoringResult(_AsyncResult):
    """A ScoringResult to come."""


class Translator:
    """Translates tokens, with the calls of ctranslate2.Translator.

    model_path: a model as fuselage.Translator reads; vocabs and all other options that CTranslate2
        does not know go there, too.
    compute_type: "default" and "auto" are the model's own number type.
    device_index: with device "cuda", the number of the GPU, or those of several, which share the
        work.
    inter_threads, intra_threads: their product is the number of threads, with several GPUs of each;
        0 is all processors, or one for each GPU.
    """

    def __init__(
        self,
        model_path: str | os.PathLike[str],
        device: str = "cpu",
        *,
        device_index: int | list[int] = 0,
        compute_type: str | dict[str, str] = "default",
        inter_threads: int = 1,
        intra_threads: int = 0,
        max_queued_batches: int = 0,
        flash_attention: bool = False,
        tensor_parallel: bool = False,
        files: Any = None,
        **options: Any,
    ) -> None:
        if flash_attention or tensor_parallel or files is not None:
            raise Error("flash_attention, tensor_parallel and files are not supported; omit them")
        choice("device", device, ("cpu", "cuda", "auto"))
        indexes = device_index if isinstance(device_index, (list, tuple)) else [device_index]
        indexes = [size("device_index", index) for index in indexes]
        if not indexes or (device != "cuda" and any(indexes)):
            raise InvalidValueError(
                f"device_index is {device_index}, but device is {device}; name GPUs by it"
            )
        self._device = "cpu" if device == "auto" else device
        if isinstance(compute_type, dict):
            compute_type = compute_type.get(self._device, "default")
        choice("compute_type", compute_type, PRECISIONS)
        self._compute_type = compute_type
        workers = size("inter_threads", inter_threads)
        if self._device == "cpu":
            workers *= len(indexes)
        self._workers, self._indexes = workers, indexes
        gpus = ",".join(f"cuda:{index}" for index in indexes)
        self._common = {
            "path": model_path,
            "device": self._device if self._device == "cpu" else gpus,
            "precision": PRECISIONS[compute_type],
            "threads": workers * size("intra_threads", intra_threads),
            "no_spm_encode": True,
            "no_spm_decode": True,
            **options,
        }
        self._lock = threading.Lock()
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self._executor = ThreadPoolExecutor(max_workers=1)
        self._is_loaded = True
        # So that a model that cannot be read is an error here.
        self._translator(DEFAULTS, search_options(DEFAULTS), guided=False)

    @property
    def device(self) -> str:
        """The device: "cpu" or "cuda"."""
        return self._device

    @property
    def device_index(self) -> list[int]:
        """The numbers of the devices."""
        return list(self._indexes)

    @property
    def compute_type(self) -> str:
        """The number type, as it was given."""
        return self._compute_type

    @property
    def num_translators(self) -> int:
        """Number of parallel translations."""
        return self._workers if self._device == "cpu" else self._workers * len(self._indexes)

    @property
    def tensor_parallel(self) -> bool:
        """Always false, as several devices share the examples, not the matrices."""
        return False

    @property
    def model_is_loaded(self) -> bool:
        """Tell whether the model is in memory."""
        return self._is_loaded

    def unload_model(self, to_cpu: bool = False) -> None:
        """Free the memory of the model; load_model() reads it again.

        to_cpu: keep it in the memory of the CPU; with device "cpu" nothing changes then.
        """
        if to_cpu and self._device == "cpu":
            return
        with self._lock:
            self._engines.clear()
            self._is_loaded = False

    def load_model(self, keep_cache: bool = False) -> None:
        """Read the model again after unload_model(); keep_cache does not matter here."""
        self._is_loaded = True
        self._translator(DEFAULTS, search_options(DEFAULTS), guided=False)

    def translate_batch(
        self,
        source: Sequence[Sequence[str]],
        target_prefix: Sequence[Sequence[str] | None] | None = None,
        *,
        asynchronous: bool = False,
        **keywords: Any,
    ) -> Any:
        """Translate a batch of tokens, with CTranslate2's keywords."""
        given = given_keywords(keywords)
        lines = [line_of(tokens) for tokens in source]
        prefixes: list[Sequence[str]] = [()] * len(lines)
        if target_prefix is not None:
            prefixes = [_prefix(prefix) for prefix in target_prefix]
        if len(prefixes) != len(lines):
            raise Error(
                f"there are {len(lines)} examples, but {len(prefixes)} prefixes; give one for each"
            )
        run = self._batch(lines, prefixes, given)
        if not asynchronous:
            return run()
        future = self._executor.submit(run)
        return [AsyncTranslationResult(future, i) for i in range(len(lines))]

    def translate_iterable(
        self,
        source: Iterable[Sequence[str]],
        target_prefix: Iterable[Sequence[str] | None] | None = None,
        max_batch_size: int = 32,
        batch_type: str = "examples",
        *,
        asynchronous: bool = False,
        **keywords: Any,
    ) -> Iterator[TranslationResult]:
        """Translate a stream of tokens in bounded memory; gives the results in order."""
        given = given_keywords(
            keywords | {"max_batch_size": max_batch_size, "batch_type": batch_type}
        )
        _expect_batches(given["max_batch_size"])
        if target_prefix is not None:
            pairs = pairs_of(iter(source), iter(target_prefix), _SOURCES, InvalidValueError)
            return self._guided_stream(pairs, given)
        engine = self._translator(given, search_options(given), guided=False)
        details = engine.core.translate_details(map(line_of, iter(source)))
        return (_result(engine, translation, (), given) for translation in details)

    def generate_tokens(
        self,
        source: Sequence[str],
        target_prefix: Sequence[str] | None = None,
        *,
        return_log_prob: bool = False,
        **keywords: Any,
    ) -> Iterator[GenerationStepResult]:
        """Give the tokens of a greedy or sampled translation, after all have been made.

        They begin with the prefix, whose log-probabilities are 0.
        """
        of_searches = {"beam_size", "num_hypotheses", "length_penalty", "coverage_penalty"}
        of_batches = {"max_batch_size", "batch_type", "return_scores", "return_attention"}
        supported = set(DEFAULTS) - of_searches - of_batches - {"return_end_token"}
        given = given_keywords(keywords, supported)
        given |= {"beam_size": 1, "return_scores": return_log_prob}
        prefix = _prefix(target_prefix)
        engine, translation = self._details([line_of(source)], [prefix], given)[0]
        if not source:
            return iter(())
        return _steps(engine, translation.n_best[0], len(prefix), given)

    def score_batch(
        self,
        source: Sequence[Sequence[str]],
        target: Sequence[Sequence[str]],
        *,
        max_batch_size: int = 0,
        batch_type: str = "examples",
        max_input_length: int = 1024,
        offset: int = 0,
        asynchronous: bool = False,
    ) -> Any:
        """Score a batch of translations.

        offset: tokens of each translation that are left out of its result.
        """
        offset = size("offset", offset)
        engine = self._kept(
            fuselage.Scorer, batches(max_batch_size, batch_type) | max_length(max_input_length)
        )
        sources, targets = [line_of(s) for s in source], [line_of(t) for t in target]
        if len(sources) != len(targets):
            raise Error(
                f"there are {len(sources)} examples, but {len(targets)} translations; "
                "give one for each"
            )

        def run() -> list[ScoringResult]:
            return [_scored(engine, score, offset) for score in engine.core.score(sources, targets)]

        if not asynchronous:
            return run()
        future = self._executor.submit(run)
        return [AsyncScoringResult(future, i) for i in range(len(sources))]

    def score_iterable(
        self,
        source: Iterable[Sequence[str]],
        target: Iterable[Sequence[str]],
        max_batch_size: int = 64,
        batch_type: str = "examples",
        **keywords: Any,
    ) -> Iterator[ScoringResult]:
        """Score a stream of translations in bounded memory."""
        _expect_batches(size("max_batch_size", max_batch_size))
        keywords |= {"max_batch_size": max_batch_size, "batch_type": batch_type}
        keywords.pop("asynchronous", None)
        self.score_batch([], [], **keywords)  # wrong keywords are errors at once
        pairs = pairs_of(iter(source), iter(target), _TRANSLATIONS, InvalidValueError)
        return (
            result
            for sources, targets in _chunks(pairs, max_batch_size)
            for result in self.score_batch(sources, targets, **keywords)
        )

    def translate_file(
        self,
        source_path: str | os.PathLike[str],
        output_path: str | os.PathLike[str],
        target_path: str | os.PathLike[str] | None = None,
        *,
        max_batch_size: int = 32,
        read_batch_size: int = 0,
        batch_type: str = "examples",
        with_scores: bool = False,
        source_tokenize_fn: Callable[[str], Tokens] | None = None,
        target_tokenize_fn: Callable[[str], Tokens] | None = None,
        target_detokenize_fn: Callable[[Tokens], str] | None = None,
        **keywords: Any,
    ) -> ExecutionStats:
        """Translate a file with an example a line, its tokens separated by spaces.

        target_path: a file with a prefix for each line.
        with_scores: lines begin with the score, as "-0.5 ||| …".
        source_tokenize_fn, target_tokenize_fn, target_detokenize_fn: turn lines into tokens, and
            tokens into lines, in place of spaces.
        read_batch_size: does not matter here.
        """
        size("read_batch_size", read_batch_size)
        _expect_together(
            source_tokenize_fn=source_tokenize_fn, target_detokenize_fn=target_detokenize_fn
        )
        for name in ("return_scores", "return_attention", "return_end_token"):
            if name in keywords:
                raise InvalidTypeError(f"the keyword {name} is not for files")
        keywords |= {
            "max_batch_size": max_batch_size,
            "batch_type": batch_type,
            "return_scores": with_scores,
        }
        began = time.monotonic()
        tokens = examples = 0
        with Files(source_path, target_path, output_path) as files:
            sources = files.tokens(0, source_tokenize_fn)
            prefixes = None
            if target_path is not None:
                tokenize = target_tokenize_fn if source_tokenize_fn else None
                pairs = rows_of(sources, files.tokens(1, tokenize))
                sources, prefixes = unzipped(pairs)
            for result in self.translate_iterable(sources, prefixes, **keywords):
                tokens += len(result.hypotheses[0])
                examples += 1
                for i, hypothesis in enumerate(result.hypotheses):
                    text = (target_detokenize_fn or " ".join)(hypothesis)
                    files.write(f"{result.scores[i]:g} ||| {text}" if with_scores else text)
        return ExecutionStats(tokens, examples, 1000 * (time.monotonic() - began))

    def score_file(
        self,
        source_path: str | os.PathLike[str],
        target_path: str | os.PathLike[str],
        output_path: str | os.PathLike[str],
        *,
        max_batch_size: int = 32,
        read_batch_size: int = 0,
        with_tokens_score: bool = False,
        source_tokenize_fn: Callable[[str], Tokens] | None = None,
        target_tokenize_fn: Callable[[str], Tokens] | None = None,
        target_detokenize_fn: Callable[[Tokens], str] | None = None,
        **keywords: Any,
    ) -> ExecutionStats:
        """Score a file of translations, as score_batch() does with the same keywords.

        A line of the output is "score ||| tokens", where the score is the mean of the tokens'; with
        with_tokens_score, " ||| " and the scores of the tokens follow.
        """
        size("read_batch_size", read_batch_size)
        _expect_together(
            source_tokenize_fn=source_tokenize_fn,
            target_tokenize_fn=target_tokenize_fn,
            target_detokenize_fn=target_detokenize_fn,
        )
        began = time.monotonic()
        tokens = examples = 0
        with Files(source_path, target_path, output_path) as files:
            pairs = rows_of(
                files.tokens(0, source_tokenize_fn), files.tokens(1, target_tokenize_fn)
            )
            sources, targets = unzipped(pairs)
            for result in self.score_iterable(sources, targets, max_batch_size, **keywords):
                tokens += len(result.tokens)
                examples += 1
                text = (target_detokenize_fn or " ".join)(result.tokens)
                mean = sum(result.log_probs) / max(len(result.log_probs), 1)
                line = f"{mean:g} ||| {text}"
                if with_tokens_score:
                    line += " ||| " + " ".join(f"{score:g}" for score in result.log_probs)
                files.write(line)
        return ExecutionStats(tokens, examples, 1000 * (time.monotonic() - began))

    def _details(
        self, lines: list[str], prefixes: list[Sequence[str]], given: dict[str, Any]
    ) -> list[tuple[Engine, Translation]]:
        """Translate lines, each with the engine that has done it."""
        return self._planned(lines, prefixes, given)()

    def _batch(
        self, lines: list[str], prefixes: list[Sequence[str]], given: dict[str, Any]
    ) -> Callable[[], list[TranslationResult]]:
        """Prepare a batch, so that errors of its options are raised at once."""
        details = self._planned(lines, prefixes, given)

        def run() -> list[TranslationResult]:
            return [
                _result(engine, translation, prefix, given)
                for (engine, translation), prefix in zip(details(), prefixes, strict=True)
            ]

        return run

    def _planned(
        self, lines: list[str], prefixes: list[Sequence[str]], given: dict[str, Any]
    ) -> Callable[[], list[tuple[Engine, Translation]]]:
        """Divide a batch by the options that its prefixes ask for.

        CTranslate2 counts the tokens of a prefix in both lengths, Fuselage in none. The longest
        length is that of the shortest prefix; _result() cuts the others.
        """
        guides = [line_of(prefix) for prefix in prefixes]
        if not any(guides):
            engine = self._translator(given, search_options(given), guided=False)
            return lambda: [(engine, each) for each in engine.core.translate_details(lines)]
        parts: dict[int, list[int]] = {}
        for i, prefix in enumerate(prefixes):
            parts.setdefault(max(given["min_decoding_length"] - len(prefix), 0), []).append(i)
        calls = []
        for least, members in parts.items():
            options = search_options(given)
            shortest = min(len(prefixes[i]) for i in members)
            options["max_words"] = max(options["max_words"] - shortest, 1)
            options["min_length"] = min(least, options["min_length"])
            # All that the search finds: without the prefix, others may be the best.
            options["n_best"] = 0
            calls.append((self._translator(given, options, guided=True), members))

        def run() -> list[tuple[Engine, Translation]]:
            results: list[Any] = [None] * len(lines)
            for engine, members in calls:
                details = engine.core.translate_details(
                    [lines[i] for i in members], [Guide(prefix=guides[i]) for i in members]
                )
                for i, translation in zip(members, details, strict=True):
                    results[i] = (engine, translation)
            return results

        return run

    def _guided_stream(
        self, pairs: Iterator[tuple[Any, Any]], given: dict[str, Any]
    ) -> Iterator[TranslationResult]:
        for sources, prefixes in _chunks(pairs, given["max_batch_size"]):
            lines = [line_of(tokens) for tokens in sources]
            yield from self._batch(lines, [_prefix(prefix) for prefix in prefixes], given)()

    def _translator(
        self, given: dict[str, Any], options: dict[str, Any], *, guided: bool
    ) -> Engine:
        # Greedy search without scores needs none.
        if options["beam_size"] == 1 and not guided:
            neutral = all(
                given[name] == DEFAULTS[name]
                for name in ("return_scores", "repetition_penalty", "no_repeat_ngram_size")
            )
            if neutral and "output_sampling" not in options:
                options = options | {"skip_cost": True}
        return self._kept(fuselage.Translator, options | {"guided": guided})

    def _kept(self, kind: Any, options: dict[str, Any]) -> Engine:
        key = f"{kind.__name__} {sorted(options.items())}"
        with self._lock:
            if not self._is_loaded:
                raise Error("the model of this translator was unloaded; call load_model()")
            if key not in self._engines:
                self._engines[key] = Engine(kind(**self._common, **options))
                while len(self._engines) > _KEPT:
                    self._engines.popitem(last=False)
            self._engines.move_to_end(key)
            return self._engines[key]


_SOURCES = ("sources", "prefixes")
_TRANSLATIONS = ("sources", "targets")


def _prefix(prefix: Iterable[str] | None) -> Sequence[str]:
    if prefix is None:
        return ()
    return prefix if isinstance(prefix, str) else list(prefix)


def _expect_batches(max_batch_size: int) -> None:
    if max_batch_size == 0:
        raise InvalidValueError("max_batch_size is 1 or more, not 0")


def _expect_together(**functions: Any) -> None:
    if len({function is None for function in functions.values()}) > 1:
        raise InvalidValueError(f"{' and '.join(functions)} go together; give all of them or none")


def _chunks(
    pairs: Iterator[tuple[Any, Any]], max_batch_size: int
) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    """Give pairs as lists of sources and of targets, each for several batches."""
    while True:
        chunk = []
        try:
            for pair in itertools.islice(pairs, 16 * max_batch_size):
                chunk.append(pair)
        except Exception:
            # Comes out behind the results of the pairs before.
            if chunk:
                yield tuple(zip(*chunk, strict=True))
            raise
        if not chunk:
            return
        yield tuple(zip(*chunk, strict=True))


def _scored(engine: Engine, score: Score, offset: int) -> ScoringResult:
    tokens = engine.words(score.words.tolist())
    return ScoringResult(tokens[offset:], score.word_scores.tolist()[offset:])


def _result(
    engine: Engine, translation: Translation, prefix: Sequence[str], given: dict[str, Any]
) -> TranslationResult:
    best = [
        scored_tokens(engine, hypothesis, len(prefix), given) for hypothesis in translation.n_best
    ]
    if prefix:
        best = sorted(best, key=lambda each: -each[0])
    hypotheses, scores, attention = [], [], []
    for score, tokens, hypothesis in best[: given["num_hypotheses"]]:
        hypotheses.append(tokens)
        if given["return_scores"]:
            scores.append(score)
        if given["return_attention"]:
            sources = translation.source_words - 1
            attention.append(hypothesis.alignment[: len(tokens), :sources].tolist())
    return TranslationResult(hypotheses, scores, attention)


def _steps(
    engine: Engine, hypothesis: Hypothesis, prefix: int, given: dict[str, Any]
) -> Iterator[GenerationStepResult]:
    ids = hypothesis.words.tolist()[: given["max_decoding_length"]]
    words = engine.words(ids)
    if given["replace_unknowns"]:
        words[: len(ids)] = [*hypothesis.text.split(" "), END][: len(ids)]
    for i, (word, token) in enumerate(zip(ids, words, strict=True)):
        log_prob = None
        if given["return_scores"]:
            log_prob = 0.0 if i < prefix else float(hypothesis.word_scores[i])
        yield GenerationStepResult(
            step=i,
            batch_id=0,
            token_id=word,
            hypothesis_id=0,
            token=token,
            log_prob=log_prob,
            is_last=i + 1 == len(ids),
        )
