"""fuselage.ctranslate2 beside ctranslate2: the same calls on the same trained model."""

from __future__ import annotations

import json
import math
import re
import time

import fuselage
import fuselage.ctranslate2
import numpy as np
import pytest
from conftest import ROOT

ctranslate2 = pytest.importorskip("ctranslate2")

DATA = ROOT / "tests" / "data"
CASE = DATA / "transformer-post"


def positions(width: int, count: int = 2048) -> np.ndarray:
    """Marian's sinusoidal positions. CTranslate2's converter has others unless a model has some."""
    half = width // 2
    angles = np.arange(count)[:, None] * np.exp(np.arange(half) * -(math.log(10000) / (half - 1)))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The model as each library reads it."""
    folder = tmp_path_factory.mktemp("models")
    vocabularies = [str(DATA / "vocab.yml")] * 2
    fuselage.convert(CASE / "model.npz", folder / "fuselage", vocabs=vocabularies)
    with np.load(CASE / "model.npz") as file:
        arrays = dict(file)
    config = arrays["special:model.yml"]
    arrays["special:model.yml"] = np.append(config[config != 0], np.zeros(1, config.dtype))
    arrays["Wpos"] = positions(32)
    np.savez(folder / "model.npz", **arrays)
    converter = ctranslate2.converters.MarianConverter(str(folder / "model.npz"), vocabularies)
    converter.convert(str(folder / "ctranslate2"))
    path = folder / "ctranslate2" / "config.json"
    # Marian's epsilon of layer normalization.
    path.write_text(json.dumps(json.loads(path.read_text()) | {"layer_norm_epsilon": 1e-6}))
    return folder


@pytest.fixture(scope="module")
def both(models):
    return [
        module.Translator(str(models / name), compute_type="float32", intra_threads=1)
        for name, module in (("fuselage", fuselage.ctranslate2), ("ctranslate2", ctranslate2))
    ]


# Beams of 2 find the same for all but line 6.
CHOSEN = (0, 1, 2, 3, 4, 6, 7, 8)
SOURCE, TARGET = (
    [(CASE / name).read_text().splitlines()[i].split() for i in CHOSEN]
    for name in ("input.sp.en", "ref.sp.de")
)
TWO = [["▁Tom", "▁is", "▁d", "i", "ab", "e", "t", "ic", "."], ["▁I", "."]]
BEGUN = [["▁Tom", "▁ist"], None]
WHOLE = [["▁Tom", "▁ist", "."], ["▁I", "ch", "."]]


def batch(source=TWO, prefix=None, **keywords):
    return lambda t, _: t.translate_batch(source, prefix, **keywords)


def score(source=TWO, target=WHOLE, **keywords):
    return lambda t, _: t.score_batch(source, target, **keywords)


def tokens(source=TWO[0], **keywords):
    return lambda t, _: list(t.generate_tokens(source, **keywords))


def lines(examples) -> str:
    return "".join(" ".join(example) + "\n" for example in examples)


PAIR, PAIR_WHOLE = lines(TWO), lines(WHOLE)


def file(source=PAIR, target=None, **keywords):
    """Translates files; gives the counts and the lines of the output."""

    def call(t, folder):
        names = ["source", "output"] if target is None else ["source", "output", "target"]
        paths = [str(folder / name) for name in names]
        (folder / "source").write_text(source, newline="")
        (folder / "target").write_text(target or "", newline="")
        stats = t.translate_file(*paths, **keywords)
        return stats, (folder / "output").read_text().split("\n")

    return call


def score_file(source=PAIR, target=PAIR_WHOLE, **keywords):
    def call(t, folder):
        (folder / "source").write_text(source)
        (folder / "target").write_text(target)
        paths = [str(folder / name) for name in ("source", "target", "output")]
        stats = t.score_file(*paths, **keywords)
        return stats, (folder / "output").read_text().split("\n")

    return call


def split(line):
    return ["▁" + word for word in line.split()]


def join(pieces):
    return "".join(pieces).replace("▁", " ").strip()


def no_such_file(t, folder):
    t.translate_file(str(folder / "nowhere"), str(folder / "output"))


def unloaded(t, _):
    # ctranslate2 keeps the model while a batch counts as active, for a moment after its call.
    until = time.monotonic() + 10
    while getattr(t, "num_active_batches", 0) > 0 and time.monotonic() < until:
        time.sleep(0.01)
    states = [t.model_is_loaded]
    t.unload_model()
    states.append(t.model_is_loaded)
    with pytest.raises(RuntimeError, match="unloaded"):
        t.translate_batch(TWO)
    t.load_model()
    states.append(t.model_is_loaded)
    return states, t.translate_batch(TWO)


CALLS = {
    "default": batch(),
    "more sentences": batch(SOURCE),
    "scores": batch(SOURCE, return_scores=True),
    "greedy": batch(SOURCE, beam_size=1, return_scores=True),
    "wide beam": batch(beam_size=4, return_scores=True),
    "two hypotheses": batch(beam_size=4, num_hypotheses=2, return_scores=True),
    # With beams, ctranslate2 gives all examples of a batch the first one's weights for token 1.
    "attention": batch(SOURCE, return_attention=True, max_batch_size=1),
    "greedy attention": batch(SOURCE, beam_size=1, return_attention=True),
    "no length penalty": batch(length_penalty=0, return_scores=True),
    "less length penalty": batch(length_penalty=0.6, return_scores=True),
    "negative length penalty": batch(length_penalty=-1, return_scores=True),
    "a maximum": batch(max_decoding_length=3, return_scores=True),
    "a maximum with attention": batch(beam_size=1, max_decoding_length=2, return_attention=True),
    "greedy with a maximum": batch(beam_size=1, max_decoding_length=4, return_scores=True),
    "end token": batch(TWO[:1], return_end_token=True, return_scores=True, return_attention=True),
    "end token that is cut": batch(return_end_token=True, max_decoding_length=4),
    "end token that fits": batch(return_end_token=True, max_decoding_length=5),
    "no repeated tokens": batch(beam_size=1, no_repeat_ngram_size=1),
    "batches of one": batch(SOURCE, max_batch_size=1),
    "batches of tokens": batch(SOURCE, max_batch_size=16, batch_type="tokens"),
    "short inputs": batch(SOURCE, beam_size=1, max_input_length=3),
    "any input length": batch(max_input_length=0),
    "no unknown tokens": batch(disable_unk=True),
    "replaced unknown tokens": batch([["▁I", "xyz", "."]], replace_unknowns=True),
    "prefix": batch(prefix=BEGUN),
    "prefix with scores": batch(prefix=BEGUN, return_scores=True),
    "prefix without penalty": batch(prefix=BEGUN, return_scores=True, length_penalty=0),
    "greedy prefix": batch(prefix=[["▁Tom"], ["▁I", "ch"]], beam_size=1, return_scores=True),
    "prefix and hypotheses": batch(prefix=BEGUN, beam_size=4, num_hypotheses=2, return_scores=True),
    "prefix with attention": batch(prefix=BEGUN, beam_size=1, return_attention=True),
    "unknown prefix": batch(prefix=[["▁Tom", "xyzzy"], []]),
    "whole prefix": batch(prefix=WHOLE),
    "whole prefix and a minimum": batch(prefix=WHOLE, min_decoding_length=3),
    "long prefix": batch(prefix=WHOLE, max_decoding_length=2, return_scores=True),
    "no prefixes": batch(prefix=[None, []]),
    "no examples": batch([]),
    "empty example": batch([["▁I", "."], []], return_scores=True, return_attention=True),
    "unknown source": batch([["xyzzy", "."]], beam_size=1, return_attention=True),
    "token with a space": batch([["▁I am", "."]], beam_size=1, return_attention=True),
    "token with a tab": batch([["▁I\tam", "."]], beam_size=1, return_attention=True),
    "empty token": batch([["", "▁I", "."]], beam_size=1, return_attention=True),
    "unknown symbol": batch([["<unk>", "."]], return_scores=True),
    "end symbol in the source": batch([["▁I", "</s>", "."]], return_scores=True),
    "tuples": batch((("▁I", "."),)),
    "numbers of numpy": batch(beam_size=np.int64(1), length_penalty=np.float32(1)),
    "one for True": batch(return_scores=1),
    "neutral keywords": batch(patience=1, suppress_sequences=[], end_token="</s>", callback=None),
    "no maximum": batch(max_decoding_length=0),
    "no maximum and minimum": batch(max_decoding_length=0, min_decoding_length=0),
    "no hypotheses": batch(num_hypotheses=0),
    "no beam": batch(beam_size=0),
    "negative beam": batch(beam_size=-1),
    "more hypotheses than beam": batch(num_hypotheses=3),
    "minimum above maximum": batch(max_decoding_length=5, min_decoding_length=6),
    "negative minimum": batch(min_decoding_length=-1),
    "negative input length": batch(max_input_length=-1),
    "type of batches": batch(batch_type="words"),
    "nucleus above one": batch(sampling_topp=1.5),
    "nucleus of nothing": batch(sampling_topp=0, sampling_topk=0, beam_size=1),
    "no repetition penalty": batch(repetition_penalty=0),
    "no patience": batch(patience=0),
    "bias of one": batch(prefix_bias_beta=1.0),
    "callback of a beam": batch(callback=lambda step: False),
    "text for a number": batch(beam_size="2"),
    "fraction for a number": batch(beam_size=2.0),
    "text for a fraction": batch(length_penalty="a"),
    "unknown keyword": batch(beam=2),
    "text for a batch": batch("text"),
    "text for an example": batch(["text"]),
    "numbers for tokens": batch([[1, 2]]),
    "fewer prefixes": batch(prefix=[["▁Tom"]]),
    "score": score(SOURCE, TARGET),
    "score of unknown tokens": score(target=[["xyzzy"], ["a b", ""]]),
    "score of nothing": score(target=[[], ["▁I"]]),
    "score from nothing": score([[], ["▁I"]]),
    "score of the end symbol": score(target=[["▁I", "</s>"], ["<unk>"]]),
    "score with offset": score(offset=1),
    "score with a large offset": score(offset=9),
    "score of short inputs": score(max_input_length=2),
    "score in batches": score(SOURCE, TARGET, max_batch_size=16, batch_type="tokens"),
    "score of fewer": score(target=[["▁I"]]),
    "score of texts": score(target=["text", "text"]),
    "score in batches of words": score(batch_type="words"),
    "score with unknown keyword": score(beam_size=2),
    "tokens": tokens(),
    "tokens with scores": tokens(return_log_prob=True),
    "tokens up to a maximum": tokens(return_log_prob=True, max_decoding_length=3),
    "tokens behind a prefix": tokens(return_log_prob=True, target_prefix=["▁Tom", "▁ist"]),
    "tokens of nothing": tokens([]),
    "tokens and no maximum": tokens(max_decoding_length=0),
    "tokens of a beam": tokens(beam_size=2),
    "stream": lambda t, _: list(t.translate_iterable(iter(SOURCE), return_scores=True)),
    "stream of prefixes": lambda t, _: list(
        t.translate_iterable(iter(TWO), iter([["▁Tom"], ["▁I"]]), max_batch_size=1)
    ),
    "stream of fewer prefixes": lambda t, _: list(t.translate_iterable(TWO, [["▁Tom"]])),
    "stream in empty batches": lambda t, _: list(t.translate_iterable(TWO, max_batch_size=0)),
    "stream of scores": lambda t, _: list(t.score_iterable(iter(SOURCE), iter(TARGET))),
    "stream of scores with offset": lambda t, _: list(
        t.score_iterable(TWO, WHOLE, offset=1, max_batch_size=4, batch_type="tokens")
    ),
    "stream of fewer scores": lambda t, _: list(t.score_iterable(TWO, WHOLE[:1])),
    "file": file(),
    "file with scores": file(with_scores=True),
    "file with hypotheses": file(with_scores=True, beam_size=4, num_hypotheses=2),
    "file with prefixes": file(target=lines([["▁Tom"], []])),
    "file with more prefixes": file(target=lines([["▁Tom"], [], ["▁I"]])),
    "file with fewer prefixes": file(target="▁Tom\n"),
    "file of odd lines": file("▁I .\r\n\n  ▁I   . \n▁I ."),
    "file of other tokens": file(
        "Tom is here.\n", source_tokenize_fn=split, target_detokenize_fn=join
    ),
    "file of other prefixes": file(
        "Tom is here.\n",
        "Tom\n",
        source_tokenize_fn=split,
        target_tokenize_fn=split,
        target_detokenize_fn=join,
    ),
    "file without detokenization": file(source_tokenize_fn=split),
    "file in empty batches": file(max_batch_size=0),
    "file with attention": file(return_attention=True),
    "no file": no_such_file,
    "score file": score_file(),
    "score file with tokens": score_file(with_tokens_score=True),
    "score file with offset": score_file(with_tokens_score=True, offset=1),
    "score file of unknown tokens": score_file(target="xyzzy\n\n", with_tokens_score=True),
    "score file with fewer": score_file(target="▁Tom\n"),
    "score file of other tokens": score_file(
        source_tokenize_fn=str.split, target_tokenize_fn=str.split, target_detokenize_fn=join
    ),
    "score file without detokenization": score_file(target_tokenize_fn=str.split),
    "results to come": lambda t, _: [
        result.result() for result in t.translate_batch(TWO, asynchronous=True)
    ],
    "unload": unloaded,
    "properties": lambda t, _: [t.device, t.device_index, t.compute_type, t.num_translators],
}


def plain(value):
    """Attributes of results, and texts in their words and numbers."""
    kind = type(value).__name__
    if kind == "TranslationResult":
        return [plain(x) for x in (value.hypotheses, value.scores, value.attention, value.logits)]
    if kind == "ScoringResult":
        return [plain(value.tokens), plain(value.log_probs)]
    if kind == "GenerationStepResult":
        place = [value.step, value.batch_id, value.hypothesis_id, value.is_last]
        return [*place, value.token_id, value.token, value.log_prob, value.logits]
    if kind == "ExecutionStats":
        assert value.total_time_in_ms > 0
        return [value.num_tokens, value.num_examples]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, str) and " ||| " in value:
        return [float(x) if re.fullmatch(r"-?\d[\d.]*(e-\d+)?", x) else x for x in value.split(" ")]
    return value


def expect_same(ours, theirs, where=""):
    if isinstance(theirs, list):
        assert isinstance(ours, list) and len(ours) == len(theirs), (where, ours, theirs)
        for i, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            expect_same(mine, other, f"{where}[{i}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=2e-3, abs=2e-4), where
    else:
        assert ours == theirs, where


@pytest.mark.parametrize("name", CALLS)
def test_a_call_has_the_result_or_error_of_ctranslate2(both, tmp_path, name):
    ours, theirs = both
    call = CALLS[name]
    try:
        expected = call(theirs, tmp_path)
    except Exception as error:
        kind = type(error)
        assert kind in (ValueError, TypeError, RuntimeError)
        with pytest.raises(kind):
            call(ours, tmp_path)
        return
    expect_same(plain(call(ours, tmp_path)), plain(expected))
