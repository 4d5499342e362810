"""Texts, paths and numbers as Python programs have them, and copies of results."""

from __future__ import annotations

import asyncio
import copy
import multiprocessing
import os
import pickle
import warnings

import fuselage
import numpy as np
import pytest
from conftest import PROGRAM, ROOT
from fuselage.graph import Builder, Graph

BROKEN = "a \ud83d b"
LATIN = "caf\udce9"


@pytest.fixture(scope="module")
def scorer() -> fuselage.Scorer:
    return fuselage.Scorer(threads=2)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, s: t.translate(BROKEN),
        lambda t, s: t.translate_details(BROKEN),
        lambda t, s: t.translate(["Hello.", LATIN]),
        lambda t, s: list(t.translate(iter([BROKEN]))),
        lambda t, s: asyncio.run(t.translate_async(BROKEN)),
        lambda t, s: t.translate("Hello.", fuselage.Guide(prefix=BROKEN)),
        lambda t, s: t.translate("Hello.", fuselage.Guide(terms=[["a", BROKEN]])),
        lambda t, s: t.translate(["Hello."], [fuselage.Guide(terms=[BROKEN])]),
        lambda t, s: s.score(BROKEN, "a"),
        lambda t, s: s.score(["a"], [BROKEN]),
        lambda t, s: Builder(BROKEN),
        lambda t, s: Builder("b").add_vocabulary(BROKEN, 3),
        lambda t, s: Builder("b").param(BROKEN, [3]),
        lambda t, s: Builder("b").scope(BROKEN),
        lambda t, s: Graph.parse(BROKEN),
        lambda t, s: fuselage.Translator(BROKEN),
        lambda t, s: fuselage.Translator(device=BROKEN),
        lambda t, s: fuselage.Translator(vocabs=[BROKEN, "a"]),
        lambda t, s: fuselage.Scorer(BROKEN),
        lambda t, s: fuselage.info(BROKEN),
        lambda t, s: fuselage.convert("model", "out", vocabs=[BROKEN, BROKEN]),
    ],
)
def test_a_lone_surrogate_is_an_error_that_names_it(translator, scorer, call):
    with pytest.raises(fuselage.Error, match=r"lone surrogate U\+D(83D|CE9)"):
        call(translator, scorer)


def test_the_lines_before_a_lone_surrogate_are_translated(translator):
    results = translator.translate(iter(["Tom is my friend.", BROKEN]))
    assert next(results) == "Tom ist mein Freund."
    with pytest.raises(fuselage.Error, match="in place of character 3"):
        next(results)


def test_a_path_may_have_any_bytes(tmp_path):
    with pytest.raises(fuselage.Error, match=r"cannot open model .*caf\\xe9"):
        fuselage.Translator(tmp_path / LATIN)
    with pytest.raises(fuselage.Error, match=r"cannot open model .*caf\\xe9"):
        fuselage.info(tmp_path / LATIN)
    link = tmp_path / LATIN
    link.symlink_to(ROOT / "models" / "en-de")
    translator = fuselage.Translator(link, threads=1)
    assert translator.translate("Tom is my friend.") == "Tom ist mein Freund."
    assert pickle.loads(pickle.dumps(translator)).translate("Hello.")
    assert fuselage.info(os.fspath(link))["source-words"] == 8000
    with pytest.raises(fuselage.Error, match="NUL"):
        fuselage.Translator("a\0b")
    with pytest.raises(fuselage.Error, match="NUL"):
        fuselage.info("a\0b")


class OfBytes:
    def __fspath__(self):
        return os.fsencode(PROGRAM.parent)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, s: t.translate(b"abc"), "iterable of texts, not bytes"),
        (lambda t, s: t.translate(bytearray(b"abc")), "iterable of texts, not bytearray"),
        (lambda t, s: t.translate_details(b"abc"), "not bytes"),
        (lambda t, s: asyncio.run(t.translate_async(b"abc")), "not bytes"),
        (lambda t, s: t.translate([b"abc"]), "a line is a text, not bytes; decode it"),
        (lambda t, s: t.translate(iter(["a"]), fuselage.Guide()), "a Guide for each line"),
        (lambda t, s: t.translate(["a"], fuselage.Guide()), "a Guide for each line, not Guide"),
        (lambda t, s: fuselage.Guide(prefix=b"a"), "a prefix is a text, not bytes"),
        (lambda t, s: fuselage.Guide(terms="abc"), "terms are a list .* not str"),
        (lambda t, s: fuselage.Guide(terms=[["a", 3]]), "a form of it is a text, not int"),
        (lambda t, s: s.score(b"abc", b"abc"), "sources are a list of texts, not bytes"),
        (lambda t, s: s.score("a", ["a"]), "the target is one, not list"),
        (lambda t, s: s.score(["a"], "b"), "targets are a list of texts, not str"),
        (lambda t, s: s.score(["a"], [3]), "a target is a text, not int"),
        (lambda t, s: s.score(3, 3), "sources are a list of texts, not int"),
        (lambda t, s: fuselage.Translator(b"model"), "option model is a bytes"),
        (lambda t, s: fuselage.Translator(n_best=1.5), "option n_best is a float"),
        (lambda t, s: fuselage.Translator(n_best="1"), "option n_best is a str"),
        (lambda t, s: fuselage.Translator(alignment="no"), "option alignment is a str"),
        (lambda t, s: fuselage.Translator(guided=1), "option guided is a int"),
        (lambda t, s: fuselage.Scorer(alignment=None), "option alignment is a NoneType"),
        (lambda t, s: fuselage.info(3), "cannot open model 3"),
        (lambda t, s: Graph.parse(b"graph"), "the text form is a text, not bytes; decode it"),
    ],
)
def test_what_has_the_wrong_type_is_refused_at_once(translator, scorer, call, message):
    with pytest.raises((TypeError, fuselage.Error), match=message):
        call(translator, scorer)


def test_a_path_object_may_give_bytes():
    with pytest.raises(fuselage.Error, match="fuselage/bin"):
        fuselage.Translator(OfBytes())


def test_scalars_of_numpy_are_options(translator, lines):
    ours = fuselage.Translator(
        beam_size=np.int64(2),
        normalize=np.float32(0.5),
        n_best=np.int32(2),
        alignment=np.True_,
        threads=np.array(1),
        allow_unk=np.bool_(False),
        precision=np.str_("int8"),
    )
    same = fuselage.Translator(
        beam_size=2, normalize=0.5, n_best=2, alignment=True, threads=1, precision="int8"
    )
    for mine, other in zip(
        ours.translate_details(lines[:5]), same.translate_details(lines[:5]), strict=True
    ):
        assert [h.text for h in mine.n_best] == [h.text for h in other.n_best]
        assert mine.n_best[0].score == other.n_best[0].score
        assert mine.n_best[0].alignment.size > 0
    sampling = fuselage.Translator(output_sampling=np.array(["topk", "5"]), seed=np.uint64(7))
    assert sampling.translate("Hello.")
    assert fuselage.check(fuselage.find_bundled_model(), bisect=np.False_).passed


def test_a_line_break_inside_counts_as_a_space_with_a_warning(translator, scorer):
    expected = translator.translate("Tom is my friend. Where is the station?")
    broken = "Tom is my friend.\nWhere is the station?"
    with pytest.warns(UserWarning, match="a line has a line break inside") as caught:
        assert translator.translate(broken) == expected
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="line break") as caught:
        assert translator.translate([broken, "Hello."])[0] == expected
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="line break"):
        assert list(translator.translate(iter([broken + "\n"]))) == [expected]
    with pytest.warns(UserWarning, match="line break"):
        details = translator.translate_details(broken.replace("\n", "\r\n"))
    assert (details.oddities, details.text) == (["line_break"], expected)
    with pytest.warns(UserWarning, match="a target has a line break"):
        score = scorer.score("Hello.", "Hal\nlo.")
    assert (score.source_oddities, score.target_oddities) == ([], ["line_break"])


def test_a_line_break_at_the_end_is_none(translator, scorer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        details = translator.translate_details("Tom is my friend.\r\n")
        assert scorer.score("Hello.\n", "Hallo.").score == scorer.score("Hello.", "Hallo.").score
    assert (details.oddities, details.text) == ([], "Tom ist mein Freund.")


def copies(value):
    return [copy.copy(value), copy.deepcopy(value)] + [
        pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, 6)
    ]


@pytest.mark.filterwarnings("ignore:a .* line break")
def test_results_are_copied_and_pickled():
    translator = fuselage.Translator(n_best=2, alignment=True, threads=1)
    translation = translator.translate_details("Tom is my\nfriend.")
    for other in copies(translation):
        assert other.text == translation.text
        assert other.oddities == translation.oddities == ["line_break"]
        assert other.source_words == translation.source_words
        for mine, best in zip(other.n_best, translation.n_best, strict=True):
            assert (mine.text, mine.score) == (best.text, best.score)
            assert mine.log_probability == best.log_probability
            for name in ("words", "word_scores", "model_scores", "alignment"):
                np.testing.assert_array_equal(getattr(mine, name), getattr(best, name))
                assert getattr(mine, name).dtype == getattr(best, name).dtype
    hypothesis = translation.n_best[1]
    assert all(other.text == hypothesis.text for other in copies(hypothesis))
    score = fuselage.Scorer(alignment=True).score("Hello.\n", "Hallo, \nTom.")
    for other in copies(score):
        assert (other.score, other.log_probability) == (score.score, score.log_probability)
        assert other.target_oddities == score.target_oddities == ["line_break"]
        for name in ("words", "word_scores", "alignment"):
            np.testing.assert_array_equal(getattr(other, name), getattr(score, name))


def test_other_results_are_pickled(tmp_path):
    graph = Graph.parse((ROOT / "models" / "en-de" / "graph.ir").read_text())
    for value in (graph.inputs, fuselage.check(fuselage.find_bundled_model()), fuselage.Guide("a")):
        assert all(other == value for other in copies(value))
    with pytest.raises(fuselage.Error) as caught:
        fuselage.Translator(tmp_path)
    assert all(str(other) == str(caught.value) for other in copies(caught.value))


def work(line):
    translator = fuselage.Translator(threads=1)
    return translator.translate_details(line), fuselage.Scorer(threads=1).score(line, "Hallo.")


def test_a_pool_of_processes_returns_results(translator):
    texts = ["Tom is my friend.", "Hello."]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        results = pool.map(work, texts)
    assert [translation.text for translation, _ in results] == translator.translate(texts)
    assert all(score.log_probability < 0 for _, score in results)


def test_words_have_their_texts(translator, scorer):
    best = translator.translate_details("Tom is my friend.").n_best[0]
    words = [translator.target_word(word) for word in best.words]
    assert "".join(words[:-1]).replace("▁", " ").strip() == best.text
    assert words[-1] == "</s>"
    assert [scorer.target_word(w) for w in scorer.score("Hello.", "Hallo.").words][-1] == "</s>"
    assert translator.target_word(-1) == translator.target_word(10**6) == ""
    with pytest.raises(TypeError, match="word is a str"):
        translator.target_word("a")
