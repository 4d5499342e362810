from __future__ import annotations

import pickle

import fuselage
import numpy as np
import pytest
from conftest import ROOT, run_program
from fuselage.commands import run_command
from fuselage.graph import (
    Builder,
    Graph,
    broadcast,
    collect,
    dot,
    dot_transposed,
    left,
    max_rows,
    mean_rows,
    mix,
    right,
    select_rows,
    softmax,
    softmax_over_right,
    tanh,
    where,
)


def tagger(words: int = 10, size: int = 4, tags: int = 3) -> Graph:
    """Gives each token a distribution of tags, by its word and the maximum over the sentence."""
    b = Builder("tagger")
    vocabulary = b.add_vocabulary("words", words)
    sentence = b.add_sentences("sentence")
    source = b.add_source("source", sentence)
    word = b.add_word_map("source.word", source, vocabulary)
    x = select_rows(b.param("E", [size], vocabulary), [word])
    x = x + broadcast(max_rows(x), source)
    b.output("tags", softmax(dot(x, b.param("W", [size, tags])) + b.param("b", [tags])))
    return b.build()


def random_weights(graph: Graph, seed: int = 1) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        name: random.normal(size=shape).astype(np.float32)
        for name, shape in graph.parameters.items()
    }


def numpy_tags(weights: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    x = weights["E"][ids]
    logits = (x + x.max(axis=0)) @ weights["W"] + weights["b"]
    exps = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)


def translator_graph(size: int, words: int) -> Graph:
    """An encoder by scan, a decoder with a state, additive attention."""
    b = Builder("small")
    vocabulary = b.add_vocabulary("vocabulary", words)
    sentence = b.add_sentences("sentence")
    source = b.add_source("source", sentence)
    parent = b.add_parents("parent", sentence)
    hyp = b.add_hypotheses("hyp", parent)
    pairs = b.add_pairs("hyp_source", hyp, source)
    source_word = b.add_word_map("source.word", source, vocabulary)
    last_word = b.add_word_map("hyp.word", hyp, vocabulary, partial=True)
    embeddings = b.param("E", [size], vocabulary)

    scan = b.add_scan("forward", source)
    read = b.state(b.constant(0, [size]), scan)
    with b.scope("encoder"):
        word = broadcast(select_rows(embeddings, [source_word]), scan)
        encoded = tanh(dot(word, b.param("enc_W", [size, size])) + 0.5 * read)
    b.next(read, encoded)
    context = collect(encoded)

    state = b.state(tanh(mean_rows(context)), parent)
    last = select_rows(embeddings, [last_word])
    s = tanh(last + dot(broadcast(state, hyp), b.param("dec_W", [size, size])))
    b.next(state, s)
    energy = tanh(right(context, pairs) + left(s, pairs))
    weights = softmax_over_right(dot(energy, b.param("v", [size, 1])))
    b.output("logits", dot_transposed(tanh(s + mix(weights, context)), embeddings))
    b.output("alignment", weights)
    return b.build()


def test_a_graph_gives_the_numbers_of_numpy():
    graph = tagger()
    weights = random_weights(graph)
    sentences = [[3, 1, 4], [1, 5], [9, 2, 6, 5]]
    inputs = {"source.word": [np.array(ids) for ids in sentences]}
    for options in ({}, {"passes": "none"}, {"device": "reference"}, {"exact": True}):
        tags = graph.run(inputs, weights, **options)["tags"]
        assert len(tags) == len(sentences)
        for got, ids in zip(tags, sentences, strict=True):
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, numpy_tags(weights, ids), rtol=1e-5)


def test_a_graph_tells_what_it_is():
    graph = tagger()
    assert graph.parameters == {"E": (10, 4), "W": (4, 3), "b": (3,)}
    assert graph.inputs == [("source.word", "words", True)]
    assert graph.outputs == ["tags"]
    assert repr(graph) == "Graph('tagger', outputs=['tags'])"


def test_the_text_form_is_lossless():
    graph = translator_graph(8, 20)
    assert str(Graph.parse(str(graph))) == str(graph)
    assert str(pickle.loads(pickle.dumps(graph))) == str(graph)
    with pytest.raises(fuselage.Error, match="text:1"):
        Graph.parse("nonsense")


def test_mismatches_name_the_line_of_the_equation():
    b = Builder("wrong")
    x = b.param("x", [4])
    with pytest.raises(fuselage.Error, match=r"\(test_graph.py:\d+\).*9.*8|inner dimensions"):
        dot(b.param("y", [8]), b.param("W", [9, 8]))
    with pytest.raises(fuselage.Error, match="two builders"):
        x + Builder("other").param("x", [4])
    with pytest.raises(TypeError):
        x + "text"
    state = b.state(b.constant(0, [4]), b.add_parents("p", b.add_sentences("s")))
    b.output("y", state + 1)
    with pytest.raises(fuselage.Error, match="next"):
        b.build()


def test_operators_with_numbers():
    b = Builder("numbers")
    x = b.input("x", b.add_sentences("sentence"), [3])
    b.output("y", where(1 - 2 * x / 4 + -x, 3, x))
    values = np.array([[1, 2, 2 / 3], [0, -1, 5]], np.float32)
    y = b.build().run({"x": values}, {})["y"]
    expected = np.where(1 - 2 * values / 4 - values != 0, 3, values)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_rows_where_a_path_leads_nowhere_have_the_default():
    b = Builder("defaults")
    words = b.add_vocabulary("words", 4)
    sentence = b.add_sentences("sentence")
    source = b.add_source("source", sentence)
    word = b.add_word_map("source.word", source, words)
    x = select_rows(b.param("E", [2], words), [word])
    missing = b.param("missing", [2])
    for name, position in (("first", 0), ("third", 2), ("last", -1), ("second_last", -2)):
        token = b.add_token_map(f"source.{name}", source, position)
        b.output(name, select_rows(x, [token], default=missing))
        b.output(f"{name}_or_zero", select_rows(x, [token]))
    table = np.arange(8, dtype=np.float32).reshape(4, 2)
    weights = {"E": table, "missing": np.array([-1, -2], np.float32)}
    inputs = {"source.word": [[3, 1, 2], [0], [2, 1]]}
    for options in ({}, {"passes": "none"}, {"device": "reference"}):
        found = b.build().run(inputs, weights, **options)
        for name, ids in (
            ("first", [3, 0, 2]),
            ("third", [2, -1, -1]),
            ("last", [2, 0, 1]),
            ("second_last", [1, -1, 2]),
        ):
            rows = [table[i] if i >= 0 else weights["missing"] for i in ids]
            np.testing.assert_array_equal(found[name], rows)
            zeros = [table[i] if i >= 0 else [0, 0] for i in ids]
            np.testing.assert_array_equal(found[f"{name}_or_zero"], zeros)
    with pytest.raises(fuselage.Error, match=r"default row must be f32\[2\], not f32\[3\]"):
        select_rows(x, [token], default=b.constant(0, [3]))
    with pytest.raises(fuselage.Error, match="'words' is a vocabulary domain"):
        b.add_token_map("m", words, -1)


def test_slices_of_values():
    b = Builder("slices")
    sentence = b.add_sentences("sentence")
    x = b.input("x", sentence, [2, 5])
    parts = {
        "middle": x[..., 1:4],
        "start": x[..., :2],
        "end": x[..., 3:],
        "negative": x[..., -3:-1],
        "all": x[..., :],
        "step": x[..., 0:2:1],
    }
    for name, part in parts.items():
        b.output(name, part)
    values = np.arange(20, dtype=np.float32).reshape(2, 2, 5)
    found = b.build().run({"x": values})
    np.testing.assert_array_equal(found["middle"], values[..., 1:4])
    np.testing.assert_array_equal(found["start"], values[..., :2])
    np.testing.assert_array_equal(found["end"], values[..., 3:])
    np.testing.assert_array_equal(found["negative"], values[..., -3:-1])
    np.testing.assert_array_equal(found["all"], values)
    np.testing.assert_array_equal(found["step"], values[..., :2])
    for begin, end in ((0, 6), (-6, 2), (3, 3), (4, 2)):
        with pytest.raises(fuselage.Error, match=r"test_graph.py:\d+.*not a part of sentence f32"):
            x[..., begin:end]
    with pytest.raises(fuselage.Error, match="takes no step"):
        x[..., ::2]
    for key in (
        0,
        slice(0, 2),
        (..., 0),
        (0, slice(0, 2)),
        (..., slice(0.5, 2)),
        (..., slice(0, 1 << 70)),
    ):
        with pytest.raises(TypeError, match=r"x\[..., begin:end\]"):
            x[key]
    with pytest.raises(TypeError):
        list(x)


def test_wrong_inputs_are_errors():
    graph = tagger()
    runner = graph.compile(random_weights(graph))
    for inputs, message in (
        ({}, "source.word"),
        ({"source.words": [1]}, "source.words"),
        ({"source.word": [np.array([3, 99])]}, "99"),
    ):
        with pytest.raises(fuselage.Error, match=message):
            runner.run(inputs)
    with pytest.raises(fuselage.Error, match="W"):
        graph.compile({"E": np.zeros((10, 4)), "b": np.zeros(3)})
    with pytest.raises(fuselage.Error, match="W"):
        graph.compile(random_weights(graph) | {"W": np.zeros((5, 3))})


def test_weights_of_another_shape_are_refused_with_both_shapes(tmp_path):
    graph = tagger()
    weights = random_weights(graph)
    inputs = {"source.word": [[1]]}
    (tmp_path / "graph.ir").write_text(str(graph))
    (tmp_path / "ids.txt").write_text("1\n")
    for name, shape, declared in (
        ("W", (3, 4), "[4, 3]"),
        ("W", (12,), "[4, 3]"),
        ("W", (1, 4, 3), "[4, 3]"),
        ("E", (4, 10), "[10, 4]"),
        ("b", (1, 3), "[3]"),
        ("b", (), "[3]"),
    ):
        wrong = weights | {name: np.zeros(shape, np.float32)}
        message = rf"weight '{name}' has shape {list(shape)}, but .* declares {declared}"
        message = message.replace("[", r"\[").replace("]", r"\]")
        for options in ({}, {"device": "reference"}, {"passes": "none"}, {"profile": True}):
            with pytest.raises(fuselage.Error, match=message):
                graph.run(inputs, wrong, **options)
            with pytest.raises(fuselage.Error, match=message):
                graph.compile(wrong, **options)
        # As the command.
        np.savez(tmp_path / "wrong.npz", **wrong)
        with pytest.raises(fuselage.Error, match=message):
            run_command(
                "run",
                [tmp_path / "graph.ir"],
                {"weights": tmp_path / "wrong.npz", "input": f"source.word={tmp_path / 'ids.txt'}"},
            )


def test_a_weight_without_dimensions():
    b = Builder("scalar")
    b.output("y", b.input("x", b.add_sentences("sentence"), [2]) * b.param("a", []))
    graph = b.build()
    y = graph.run({"x": np.ones((1, 2), np.float32)}, {"a": 3})["y"]
    np.testing.assert_array_equal(y, [[3, 3]])
    with pytest.raises(fuselage.Error, match=r"has shape \[1\], but the graph declares \[\]"):
        graph.compile({"a": [3]})


def test_words_are_whole_numbers():
    graph = tagger()
    runner = graph.compile(random_weights(graph))
    for words in (
        [[1.7]],
        [[1.0]],
        [["1"]],
        [[True]],
        [[1, True]],
        [[np.True_, 2]],
        [[1, "1"]],
        [[None]],
        [np.array([1.7])],
        [np.array([True])],
        [np.array(["1"])],
        [1.7],
        "1",
        [[1], ["1"]],
        [[[1], [2, 3]]],
        [[1], 2],
        {1},
    ):
        with pytest.raises(fuselage.Error, match=r"input 'source\.word'"):
            runner.run({"source.word": words})
    expected = runner.run({"source.word": [[1, 2]]})["tags"][0]
    for dtype in (np.int8, np.uint8, np.int32, np.uint64, ">i4"):
        got = runner.run({"source.word": [np.array([1, 2], dtype)]})["tags"][0]
        np.testing.assert_array_equal(got, expected)
    with pytest.raises(fuselage.Error, match="but its vocabulary has 10 entries"):
        runner.run({"source.word": [np.array([2**64 - 1], np.uint64)]})


def test_numbers_are_no_texts():
    b = Builder("numbers")
    b.output("y", b.input("x", b.add_sentences("sentence"), [2]) * b.param("a", [2]))
    graph = b.build()
    for wrong in (["1", "2"], [None, 1], [1j, 2], [[1], [2, 3]]):
        with pytest.raises(fuselage.Error, match="weight 'a'"):
            graph.compile({"a": wrong})
        with pytest.raises(fuselage.Error, match="input 'x'"):
            graph.run({"x": [wrong]}, {"a": [1, 2]})
    with pytest.raises(TypeError, match="weights are a dict of arrays, not list"):
        graph.compile([1, 2])
    with pytest.raises(TypeError, match="inputs are a dict of arrays, not list"):
        graph.compile({"a": [1, 2]}).run([[1, 2]])
    with pytest.raises(TypeError, match="the name of a weight is a text, not int"):
        graph.compile({1: [1, 2]})
    y = graph.run({"x": np.ones((2, 2), np.float64)}, {"a": [np.float16(2), True]})["y"]
    np.testing.assert_array_equal(y, [[2, 1], [2, 1]])


def test_the_steps_of_a_decoder_follow_given_words():
    graph = translator_graph(8, 20)
    runner = graph.compile(random_weights(graph), profile=True)
    inputs = {
        "source.word": [np.array([5, 6, 0]), np.array([7, 0])],
        "hyp.word": [np.array([-1, 3]), np.array([-1, 4])],
    }
    together = runner.run(inputs)
    assert [part.shape for part in together["logits"]] == [(2, 20), (2, 20)]
    alone = runner.run({name: parts[1:] for name, parts in inputs.items()})
    np.testing.assert_array_equal(together["logits"][1], alone["logits"][0])
    times = runner.profile()
    assert times[0].seconds >= times[-1].seconds > 0
    assert {time.program for time in times} == {"source", "step"}
    with pytest.raises(fuselage.Error, match="profile=True"):
        graph.compile(random_weights(graph)).profile()


def test_a_model_of_ones_own_translates(tmp_path):
    words = ["</s>", "<unk>", *(f"w{i}" for i in range(18))]
    (tmp_path / "vocab.yml").write_text("".join(f"{w}: {i}\n" for i, w in enumerate(words)))
    graph = translator_graph(8, len(words))
    vocabularies = [tmp_path / "vocab.yml"] * 2
    graph.save(tmp_path / "model", random_weights(graph), vocabularies)
    translator = fuselage.Translator(tmp_path / "model", beam_size=3, alignment=True)
    translation = translator.translate_details("w3 w5 w7")
    assert translation.text
    assert translation.n_best[0].alignment.shape[1] == 4
    lines = "w3 w5 w7\nw1\n"
    expected = run_program("translate", "-m", str(tmp_path / "model"), "-b3", "--quiet", text=lines)
    assert translator.translate(lines.splitlines()) == expected.splitlines()


def test_the_optimizer_can_be_inspected(tmp_path):
    graph = translator_graph(8, 20)
    assert "kernels" in graph.summary()
    assert "# stage raw" in graph.dump(stage="raw")
    assert "commute_rows" in graph.dump(precision="fp32", time_passes=True)
    assert graph.explain("merge_states@*")
    assert graph.page().startswith("<!DOCTYPE html>")
    assert "<iframe" in graph._repr_html_()
    with pytest.raises(fuselage.Error, match="no_rule"):
        graph.explain("no_rule@*")


def test_the_bundled_models_graph_is_read():
    text = (ROOT / "models" / "en-de" / "graph.ir").read_text()
    assert Graph.parse(text).outputs == ["alignment", "logits"]
