from __future__ import annotations

import random
import subprocess
import sys

import fuselage
import fuselage.ctranslate2
import numpy as np
import pytest
from conftest import ROOT

ctranslate2 = pytest.importorskip("ctranslate2")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A Marian transformer with random weights, converted for each library, and its words."""
    folder = tmp_path_factory.mktemp("transformer")
    shape = ["--dim", "512", "--ffn", "512", "--heads", "8", "--layers", "2", "--vocabulary", "800"]
    script = ROOT / "bench" / "peers" / "make_transformer.py"
    subprocess.run([sys.executable, script, folder, *shape], check=True)
    vocabularies = [str(folder / "vocab.yml")] * 2
    fuselage.convert(folder / "model.npz", folder / "fuselage", vocabs=vocabularies)
    converter = ctranslate2.converters.MarianConverter(str(folder / "model.npz"), vocabularies)
    converter.convert(str(folder / "ctranslate2"))
    words = [line.rsplit(":", 1)[0] for line in (folder / "vocab.yml").read_text().splitlines()[2:]]
    return {"fuselage": folder / "fuselage", "ctranslate2": folder / "ctranslate2", "words": words}


@pytest.fixture(scope="module")
def source(models):
    choose = random.Random(1)
    return [choose.choices(models["words"], k=choose.randint(1, 12)) for _ in range(24)]


@pytest.fixture(scope="module")
def both(models):
    """The same program's translators, with either import."""
    return [
        module.Translator(str(models[name]), device="cpu", compute_type="float32", inter_threads=1)
        for name, module in (("fuselage", fuselage.ctranslate2), ("ctranslate2", ctranslate2))
    ]


@pytest.mark.parametrize(
    "keywords",
    [
        {"beam_size": 1},
        {"beam_size": 1, "return_scores": True, "max_decoding_length": 9},
        {"beam_size": 4, "return_scores": True, "num_hypotheses": 1},
        {"beam_size": 4, "length_penalty": 0.6, "return_scores": True, "max_batch_size": 8},
        {"beam_size": 1, "no_repeat_ngram_size": 3},
        {"beam_size": 1, "max_input_length": 3, "max_batch_size": 64, "batch_type": "tokens"},
    ],
)
def test_the_same_program_gives_the_same_tokens(both, source, keywords):
    keywords = {"max_decoding_length": 20} | keywords
    ours, theirs = (translator.translate_batch(source, **keywords) for translator in both)
    same = 0
    for mine, other in zip(ours, theirs, strict=True):
        assert len(mine.hypotheses) == len(other.hypotheses) == len(mine)
        assert len(mine.scores) == len(other.scores)
        if mine.hypotheses == other.hypotheses:
            same += 1
            # CTranslate2 normalizes layers with another epsilon than Marian.
            np.testing.assert_allclose(mine.scores, other.scores, rtol=5e-3)
    # Random weights have near ties.
    assert same >= len(source) - 2


def test_prefixes(both, source, models):
    words = models["words"]
    prefixes = [words[i : i + 1 + i % 3] for i in range(len(source))]
    ours, theirs = (
        translator.translate_batch(source, prefixes, beam_size=1, max_decoding_length=8)
        for translator in both
    )
    assert all(
        mine.hypotheses[0][: len(prefix)] == prefix
        for mine, prefix in zip(ours, prefixes, strict=True)
    )
    same = sum(
        mine.hypotheses == other.hypotheses for mine, other in zip(ours, theirs, strict=True)
    )
    assert same >= len(source) - 2


def test_scores_of_translations(both, source):
    ours, theirs = (
        translator.score_batch(source, [tokens[::-1] for tokens in source]) for translator in both
    )
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.tokens == other.tokens
        np.testing.assert_allclose(mine.log_probs, other.log_probs, rtol=5e-3, atol=5e-3)


def test_tokens_one_by_one(both, source):
    keywords = {"max_decoding_length": 6, "return_log_prob": True}
    ours, theirs = (list(t.generate_tokens(source[0], **keywords)) for t in both)
    assert [(s.step, s.token, s.token_id) for s in ours] == [
        (s.step, s.token, s.token_id) for s in theirs
    ]
    np.testing.assert_allclose(
        [s.log_prob for s in ours], [s.log_prob for s in theirs], rtol=5e-3, atol=5e-3
    )


def test_streams_and_results_to_come(both, source):
    ours = both[0]
    expected = ours.translate_batch(source, beam_size=2, max_decoding_length=10)
    stream = ours.translate_iterable(iter(source), beam_size=2, max_decoding_length=10)
    assert list(stream) == expected
    results = ours.translate_batch(source, beam_size=2, max_decoding_length=10, asynchronous=True)
    assert [result.result() for result in results] == expected
    assert all(result.done() for result in results)
    scores = ours.score_batch(source, source)
    assert list(ours.score_iterable(iter(source), iter(source))) == scores
    assert ours.score_batch(source, source, offset=1)[0].tokens == scores[0].tokens[1:]


def test_samples_and_attention(both, source):
    ours = both[0]
    keywords = {"beam_size": 1, "sampling_topk": 5, "num_hypotheses": 3, "max_decoding_length": 10}
    assert len(ours.translate_batch(source[:2], **keywords)[0].hypotheses) == 3
    result = ours.translate_batch(
        source[:2], beam_size=1, return_attention=True, max_decoding_length=10
    )
    attention = np.array(result[0].attention[0])
    assert attention.shape == (len(result[0].hypotheses[0]), len(source[0]))
    assert (attention.sum(axis=1) < 1).all()  # the end symbol has the rest


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"patience": 2}, "patience cannot be 2; supported are .*beam_size"),
        ({"suppress_sequences": [["a"]]}, "suppress_sequences cannot be"),
        ({"return_logits_vocab": True}, "return_logits_vocab"),
        ({"beam": 2}, "the keyword beam is not supported; supported are"),
        ({"batch_type": "words"}, "batch_type is one of examples, tokens, not 'words'"),
        ({"num_hypotheses": 3}, "num_hypotheses 3 is more than beam_size 2"),
        ({"sampling_topk": 4}, "sampling needs beam_size 1, not 2"),
    ],
)
def test_what_is_not_supported_is_an_error(both, source, keywords, message):
    with pytest.raises(fuselage.Error, match=message):
        both[0].translate_batch(source, **keywords)


def test_wrong_arguments(models, both):
    with pytest.raises(fuselage.Error, match="compute_type is one of default"):
        fuselage.ctranslate2.Translator(models["fuselage"], compute_type="int9")
    with pytest.raises(fuselage.Error, match=r"device_index is \[0, 1\], but device is cpu"):
        fuselage.ctranslate2.Translator(models["fuselage"], device_index=[0, 1])
    with pytest.raises(fuselage.Error, match=r"device_index is \[\], but"):
        fuselage.ctranslate2.Translator(models["fuselage"], device="cuda", device_index=[])
    with pytest.raises(fuselage.Error, match="cannot open model"):
        fuselage.ctranslate2.Translator("/nowhere")
    with pytest.raises(TypeError, match="a list of tokens"):
        both[0].translate_batch(["text"])
    assert both[0].translate_batch([]) == []
    assert (both[0].device, both[0].device_index, both[0].compute_type) == ("cpu", [0], "float32")


def test_neutral_keywords_are_accepted(both, source):
    keywords = {"patience": 1, "use_vmap": False, "callback": None, "max_decoding_length": 5}
    assert both[0].translate_batch(source[:1], **keywords)
