"""CTranslate2's call shapes: programs for it run with the import changed.

    from fuselage import ctranslate2

    translator = ctranslate2.Translator("model", device="cpu")
    translator.translate_batch([["▁Hello", "."]], beam_size=4)[0].hypotheses

The model is one that fuselage.Translator reads. Tokens are read and written as CTranslate2 does, so
a program keeps its own tokenization. A keyword
that is not supported is an Error, unless it has CTranslate2's default.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import fuselage
from fuselage import Error, Guide, Hypothesis, Translation
from fuselage._pairs import pairs_of

__all__ = [
    "AsyncScoringResult",
    "AsyncTranslationResult",
    "GenerationStepResult",
    "ScoringResult",
    "TranslationResult",
    "Translator",
]

Tokens = list[str]

# CTranslate2's names of number types.
_PRECISIONS = {
    "default": None,
    "auto": None,
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "int16": "int16",
    "int8": "int8",
    "int8_float32": "int8",
    "int8_float16": "int8",
    "int8_bfloat16": "int8",
}

# Option sets whose translators are kept: each has weights of its own in memory.
_KEPT = 4


@dataclass(frozen=True)
class TranslationResult:
    """The translations of an example, best first."""

    hypotheses: list[Tokens]
    scores: list[float] = field(default_factory=list)
    attention: list[list[list[float]]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.hypotheses)


@dataclass(frozen=True)
class ScoringResult:
    """The log-probabilities of a translation's tokens, the end symbol included."""

    tokens: Tokens
    log_probs: list[float]


@dataclass(frozen=True)
class GenerationStepResult:
    """A token of a translation."""

    step: int
    batch_id: int
    token_id: int
    token: str
    hypothesis_id: int = 0
    log_prob: float | None = None
    is_last: bool = False


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


# CTranslate2's keywords of a translation that are supported, with its defaults.
_DEFAULTS: dict[str, Any] = {
    "max_batch_size": 0,
    "batch_type": "examples",
    "beam_size": 2,
    "num_hypotheses": 1,
    "length_penalty": 1,
    "coverage_penalty": 0,
    "repetition_penalty": 1,
    "no_repeat_ngram_size": 0,
    "disable_unk": False,
    "max_input_length": 1024,
    "max_decoding_length": 256,
    "min_decoding_length": 1,
    "return_scores": False,
    "return_attention": False,
    "sampling_topk": 1,
    "sampling_topp": 1,
    "sampling_temperature": 1,
    "replace_unknowns": False,
}

# Keywords that have no counterpart, with the only value that is accepted.
_NEUTRAL: dict[str, Any] = {
    "patience": 1,
    "suppress_sequences": None,
    "end_token": None,
    "return_end_token": False,
    "prefix_bias_beta": 0,
    "use_vmap": False,
    "return_logits_vocab": False,
    "return_alternatives": False,
    "min_alternative_expansion_prob": 0,
    "callback": None,
}


def _expect_supported(keywords: dict[str, Any], supported: Iterable[str]) -> None:
    for name, value in keywords.items():
        if name in supported or (name in _NEUTRAL and value == _NEUTRAL[name]):
            continue
        known = ", ".join(sorted(supported))
        reason = "cannot be" + f" {value!r}" if name in _NEUTRAL else "is not supported"
        raise Error(f"the keyword {name} {reason}; supported are {known}")


def _choice(name: str, value: str, choices: Iterable[str]) -> str:
    if value not in choices:
        raise Error(f"{name} is one of {', '.join(choices)}, not {value!r}")
    return value


def _batches(max_batch_size: int, batch_type: str) -> dict[str, Any]:
    _choice("batch_type", batch_type, ("examples", "tokens"))
    if max_batch_size == 0:
        return {}
    name = "mini_batch" if batch_type == "examples" else "mini_batch_words"
    return {name: max_batch_size}


def _sampling(given: dict[str, Any]) -> dict[str, Any]:
    topk, topp = given["sampling_topk"], given["sampling_topp"]
    temperature = given["sampling_temperature"]
    if topk == 1:
        return {}
    if given["beam_size"] != 1:
        raise Error(f"sampling needs beam_size 1, not {given['beam_size']}")
    if topp < 1:
        if topk > 0:
            raise Error(f"sampling_topk {topk} and sampling_topp {topp} exclude each other here")
        return {"output_sampling": ["nucleus", topp, temperature]}
    if topk == 0:
        return {"output_sampling": ["full", temperature]}
    return {"output_sampling": ["topk", topk, temperature]}


def _search_options(given: dict[str, Any]) -> dict[str, Any]:
    """Turn CTranslate2's keywords into options of fuselage.Translator."""
    hypotheses, beam = given["num_hypotheses"], given["beam_size"]
    sampling = _sampling(given)
    if not sampling and hypotheses > beam:
        raise Error(f"num_hypotheses {hypotheses} is more than beam_size {beam}")
    options = {
        "beam_size": hypotheses if sampling else beam,
        "n_best": hypotheses,
        "normalize": given["length_penalty"],
        "word_penalty": 0,
        "coverage_penalty": given["coverage_penalty"],
        "repetition_penalty": given["repetition_penalty"],
        "no_repeat_ngram_size": given["no_repeat_ngram_size"],
        "max_words": given["max_decoding_length"],
        "min_length": 0 if sampling else given["min_decoding_length"],
        "alignment": given["return_attention"],
        "allow_unk": not given["disable_unk"],
    }
    if given["replace_unknowns"]:
        options["replace_unknowns"] = True
    return options | sampling | _batches(given["max_batch_size"], given["batch_type"])


def _line(tokens: Sequence[str]) -> str:
    if isinstance(tokens, str):
        raise TypeError("an example is a list of tokens, not a text")
    return " ".join(tokens)


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
        _choice("device", device, ("cpu", "cuda", "auto"))
        indexes = [device_index] if isinstance(device_index, int) else device_index
        if not indexes or (device != "cuda" and list(indexes) != [0]):
            raise Error(f"device_index is {device_index}, but device is {device}; name GPUs by it")
        self._device = "cpu" if device == "auto" else device
        if isinstance(compute_type, dict):
            compute_type = compute_type.get(self._device, "default")
        _choice("compute_type", compute_type, _PRECISIONS)
        self._compute_type, self._workers = compute_type, inter_threads
        self._indexes = list(indexes)
        gpus = ",".join(f"cuda:{index}" for index in indexes)
        self._common = {
            "path": model_path,
            "device": self._device if self._device == "cpu" else gpus,
            "precision": _PRECISIONS[compute_type],
            "threads": inter_threads * intra_threads,
            "no_spm_encode": True,
            "no_spm_decode": True,
            **options,
        }
        self._lock = threading.Lock()
        self._translators: OrderedDict[str, Any] = OrderedDict()
        self._executor = ThreadPoolExecutor(max_workers=1)
        # So that a model that cannot be read is an error here.
        self._engine(_search_options(_DEFAULTS), False)

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
        return self._workers

    def translate_batch(
        self,
        source: Sequence[Sequence[str]],
        target_prefix: Sequence[Sequence[str] | None] | None = None,
        *,
        asynchronous: bool = False,
        **keywords: Any,
    ) -> Any:
        """Translate a batch of tokens, with CTranslate2's keywords."""
        given = self._given(keywords)
        lines = [_line(tokens) for tokens in source]
        guides = None
        if target_prefix is not None:
            if len(target_prefix) != len(lines):
                raise Error(
                    f"there are {len(lines)} examples, but {len(target_prefix)} prefixes; "
                    "give one for each"
                )
            guides = [Guide(prefix=_line(prefix or [])) for prefix in target_prefix]
        options = _search_options(given)
        if target_prefix:
            # CTranslate2 counts prefixes, which have different lengths; _result() cuts the others.
            options["max_words"] -= min(len(prefix or []) for prefix in target_prefix)
            options["max_words"] = max(options["max_words"], 1)
        engine = self._engine(options, guides is not None, given)

        def run() -> list[TranslationResult]:
            details = engine.translate_details(lines, guides)
            return [_result(translation, given) for translation in details]

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
        **keywords: Any,
    ) -> Iterator[TranslationResult]:
        """Translate a stream of tokens in bounded memory; gives the results in order."""
        keywords |= {"max_batch_size": max_batch_size, "batch_type": batch_type}
        given = self._given(keywords)
        engine = self._engine(_search_options(given), target_prefix is not None, given)
        guides = None
        if target_prefix is not None:
            guides = (Guide(prefix=_line(prefix or [])) for prefix in target_prefix)
        for translation in engine.translate_details(map(_line, source), guides):
            yield _result(translation, given)

    def generate_tokens(
        self,
        source: Sequence[str],
        target_prefix: Sequence[str] | None = None,
        *,
        return_log_prob: bool = False,
        **keywords: Any,
    ) -> Iterator[GenerationStepResult]:
        """Give the tokens of a greedy or sampled translation, after all have been made."""
        of_searches = {"beam_size", "num_hypotheses", "length_penalty", "coverage_penalty"}
        of_batches = {"max_batch_size", "batch_type", "return_scores", "return_attention"}
        _expect_supported(keywords, set(_DEFAULTS) - of_searches - of_batches)
        given = self._given(keywords | {"beam_size": 1, "return_scores": return_log_prob})
        engine = self._engine(_search_options(given), target_prefix is not None, given)
        guide = None if target_prefix is None else Guide(prefix=_line(target_prefix))
        translation = engine.translate_details(_line(source), guide)
        best = translation.n_best[0]
        tokens = best.text.split()
        first = len(target_prefix or [])
        for i in range(first, len(tokens)):
            yield GenerationStepResult(
                step=i - first,
                batch_id=0,
                token_id=int(best.words[i]),
                token=tokens[i],
                log_prob=float(best.word_scores[i]) if return_log_prob else None,
                is_last=i + 1 == len(tokens),
            )

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
        """Score a batch of translations."""
        if offset < 0:
            raise Error(f"offset is 0 or more, not {offset}")
        options = _batches(max_batch_size, batch_type) | _max_length(max_input_length)
        scorer = self._scorer(options)
        sources, targets = [_line(s) for s in source], [_line(t) for t in target]

        def run() -> list[ScoringResult]:
            scores = scorer.score(sources, targets)
            return [
                ScoringResult([*tokens, "</s>"][offset:], score.word_scores.tolist()[offset:])
                for tokens, score in zip(target, scores, strict=True)
            ]

        if not asynchronous:
            return run()
        future = self._executor.submit(run)
        return [AsyncScoringResult(future, i) for i in range(len(sources))]

    def score_iterable(
        self,
        source: Iterable[Sequence[str]],
        target: Iterable[Sequence[str]],
        max_batch_size: int = 64,
        **keywords: Any,
    ) -> Iterator[ScoringResult]:
        """Score a stream of translations in bounded memory."""
        pairs = pairs_of(source, target, ("sources", "targets"))
        while chunk := list(itertools.islice(pairs, 16 * max_batch_size)):
            sources, targets = zip(*chunk, strict=True)
            yield from self.score_batch(sources, targets, max_batch_size=max_batch_size, **keywords)

    @staticmethod
    def _given(keywords: dict[str, Any]) -> dict[str, Any]:
        _expect_supported(keywords, _DEFAULTS)
        return _DEFAULTS | keywords

    def _engine(
        self, options: dict[str, Any], guided: bool, given: dict[str, Any] | None = None
    ) -> fuselage.Translator:
        options = options | _max_length((given or _DEFAULTS)["max_input_length"])
        # Greedy search without scores needs none.
        if options["beam_size"] == 1 and given is not None and not guided:
            neutral = all(
                given[name] == _DEFAULTS[name]
                for name in ("return_scores", "repetition_penalty", "no_repeat_ngram_size")
            )
            if neutral and "output_sampling" not in options:
                options["skip_cost"] = True
        return self._kept(fuselage.Translator, options | {"guided": guided})

    def _scorer(self, options: dict[str, Any]) -> fuselage.Scorer:
        return self._kept(fuselage.Scorer, options)

    def _kept(self, kind: Any, options: dict[str, Any]) -> Any:
        key = f"{kind.__name__} {sorted(options.items())}"
        with self._lock:
            if key not in self._translators:
                self._translators[key] = kind(**self._common, **options)
                while len(self._translators) > _KEPT:
                    self._translators.popitem(last=False)
            self._translators.move_to_end(key)
            return self._translators[key]


def _max_length(max_input_length: int) -> dict[str, Any]:
    return {"max_length": max_input_length} if max_input_length > 0 else {"max_length": 65536}


def _result(translation: Translation, given: dict[str, Any]) -> TranslationResult:
    hypotheses, scores, attention = [], [], []
    for hypothesis in translation.n_best:
        tokens = hypothesis.text.split()
        most = given["max_decoding_length"]
        hypotheses.append(tokens[:most])
        if given["return_scores"]:
            cut = len(tokens) > most
            scores.append(_score(hypothesis, most, given) if cut else hypothesis.score)
        if given["return_attention"]:
            attention.append(hypothesis.alignment[:most].tolist())
    return TranslationResult(hypotheses, scores, attention)


def _score(hypothesis: Hypothesis, words: int, given: dict[str, Any]) -> float:
    return float(hypothesis.word_scores[:words].sum()) / words ** given["length_penalty"]
