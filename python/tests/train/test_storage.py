"""Matrices that a training has as the engine stores them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fuselage import Error, Scorer
from fuselage.graph import Graph, load_model
from fuselage.structure import Structure
from fuselage.torch import Module
from fuselage.torch.quantization import round_stored
from fuselage.train.config import Model
from fuselage.train.storage import PRECISIONS, store, stored_structure

STORED: list[dict[str, Any]] = [
    {"precision": "int4-linear"},
    {"precision": "int4-linear", "bits": 3},
    {"precision": "int4-linear", "bits": 2, "precision_of": {"E": "int8"}},
    {"precision": "int4"},
    {"precision": "int4", "bits": 3, "precision_of": {"E": "int4-linear"}},
    {"precision": "int4-log"},
    {"precision": "int2"},
    {"precision": "int1"},
    {"precision": "int8"},
    {"precision": "int16"},
    {"precision": "bf16"},
    {"precision_of": {"encoder?*": "int4-linear", "E": "int8"}},
]

# Odd sizes, a square matrix, one that products read transposed, and one that all readers turn.
GRAPH = """fuselage.graph 1
graph "g"
domain vocabulary = vocabulary 11
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
map source.word : source -> vocabulary
map hyp.word : hyp -> vocabulary partial
%E = param() {name = "E", domain = vocabulary, dims = [37]}
%bias = param() {name = "bias", dims = [37]}
%s = select_rows(%E) {via = [source.word]}
%x = add(%s, %bias)
%l = select_rows(%E) {via = [hyp.word]}
%h = add(%l, %bias)
%wide = param() {name = "encoder_wide", dims = [37, 301]}
%a = matmul(%x, %wide)
%square = param() {name = "decoder_square", dims = [37, 37]}
%b = matmul(%h, %square)
%rows = param() {name = "decoder_rows", dims = [5, 37]}
%c = matmul(%b, %rows) {transposed = true}
%turned = param() {name = "decoder_turned", dims = [37, 5]}
%t = transpose(%turned)
%d = matmul(%c, %t)
%e = add(%d, %bias)
%logits = matmul(%e, %E) {transposed = true}
return wide = %a, logits = %logits
"""


def matrices(graph: Graph) -> dict[str, np.ndarray]:
    """Numbers of all sizes, with rows and columns that are 0, powers of two, or very small."""
    random = np.random.default_rng(5)
    weights = {}
    for name, shape in Structure.of(graph).parameters.items():
        w = random.standard_normal(shape) * np.logspace(-3, 2, shape[-1])
        if len(shape) == 2:
            w[:, 0], w[1] = 0, 0
            w[:, 2] = 2.0 ** random.integers(-5, 2, shape[0])
            w[3, 1:] = 0
            w[:, 4] = 1e-39
            w[0] *= np.logspace(-6, 3, shape[1])
        weights[name] = w.astype(np.float32)
    return weights


def stored_model(
    graph: Graph, weights: dict[str, np.ndarray], model: Model, folder: Path
) -> tuple[dict[str, np.ndarray], Structure]:
    """The numbers of a graph that is stored, and the structure of a training."""
    size = next(d.size for d in Structure.of(graph).domains if d.kind == "vocabulary")
    vocabulary = folder / "vocabulary.yml"
    vocabulary.write_text("</s>: 0\n<unk>: 1\n" + "".join(f"w{i}: {i}\n" for i in range(2, size)))
    graph.save(folder / "floats", weights, [vocabulary, vocabulary])
    store(folder / "floats", folder / "stored", model)
    return load_model(folder / "stored")[1], stored_structure(graph, vocabulary, model)


def quantizers(structure: Structure) -> dict[str, tuple[int, bool]]:
    """The value of the quantizer of each matrix, and whether it has the columns as rows."""
    names = {n.results[0]: n.attributes["name"] for n in structure.nodes if n.op == "param"}
    operands = {n.results[0]: n.operands[0] for n in structure.nodes if n.op == "transpose"}
    found = {}
    for node in structure.nodes:
        read = node.operands[0] if node.op == "quantize" else -1
        if operands.get(read, read) in names:
            found[names[operands.get(read, read)]] = node.results[0], read in operands
    return found


@pytest.mark.parametrize("settings", STORED)
def test_stored_matrices_have_the_numbers_of_the_engine(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    graph = Graph.parse(GRAPH)
    weights = matrices(graph)
    numbers, structure = stored_model(graph, weights, Model(**settings), tmp_path)
    outputs = [(name, value) for name, (value, _) in quantizers(structure).items()]
    assert len(outputs) == (2 if "precision" not in settings else 5)
    found = Module(Structure({**structure.parts, "outputs": outputs}), weights)({})
    for name, rows in found.items():
        assert isinstance(rows, torch.Tensor)
        assert np.array_equal(rows.detach().numpy(), numbers[name]), name
        assert not np.array_equal(numbers[name], weights[name])


@pytest.mark.parametrize(
    "settings", [*STORED, {"precision": "int8", "precision_of": {"decoder_square": "fp32"}}]
)
def test_rounded_parameters_have_the_numbers_of_the_engine(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    graph = Graph.parse(GRAPH)
    weights = matrices(graph)
    numbers, structure = stored_model(graph, weights, Model(**settings), tmp_path)
    is_turned = {name: turned for name, (_, turned) in quantizers(structure).items()}
    module = Module(structure, weights)
    round_stored(module)
    for name, rounded in module.weights().items():
        expected = numbers[name].T if is_turned.get(name, False) else numbers[name]
        assert np.array_equal(rounded, expected.reshape(rounded.shape)), name
    changed = [n for n, w in module.weights().items() if not np.array_equal(w, weights[n])]
    assert len(changed) == (2 if "precision" not in settings else 5 - ("fp32" in str(settings)))


def test_a_quantizer_of_the_graph_itself_rounds_no_parameter() -> None:
    graph = Graph.parse(
        'fuselage.graph 1\ngraph "g"\n%w = param() {name = "w", dims = [5, 7]}\n'
        "%q = quantize(%w) {largest = 7}\n%y = dequantize(%q)\nreturn y = %y\n"
    )
    w = np.random.default_rng(2).standard_normal((5, 7)).astype(np.float32)
    module = Module(graph, {"w": w})
    assert not np.array_equal(module({})["y"].detach().numpy().reshape(w.shape), w)
    round_stored(module)
    assert np.array_equal(module.weights()["w"], w)


@pytest.mark.parametrize("settings", [STORED[i] for i in (0, 2, 4, 8)])
def test_a_stored_model_gives_the_modules_scores(settings: dict[str, Any], tmp_path: Path) -> None:
    graph = Graph.parse(GRAPH)
    random = np.random.default_rng(6)
    shapes = Structure.of(graph).parameters.items()
    weights = {n: random.normal(size=s, scale=0.35).astype(np.float32) for n, s in shapes}
    structure = stored_model(graph, weights, Model(**settings), tmp_path)[1]
    words = [[5, 3, 9], [2], [10, 4, 4, 8, 2, 7]]
    lines = [" ".join(f"w{word}" for word in line) for line in words]
    expected = Scorer(tmp_path / "stored").score(lines, lines)
    module = Module(structure, weights)
    inputs = {"source.word": [[*line, 0] for line in words], "hyp.word": [[-1, *w] for w in words]}
    logits = module(inputs, ["logits"])["logits"].values
    found = torch.log_softmax(logits, -1)
    for sentence, line in enumerate(words):
        own = found[sentence, range(len(line) + 1), [*line, 0]].detach().numpy()
        assert own == pytest.approx(expected[sentence].word_scores, abs=1e-3)
    # Those of the floats are others.
    floats = Scorer(tmp_path / "floats").score(lines, lines)
    assert abs(floats[2].log_probability - expected[2].log_probability) > 0.01
    logits.square().sum().backward()
    gradients = {name: p.grad for name, p in module.named_parameters() if name != "encoder_wide"}
    assert all(g is not None and torch.isfinite(g).all() and g.any() for g in gradients.values())


@pytest.mark.parametrize("precision", PRECISIONS[1:])
def test_each_precision_that_a_configuration_may_name_is_one_of_the_engine(
    precision: str, tmp_path: Path
) -> None:
    graph = Graph.parse(GRAPH)
    numbers, _ = stored_model(graph, matrices(graph), Model(precision=precision), tmp_path)
    assert numbers.keys() == Structure.of(graph).parameters.keys()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"precision": "int4-liner"}, "did you mean 'int4-linear'"),
        ({"precision": "fp32"}, "with --precision fp32 alone nothing is stored in fewer bits"),
        ({"precision": "int8", "bits": 3}, "--bits is about 4-bit numbers, not int8"),
        ({"precision": "int4-linear", "bits": 1}, "a number of int4-linear has 2 to 4 bits"),
        ({"precision": "int4", "bits": 5}, "--bits"),
        ({"precision_of": {"F": "int8"}}, "no matrix of the model matches 'F'"),
        ({"precision_of": {"bias": "int8"}}, "it matches vectors only"),
        ({"precision_of": {"*": "int4-log"}}, "int4-log is about the rows"),
    ],
)
def test_what_the_engine_does_not_store_is_refused(
    settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    graph = Graph.parse(GRAPH)
    with pytest.raises(Error, match=message):
        stored_model(graph, matrices(graph), Model(**settings), tmp_path)
