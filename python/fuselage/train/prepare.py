"""The preparation of a training: vocabulary, texts as ids, and the graph, in its folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

import fuselage.commands
from fuselage import Error
from fuselage.graph import Graph, architecture, load_model
from fuselage.structure import Structure
from fuselage.train.config import Config, build_values, is_stored, to_values
from fuselage.train.log import Log
from fuselage.train.storage import stored_structure
from fuselage.train.text import encode, train_vocabulary

VOCABULARY = "vocab.spm"
GRAPH = "graph.ir"


def prepare(config: Config, folder: Path) -> None:
    """Make what is missing in the folder; what an earlier call has made stays.

    Raises Error for texts and settings that do not fit, and for a folder of another model or text.
    """
    start = config.model.finetune
    if start and not Path(start).exists():
        raise Error(
            f"there is no model '{start}', which the training starts with (model.finetune); name "
            "a model directory"
        )
    folder.mkdir(parents=True, exist_ok=True)
    _claim(config, folder)
    if config.model.finetune:
        _take_model(config, folder)
    _make_vocabulary(config, folder)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / VOCABULARY))
    _store_graph(config, folder, pieces.vocab_size())
    _encode_texts(config, folder, pieces)


def _claim(config: Config, folder: Path) -> None:
    """Store the configuration; model and data must be those of the folder."""
    values, path = to_values(config), folder / "config.json"
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        before = to_values(build_values(Config, stored, str(path)))
        for part in ("model", "data"):
            if before[part] != values[part]:
                raise Error(
                    f"'{folder}' is a training with another '{part}' section; use another "
                    "--output, or remove the folder"
                )
    _write(path, json.dumps(values, indent=1))


def _take_model(config: Config, folder: Path) -> None:
    """Start with the graph, the weights and the vocabulary of a model."""
    path = config.model.finetune
    graph, weights, vocabularies = _load_floats(path)
    if len(set(vocabularies)) != 1 or not vocabularies[0].endswith(".spm"):
        raise Error(
            f"'{path}' has the vocabularies {vocabularies}; only a model with one "
            "SentencePiece model for both sides can be trained further"
        )
    shutil.copyfile(vocabularies[0], folder / VOCABULARY)
    _write(folder / GRAPH, str(graph))
    partial = folder / "initial.partial"
    with partial.open("wb") as file:
        np.savez(file, **weights)
    partial.replace(folder / "initial.npz")


def _load_floats(path: str) -> tuple[Graph, dict[str, np.ndarray], list[str]]:
    """Read a model; matrices that are stored in integers become the numbers that they stand for."""
    graph, weights, vocabularies = load_model(path)
    if all(node.op != "dequantize" for node in Structure.of(graph).nodes):
        return graph, weights, vocabularies
    Log.say(f"'{path}' stores matrices in integers: training starts with their numbers")
    with tempfile.TemporaryDirectory() as floats:
        options = {"precision_of": "*=fp32", "quiet": True, "no_probes": True}
        fuselage.commands.quantize(path, floats, **options)
        graph, weights, _ = load_model(floats)
    return graph, weights, vocabularies


def _make_vocabulary(config: Config, folder: Path) -> None:
    path, data = folder / VOCABULARY, config.data
    if path.exists():
        return
    if not data.vocabulary:
        Log.say(f"Training a vocabulary of {data.vocabulary_size} pieces")
        train_vocabulary(data.train, data.vocabulary_size, path, config.training.seed)
        return
    try:
        shutil.copyfile(data.vocabulary, path)
    except OSError as error:
        raise Error(f"cannot read '{data.vocabulary}': {error.strerror}") from error


def make_graph(config: Config, words: int) -> Graph:
    """Give the graph of a configuration for a vocabulary of `words` entries.

    Raises Error for a graph or options that do not fit.
    """
    model = config.model
    if model.graph:
        try:
            graph = Graph.parse(Path(model.graph).read_text(encoding="utf-8"))
        except OSError as error:
            raise Error(f"cannot read '{model.graph}': {error.strerror}") from error
    else:
        options: dict[str, Any] = {"dim-vocabs": [words, words], **model.options}
        graph = architecture(model.architecture, options)[0]
    inputs = {each.name for each in graph.inputs if each.needed}
    if "logits" not in graph.outputs or inputs != {"source.word", "hyp.word"}:
        raise Error(
            f"the graph has the inputs {sorted(inputs)} and the outputs {graph.outputs}; a "
            "training needs source.word, hyp.word and logits"
        )
    return graph


def _store_graph(config: Config, folder: Path, words: int) -> None:
    if config.model.finetune:
        graph = Graph.parse((folder / GRAPH).read_text(encoding="utf-8"))
    else:
        graph = make_graph(config, words)
        _write(folder / GRAPH, str(graph))
    if is_stored(config.model):
        structure = stored_structure(graph, folder / VOCABULARY, config.model)
    else:
        structure = Structure.of(graph)
    _write(folder / "structure.json", json.dumps(structure.parts))


def _encode_texts(
    config: Config, folder: Path, pieces: sentencepiece.SentencePieceProcessor
) -> None:
    data = config.data
    for index, text in enumerate(data.train):
        path = folder / f"train{index}.npz"
        if not path.exists():
            Log.say(f"Reading {text.path}")
            encode(text, pieces, data.clean, data.augment, config.training.seed + index).save(path)
    path = folder / "valid.npz"
    if not path.exists():
        encode(data.valid, pieces, data.clean, None, 0).save(path)


def _write(path: Path, text: str) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
