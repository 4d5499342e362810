"""Graphs, weights and inputs at random, and what the engine makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from fuselage.graph import Graph
from fuselage.structure import Structure
from fuselage.torch import Padded

LENGTHS = [5, 1, 3]
STEPS = [4, 2, 6]

SMALL: dict[str, Any] = {
    "dim-vocabs": [13, 11],
    "dim-emb": 8,
    "dim-rnn": 6,
    "enc-depth": 2,
    "dec-depth": 2,
}
TRANSFORMER: dict[str, Any] = {**SMALL, "transformer-heads": 2, "transformer-dim-ffn": 12}
SSRU = {"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru"}

ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "s2s": ("s2s", SMALL),
    "s2s-lstm": ("s2s", {**SMALL, "enc-cell": "lstm", "dec-cell": "lstm"}),
    "s2s-deep-norm": (
        "s2s",
        {**SMALL, "layer-normalization": True, "skip": True, "enc-cell-depth": 2},
    ),
    "s2s-alternating": ("s2s", {**SMALL, "enc-type": "alternating"}),
    "amun": ("amun", {**SMALL, "enc-depth": 1, "dec-depth": 1}),
    "nematus": (
        "nematus",
        {
            **SMALL,
            "enc-depth": 1,
            "dec-depth": 1,
            "enc-cell": "gru-nematus",
            "dec-cell": "gru-nematus",
        },
    ),
    "transformer": ("transformer", {**TRANSFORMER, "transformer-guided-alignment-layer": "last"}),
    "transformer-pre": (
        "transformer",
        {**TRANSFORMER, "transformer-preprocess": "n", "transformer-postprocess": "da"},
    ),
    "transformer-ssru": (
        "transformer",
        {**TRANSFORMER, **SSRU, "dim-vocabs": [11, 11], "tied-embeddings-all": True},
    ),
    "transformer-gru": (
        "transformer",
        {**TRANSFORMER, "transformer-decoder-autoreg": "rnn", "dec-cell": "gru"},
    ),
    "transformer-average": (
        "transformer",
        {**TRANSFORMER, "transformer-decoder-autoreg": "average-attention"},
    ),
    "transformer_s2s": ("transformer_s2s", TRANSFORMER),
    "multi-s2s": ("multi-s2s", {**SMALL, "dim-vocabs": [13, 13, 11]}),
    "multi-transformer": ("multi-transformer", {**TRANSFORMER, "dim-vocabs": [13, 13, 11]}),
    "lm": ("lm", {**SMALL, "dim-vocabs": [11]}),
    "lm-transformer": ("lm-transformer", {**TRANSFORMER, "dim-vocabs": [11]}),
    "rnn-stack": (
        "rnn-stack",
        {
            "dim-vocabs": [13, 11],
            "dim-emb": 8,
            "encoder": ["bi-gru 6"],
            "decoder": ["mlstm+gru 6", "relu-layer 8"],
            "readout": 8,
        },
    ),
}


def random_inputs(graph: Graph, seed: int = 1) -> dict[str, list[np.ndarray]]:
    """Rows for each sentence of all inputs of a graph."""
    random = np.random.default_rng(seed)
    structure = Structure.of(graph)
    inputs: dict[str, list[Any]] = {}
    for each in graph.inputs:
        if each.kind == "words":
            row_map = next(m for m in structure.maps if m.name == each.name)
            kind = structure.domains[row_map.source].kind
            size = structure.domains[row_map.target].size
            lengths = {"sentence": [None] * 3, "hypothesis": STEPS}.get(kind, LENGTHS)
            inputs[each.name] = [random.integers(0, size, n) for n in lengths]
            if kind == "hypothesis" and row_map.partial:
                for words in inputs[each.name]:
                    words[0] = -1
        elif each.kind == "numbers":
            value = next(
                structure.values[n.results[0]]
                for n in structure.nodes
                if n.op == "input" and n.attributes["name"] == each.name
            )
            kind = structure.domains[value.domain].kind
            shapes = [value.dims if kind == "sentence" else (n, *value.dims) for n in LENGTHS]
            inputs[each.name] = [random.normal(size=shape).astype(np.float32) for shape in shapes]
        else:
            kind = next(d.kind for d in structure.domains if d.name == each.name)
            inputs[each.name] = STEPS if kind in ("hypothesis", "parent") else LENGTHS
    return inputs


def for_module(graph: Graph, inputs: dict[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    """The same inputs for a module: numbers of rows as rows without content."""
    made: dict[str, Any] = {}
    for each in graph.inputs:
        given = inputs[each.name]
        if each.kind == "rows":
            lengths = torch.tensor(given)
            made[each.name] = Padded(torch.zeros(len(given), int(lengths.max())), lengths)
        elif each.kind == "numbers":
            parts = [torch.as_tensor(part, dtype=dtype) for part in given]
            made[each.name] = parts if np.ndim(given[0]) > 1 else torch.stack(parts)
        else:
            made[each.name] = given
    return made


def rows_of(output: Padded | torch.Tensor, result: Any, value_rows: int) -> np.ndarray:
    """The rows that exist of a module's output, in the engine's order."""
    if isinstance(output, Padded):
        parts = [output.values[i, :n] for i, n in enumerate(output.lengths)]
        return torch.cat([part.reshape(-1) for part in parts]).detach().numpy()
    return output.detach().reshape(-1).numpy()
