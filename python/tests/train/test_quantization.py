from __future__ import annotations

import numpy as np
import pytest
import torch
from cases import ARCHITECTURES, for_module, random_inputs
from fuselage.graph import Graph, architecture
from fuselage.torch import Module

SETTINGS = [
    "largest = 127",
    "largest = 63",
    "largest = 127, vectors = 3",
    "largest = 127, given_scale = 0.02",
    "to = qint16, largest = 32767, largest_sum = 262143",
    "to = qint16, largest = 8191",
    "largest = 64, logarithmic = true",
    "to = qlog4, largest = 128",
    "to = bf16",
    "to = f16",
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_numbers_are_those_of_the_engine(settings: str) -> None:
    back = "cast(%q) {to = f32}" if settings in ("to = bf16", "to = f16") else "dequantize(%q)"
    graph = Graph.parse(
        'fuselage.graph 1\ngraph "g"\n%w = param() {name = "w", dims = [40, 36]}\n'
        f"%q = quantize(%w) {{{settings}}}\n%y = {back}\nreturn y = %y\n"
    )
    random = np.random.default_rng(3)
    w = random.normal(size=(40, 36)).astype(np.float32) * np.logspace(-4, 4, 40)[:, None]
    w[7] = 0
    w[8] = 2.0 ** random.integers(-5, 2, 36)
    w[9, 1:] = 0
    w = w.astype(np.float32)
    if settings != "largest = 127, given_scale = 0.02":
        w[10] = 1e-41
    expected = graph.run({}, {"w": w}, device="reference")["y"]
    found = Module(graph, {"w": w})({})["y"].detach().numpy()
    assert np.array_equal(found.reshape(expected.shape), expected)


@pytest.mark.parametrize("precision", ["int8", "int16", "int4", "int4-log", "bf16"])
@pytest.mark.parametrize("name", ["transformer-ssru", "s2s"])
def test_a_quantized_graph_gives_the_engines_scores(name: str, precision: str) -> None:
    graph, weights = architecture(*ARCHITECTURES[name])
    inputs = random_inputs(graph)
    expected = graph.run(inputs, weights, precision=precision, passes="quantize")["logits"]
    module = Module(graph.quantized(precision), weights)
    found = module(for_module(graph, inputs, torch.float32), ["logits"])["logits"].values
    exact = graph.run(inputs, weights)["logits"]
    for sentence, rows in enumerate(expected):
        own = found[sentence, : len(rows)].detach().numpy()
        # A sum in another order may round an element of a row to the next integer.
        close = np.abs(own - rows) < 1e-4
        assert close.mean() > 0.5
        drift = np.abs(rows - exact[sentence]).max() + 1e-4
        assert np.abs(own - rows).max() <= drift
    loss = found[:, :2].square().sum()
    loss.backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in module.parameters())
