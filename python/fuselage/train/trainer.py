"""The training of a model, in a prepared folder.

It needs PyTorch and numpy alone, so that a piece of it can run where the engine is not installed.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from fuselage import Error
from fuselage.structure import Structure
from fuselage.torch import Module, Padded
from fuselage.torch.quantization import round_stored
from fuselage.train.batches import Batch, Texts, validation_batches
from fuselage.train.checkpoint import load_checkpoint, save_checkpoint
from fuselage.train.config import Config, build_values
from fuselage.train.encoded import Encoded
from fuselage.train.log import Log
from fuselage.train.optimizer import Optimizer, learning_rate
from fuselage.train.validation import cross_entropy, mean_loss

_SHOW_EVERY = 50


class Models(Protocol):
    """What makes models of weights; see engine.py."""

    def save(self, weights: dict[str, np.ndarray], name: str) -> None:
        """Write a model directory."""

    def bleu(self, weights: dict[str, np.ndarray]) -> float | None:
        """Rate the weights; None if there is nothing to rate them with."""


class Trainer:
    """Trains the model of a prepared folder: checkpoint, log and models.

    A training that was stopped or killed goes on from its last checkpoint and, on a CPU with the
    same number of threads, computes the same bytes as one that was not.
    """

    def __init__(
        self,
        folder: Path,
        *,
        device: str = "cpu",
        small: bool = False,
        models: Models | None = None,
    ) -> None:
        """Read the folder and, if there is one, its checkpoint.

        small: checkpoints in few bits, for pieces of a training on several machines.
        models: makes models of weights; None: there are only checkpoints.
        Raises Error for a folder that was not prepared, and for a checkpoint of another model.
        """
        self.folder = folder
        path = folder / "config.json"
        self.config: Config = build_values(Config, _read(path), str(path))
        self.device = torch.device(device)
        self.small = small
        self.models = models
        data, settings = self.config.data, self.config.training
        self.texts = Texts(
            [Encoded.load(folder / f"train{index}.npz") for index in range(len(data.train))],
            [text.weight for text in data.train],
            settings.seed,
            joined=data.augment.joined,
            max_length=data.clean.max_length,
        )
        self.valid = Encoded.load(folder / "valid.npz")
        torch.manual_seed(settings.seed)
        structure = Structure(_read(folder / "structure.json"))
        initial = folder / "initial.npz"
        weights = dict(np.load(initial)) if initial.exists() else None
        dropout = self.config.model.dropout
        self.module = Module(structure, weights, dropout=dropout).to(self.device)
        self.optimizer = Optimizer(self.module, settings)
        self.epoch, self.position, self.words = 0, 0, 0
        self.epoch_began = 0  # the update with which the epoch began
        self.best, self.since_best = float("inf"), 0
        self._resume()
        self.log = Log(folder, settings.updates, self.optimizer.update)

    def run(self, seconds: float | None = None) -> None:
        """Train until the last update, the end of patience, or the end of the time."""
        stop_at = None if seconds is None else time.monotonic() + seconds
        size = sum(p.numel() for p in self.module.parameters())
        self.log.say(f"{size:,} parameters, {sum(map(len, self.texts.texts)):,} pairs")
        self.module.train()
        settings = self.config.training
        window = _Window()
        while self.optimizer.update < settings.updates:
            for batch in self._updates():
                window.add(*self._update(batch))
                update = self.optimizer.update
                if update % _SHOW_EVERY == 0:
                    self.log.progress(update, window.loss, window.rate)
                if update % self.config.validation.every == 0 or update == settings.updates:
                    self._validate(window)
                    window = _Window()
                if update % self.config.save_every == 0:
                    self.save()
                is_late = stop_at is not None and time.monotonic() > stop_at
                if is_late or update == settings.updates or self._is_over():
                    self._end()
                    return
            self.epoch, self.position = self.epoch + 1, 0
            self.epoch_began = self.optimizer.update

    def save(self) -> None:
        """Write a checkpoint."""
        tensors = {f"weight/{name}": p for name, p in self.module.named_parameters()}
        averages = self.optimizer.state()
        state = {
            "update": self.optimizer.update,
            "epoch": self.epoch,
            "epoch_began": self.epoch_began,
            "position": self.position,
            "words": self.words,
            "best": self.best,
            "since_best": self.since_best,
            "random": torch.get_rng_state().numpy().tobytes().hex(),
        }
        save_checkpoint(
            self.folder / "checkpoint", {**tensors, **averages}, state, small=self.small
        )

    def averaged_weights(self) -> dict[str, np.ndarray]:
        """Give the averaged weights, which are those of the model, by the graph's names."""
        averages = self.optimizer.averages
        return {
            name: averages[name.replace(".", "/")].float().cpu().numpy()
            for name in self.module.structure.parameters
        }

    def _resume(self) -> None:
        stored = load_checkpoint(self.folder / "checkpoint")
        if stored is None:
            return
        tensors, state = stored
        with torch.no_grad():
            for name, parameter in self.module.named_parameters():
                if (
                    f"weight/{name}" not in tensors
                    or parameter.shape != tensors[f"weight/{name}"].shape
                ):
                    raise Error(
                        f"the checkpoint in '{self.folder}' is of another model: '{name}' does not "
                        "fit; use another --output"
                    )
                parameter.copy_(tensors[f"weight/{name}"])
        self.optimizer.load(tensors, state["update"])
        self.epoch, self.position, self.words = state["epoch"], state["position"], state["words"]
        self.best, self.since_best = state["best"], state["since_best"]
        self.epoch_began = state["epoch_began"]
        random = np.frombuffer(bytes.fromhex(state["random"]), np.uint8).copy()
        torch.set_rng_state(torch.from_numpy(random))
        Log.say(f"Going on from update {state['update']}")

    # --- Updates ---

    def _updates(self) -> Any:
        """Give the batches of this epoch that are left, as lists for one update each."""
        settings = self.config.training
        share = self.epoch_began / settings.updates
        used = [share < text.until for text in self.config.data.train]
        batches = self.texts.epoch(self.epoch, settings.batch_tokens, used)
        if not batches:
            raise Error("no text is left to train on; see data.train.until and weight")
        while self.position < len(batches):
            chosen = batches[self.position : self.position + settings.accumulate]
            self.position += len(chosen)
            yield [self.texts.batch(pairs) for pairs in chosen]

    def _update(self, batches: list[Batch]) -> tuple[float, int]:
        """Make one update; gives the sum of losses and the number of words."""
        smoothing = self.config.training.label_smoothing
        words = sum(batch.words for batch in batches)
        total = 0.0
        for batch in batches:
            scores = self._forward(batch)
            loss = cross_entropy(scores, batch.target.to(self.device), smoothing, 1 / words)
            loss.backward()
            total += words * float(loss.detach())
        if not np.isfinite(total):
            raise Error(
                f"the loss is {total} at update {self.optimizer.update + 1}; lower the learning "
                "rate, or make the warm-up longer"
            )
        self.optimizer.step()
        if not self.config.training.error_feedback:
            round_stored(self.module)
        self.optimizer.average()
        self.words += words
        return total, words

    def _forward(self, batch: Batch) -> Tensor:
        half = self.config.training.precision == "bf16"
        context = (
            torch.autocast(self.device.type, torch.bfloat16) if half else contextlib.nullcontext()
        )
        with context:
            inputs = {"source.word": batch.source, "hyp.word": batch.previous}
            scores = self.module(inputs, ["logits"])["logits"]
        assert isinstance(scores, Padded)
        return scores.values

    # --- Validation ---

    def _validate(self, window: _Window) -> None:
        settings = self.config.validation
        own = {name: p.detach().clone() for name, p in self.module.named_parameters()}
        self._set_weights(self.optimizer.averages)
        self.module.eval()
        batches = validation_batches(self.valid, self.config.training.batch_tokens, settings.lines)
        loss = mean_loss(self._forward, batches)
        self.module.train()
        self._set_weights(own)
        row = {
            "update": self.optimizer.update,
            "epoch": self.epoch,
            "words": self.words,
            "valid_loss": loss,
        }
        row |= {"train_loss": window.loss, "seconds": window.seconds}
        row["rate"] = learning_rate(self.optimizer.update, self.config.training)
        message = f"update {self.optimizer.update}: validation loss {loss:.4f} a word"
        score = self.models.bleu(self.averaged_weights()) if self.models else None
        if score is not None:
            row["bleu"] = score
            message += f", BLEU {score:.1f}"
        self.log.say(message)
        self.log.row(**row)
        if loss < self.best:
            self.best, self.since_best = loss, 0
            if self.models:
                self.models.save(self.averaged_weights(), "best")
        else:
            self.since_best += 1

    def _end(self) -> None:
        self.save()
        if self.models:
            self.models.save(self.averaged_weights(), "last")
        self.log.plot(self.folder / "log.png")

    def _set_weights(self, weights: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, parameter in self.module.named_parameters():
                parameter.copy_(weights[name])

    def _is_over(self) -> bool:
        return self.since_best >= self.config.validation.patience


class _Window:
    """Loss and speed since it was made."""

    def __init__(self) -> None:
        self.total, self.words = 0.0, 0
        self.started = time.monotonic()

    def add(self, loss: float, words: int) -> None:
        self.total += loss
        self.words += words

    @property
    def loss(self) -> float:
        return self.total / max(self.words, 1)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        return self.words / max(self.seconds, 1e-9)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Error(f"'{path.parent}' is no prepared training: {error}") from error
