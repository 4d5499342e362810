from __future__ import annotations

import fuselage
import pytest
from conftest import run_program


def test_a_converted_and_quantized_model_translates(tmp_path, translator, lines):
    fuselage.convert(fuselage.find_bundled_model(), tmp_path / "copy", no_probes=True, beam_size=3)
    copy = fuselage.Translator(tmp_path / "copy", beam_size=6)
    assert copy.translate(lines[:5]) == translator.translate(lines[:5])
    assert fuselage.info(tmp_path / "copy")["decode"]["beam-size"] == 3

    report = fuselage.quantize(tmp_path / "copy", tmp_path / "small", "int4")
    assert "int4" in report
    assert fuselage.Translator(tmp_path / "small").translate("Tom is my friend.")


def test_a_model_is_checked(tmp_path):
    checked = fuselage.check(fuselage.find_bundled_model())
    assert checked.passed
    assert "int8" in checked.report


def test_a_lexicon_is_a_shortlist(tmp_path):
    (tmp_path / "en").write_text("Tom is my friend.\nHello.\n" * 3)
    (tmp_path / "de").write_text("Tom ist mein Freund.\nHallo.\n" * 3)
    fuselage.lexicon(tmp_path / "en", tmp_path / "de", tmp_path / "lex.s2t")
    listed = fuselage.Translator(shortlist=[tmp_path / "lex.s2t", 50, 50])
    assert listed.translate("Tom is my friend.") == "Tom ist mein Freund."


def test_the_version_is_the_programs():
    assert run_program("--version") == f"fuselage {fuselage.__version__}\n"


def test_scores_are_those_of_the_command(tmp_path, lines):
    translations = fuselage.Translator().translate(lines[:300])
    (tmp_path / "en").write_text("\n".join(lines[:300]) + "\n")
    (tmp_path / "de").write_text("\n".join(translations) + "\n")
    scores = fuselage.Scorer(alignment=True).score(lines[:300], translations)
    expected = run_program("score", "-t", str(tmp_path / "en"), str(tmp_path / "de"), "--quiet")
    assert [score.score for score in scores] == pytest.approx(
        [float(line) for line in expected.split()], rel=1e-4
    )
    assert scores[0].alignment.shape[0] == len(scores[0].word_scores)
    with pytest.raises(fuselage.Error, match="1 source lines and 2 target lines"):
        fuselage.Scorer().score(["a"], ["b", "c"])


def test_several_translations_of_a_line_have_the_scores_of_each():
    scorer = fuselage.Scorer()
    sources = ["Hello, Tom.", "Where?", "Good."]
    hypotheses = [["Hallo, Tom.", "Wer ist Tom?"], [], ["Gut."]]
    scores = scorer.score_n_best(sources, hypotheses)
    assert [len(entries) for entries in scores] == [2, 0, 1]
    assert scores[0][1].score == scorer.score("Hello, Tom.", "Wer ist Tom?").score
    assert scores[2][0].score == scorer.score("Good.", "Gut.").score
    with pytest.raises(fuselage.Error, match="3 source lines and 1 lists"):
        scorer.score_n_best(sources, [[]])
