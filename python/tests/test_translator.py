from __future__ import annotations

import json
import threading
import time

import fuselage
import numpy as np
import pytest
from conftest import run_program


def test_lines_lists_and_streams_have_the_texts_of_the_command(translator, lines):
    expected = run_program("translate", "--quiet", text="\n".join(lines) + "\n").splitlines()
    assert translator.translate(lines) == expected
    assert list(translator.translate(line + "\n" for line in lines)) == expected
    assert [translator.translate(line) for line in lines[:10]] == expected[:10]


def test_an_empty_list_and_an_empty_line(translator):
    assert translator.translate([]) == []
    assert list(translator.translate(iter(()))) == []
    assert translator.translate(["", "Hello."])[0] == ""
    assert translator.translate_details("").oddities == ["empty"]


def test_a_stream_is_read_in_bounded_amounts(translator):
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield "Tom is my friend."

    stream = translator.translate(endless())
    assert [next(stream) for _ in range(3)] == ["Tom ist mein Freund."] * 3
    stream.close()
    assert read < 50_000


def test_a_file_is_a_stream(translator, tmp_path):
    (tmp_path / "in.txt").write_text("Tom is my friend.\nWhere is the station?\n")
    with open(tmp_path / "in.txt") as file:
        assert list(translator.translate(file)) == ["Tom ist mein Freund.", "Wo ist der Bahnhof?"]


def test_an_exception_of_the_stream_comes_out_behind_the_earlier_translations(translator):
    class OwnError(Exception):
        pass

    def broken():
        yield "Tom is my friend."
        raise OwnError("here")

    results = translator.translate(broken())
    assert next(results) == "Tom ist mein Freund."
    with pytest.raises(OwnError, match="here"):
        next(results)


def test_details_are_those_of_the_command(lines):
    options = {"n_best": 0, "alignment": True, "beam_size": 4}
    translations = fuselage.Translator(**options).translate_details(lines[:40])
    text = "\n".join(lines[:40]) + "\n"
    arguments = ["--quiet", "--json", "--n-best", "--word-scores", "--alignment", "soft", "-b4"]
    expected = [
        json.loads(line) for line in run_program("translate", *arguments, text=text).splitlines()
    ]
    for translation, line in zip(translations, expected, strict=True):
        assert len(translation.n_best) == len(line["translations"])
        for ours, theirs in zip(translation.n_best, line["translations"], strict=True):
            assert ours.text == theirs["text"]
            assert ours.score == pytest.approx(theirs["score"], rel=1e-4)
            assert ours.word_scores.dtype == np.float32
            assert ours.words.dtype == np.int32
            assert ours.words.shape == ours.word_scores.shape
            np.testing.assert_allclose(ours.word_scores, theirs["word_scores"], rtol=1e-3)
            assert ours.alignment.shape == (len(ours.words), translation.source_words)
            np.testing.assert_allclose(ours.alignment.sum(axis=1), 1, rtol=1e-5)


def test_arrays_outlive_their_translation(translator):
    words = translator.translate_details("Tom is my friend.").n_best[0].words
    copies = [np.array(words) for _ in range(3)]
    del translator
    assert all((copy == words).all() for copy in copies)
    assert words[-1] == 0


def test_guides_are_followed(translator):
    line = "Tom is my friend."
    guide = fuselage.Guide(prefix="Er", terms=[["Kumpel", "Kumpels"]])
    guided = translator.translate(line, guide)
    assert guided.startswith("Er ")
    assert "Kumpel" in guided
    assert translator.translate([line, line], [guide, fuselage.Guide()]) == [
        guided,
        "Tom ist mein Freund.",
    ]
    assert list(translator.translate(iter([line]), iter([guide]))) == [guided]


def test_options_of_the_search_have_the_names_of_the_command(lines):
    options = ["--beam-size", "2", "--output-sampling", "topk", "5", "--seed", "7"]
    expected = run_program("translate", "--quiet", *options, text="\n".join(lines[:20]) + "\n")
    sampling = fuselage.Translator(beam_size=2, output_sampling=["topk", 5], seed=7)
    assert sampling.translate(lines[:20]) == expected.splitlines()


def test_other_threads_run_meanwhile(translator, lines):
    ticks = 0
    done = threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    translator.translate(lines)
    seconds = time.monotonic() - began
    done.set()
    thread.join()
    assert ticks > seconds / 0.001 / 20


def test_threads_share_a_translator(translator, lines):
    expected = translator.translate(lines[:40])
    results = [None] * 4

    def work(i):
        results[i] = translator.translate(lines[:40])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_the_device_and_the_precision_are_options(lines):
    eight = fuselage.Translator(precision="int8", device="cpu", threads=1)
    assert (
        eight.translate(lines[:5])
        == run_program(
            "translate", "--quiet", "--precision", "int8", text="\n".join(lines[:5]) + "\n"
        ).splitlines()
    )
