"""The graph of a training with the numbers of a quantized model.

Where that model stores a matrix in fewer bits, the graph has the matrix in floats and a node that
quantizes it as `fuselage quantize` does. All else is the stored model's: which matrices these are,
and how its products are computed.
"""

from __future__ import annotations

import json
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

import fuselage.commands
from fuselage.graph import Graph, load_model
from fuselage.structure import Node, Structure
from fuselage.train.config import Model

Settings = dict[str, Any]

# Quantizers by the names of `fuselage quantize`; `bits`, `fitted` and `stored` are fuselage.torch's
# own.
_QUANTIZERS: dict[str, Settings] = {
    "int16": {"to": "qint16", "largest": 32767, "largest_sum": 262143},
    "int8": {"to": "qint8", "largest": 127},
    "int4": {"to": "qlog4", "largest": 128, "bits": 4},
    "int3": {"to": "qlog4", "largest": 128, "bits": 3},
    "int2": {"to": "qlog4", "largest": 128, "bits": 2},
    "int1": {"to": "qlog4", "largest": 128, "bits": 1},
    "int4-log": {"to": "qlog4", "largest": 128, "bits": 4},
    "int4-linear": {"to": "qint8", "largest": 7, "bits": 4, "fitted": True},
    "bf16": {"to": "bf16"},
}
PRECISIONS = ("fp32", *_QUANTIZERS)
_DEFAULTS: Settings = {
    "largest": 127,
    "largest_sum": 0,
    "logarithmic": False,
    "given_scale": 0.0,
    "vectors": 1,
}


def store(path: Path, output: Path, model: Model) -> None:
    """Write a model directory with its matrices as the configuration says, as a user would."""
    choices = ",".join(f"{name}={precision}" for name, precision in model.precision_of.items())
    options: dict[str, Any] = {"precision_of": choices} if choices else {}
    if model.bits:
        options["bits"] = model.bits
    fuselage.commands.quantize(
        path, output, model.precision or "fp32", quiet=True, no_probes=True, **options
    )


def stored_structure(graph: Graph, vocabulary: Path, model: Model) -> Structure:
    """Give the structure of a graph in floats with the numbers of the model that it is stored as.

    Raises Error for what the engine does not store, as a precision or a pattern without a matrix.
    """
    floats = Structure.of(graph)
    zeros = {name: np.zeros(shape, np.float32) for name, shape in floats.parameters.items()}
    with tempfile.TemporaryDirectory() as folder:
        plain, stored = Path(folder) / "floats", Path(folder) / "stored"
        graph.save(plain, zeros, [vocabulary, vocabulary])
        store(plain, stored, model)
        config = json.loads((stored / "config.json").read_text(encoding="utf-8"))
        short, _, _ = load_model(stored)
    products = Structure.of(short.quantized(config["decode"]["precision"]))
    return _with_quantizers(products, _turned(Structure.of(short)), model)


def _quantizer(model: Model, name: str) -> Settings:
    """Give the settings of the node that quantizes a matrix: of the first pattern that matches."""
    choices = model.precision_of.items()
    matching = (precision for pattern, precision in choices if _matches(pattern, name))
    precision = next(matching, model.precision)
    settings = {**_DEFAULTS, **_QUANTIZERS[precision]}
    if model.bits and precision.startswith("int4"):
        settings["bits"] = model.bits
    if settings.get("fitted", False):
        settings["largest"] = 2 ** (settings["bits"] - 1) - 1
    return settings


def _matches(pattern: str, name: str) -> bool:
    return fnmatchcase(name, pattern.replace("[", "[[]"))


def _turned(stored: Structure) -> set[str]:
    """Names of the matrices that are stored with their columns as rows."""
    readers: dict[int, list[Node]] = {}
    for node in stored.nodes:
        for operand in node.operands:
            readers.setdefault(operand, []).append(node)
    turned = set()
    for node in stored.nodes:
        if node.op != "param":
            continue
        readings = readers.get(node.results[0], [])
        numbers = [each.results[0] for each in readings if each.op == "dequantize"]
        uses = [use for value in numbers for use in readers.get(value, [])]
        is_table = stored.domains[stored.values[node.results[0]].domain].kind == "vocabulary"
        if not is_table and uses and all(use.op == "transpose" for use in uses):
            turned.add(node.attributes["name"])
    return turned


def _with_quantizers(products: Structure, turned: set[str], model: Model) -> Structure:
    """Put a matrix in floats and its quantizer in the place of each matrix in fewer bits."""
    nodes: list[dict[str, Any]] = []
    values = {str(number): value for number, value in products.parts["values"].items()}

    def add(op: str, operands: list[int], attributes: Settings, value: Settings) -> int:
        number = max(map(int, values)) + 1
        values[str(number)] = value
        nodes.append(
            {"op": op, "operands": operands, "results": [number], "attributes": attributes}
        )
        return number

    for node in products.parts["nodes"]:
        stored = values[str(node["results"][0])] if node["op"] == "param" else {"dtype": "f32"}
        if stored["dtype"] == "f32":
            nodes.append(node)
            continue
        name, dims = node["attributes"]["name"], list(stored["dims"])
        is_turned = name in turned
        plain = {**stored, "name": "", "dtype": "f32", "dims": dims[::-1] if is_turned else dims}
        attributes = {**node["attributes"], "dims": plain["dims"], "dtype": "f32"}
        vectors = add("param", [], attributes, plain)
        if is_turned:
            vectors = add("transpose", [vectors], {}, {**plain, "dims": dims})
        # Other quantizers are a product's, or the graph's own: they round what is stored in floats.
        settings = {**_quantizer(model, name), "stored": True}
        nodes.append({**node, "op": "quantize", "operands": [vectors], "attributes": settings})
    return Structure({**products.parts, "nodes": nodes, "values": values})
