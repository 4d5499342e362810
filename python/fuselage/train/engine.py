"""What a training needs the engine for: model directories, and BLEU of translations."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import fuselage
from fuselage.graph import Graph
from fuselage.train.config import Config, is_stored
from fuselage.train.prepare import GRAPH, VOCABULARY
from fuselage.train.storage import store
from fuselage.train.text import read_pairs


class Engine:
    """Writes and rates models of a prepared folder."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.folder = folder
        self.model = config.model
        self.graph = Graph.parse((folder / GRAPH).read_text(encoding="utf-8"))
        count = config.validation.bleu_lines
        pairs = read_pairs(config.data.valid) if count else iter(())
        self.lines = [pair for _, pair in zip(range(count), pairs, strict=False)]

    def save(self, weights: Mapping[str, np.ndarray], name: str) -> None:
        """Write the model directory `name` in the folder, in place of one before."""
        path = self.folder / name
        partial = path.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        self._save(weights, partial)
        shutil.rmtree(path, ignore_errors=True)
        partial.rename(path)

    def bleu(self, weights: Mapping[str, np.ndarray]) -> float | None:
        """Rate greedy translations of the first lines of the validation text with sacrebleu."""
        import sacrebleu

        if not self.lines:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            self._save(weights, path)
            if is_stored(self.model):
                path = Path(folder) / "stored"
                store(Path(folder) / "model", path, self.model)
            translator = fuselage.Translator(path, beam_size=1)
            translations = translator.translate([pair[0] for pair in self.lines])
        return float(sacrebleu.corpus_bleu(translations, [[p[1] for p in self.lines]]).score)

    def _save(self, weights: Mapping[str, np.ndarray], path: Path) -> None:
        vocabulary = self.folder / VOCABULARY
        self.graph.save(path, weights, [vocabulary, vocabulary])
