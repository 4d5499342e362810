"""The configuration of a training: YAML as dataclasses, checked before anything starts."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from fuselage import Error


@dataclass
class Model:
    """What is trained: an architecture of the tree with Marian's options, or a graph.

    graph: a file with the text form of a graph, which has a source text, the words of the
        hypotheses and an output `logits`.
    finetune: a model directory whose graph, weights and vocabulary the training starts with.
    precision: what matrices are stored for, as by `fuselage quantize --precision`: int8, int4,
        int4-linear …; the forward pass has the numbers of the stored model. Empty: fp32.
    precision_of: the same for matrices by patterns of their names; the first that matches counts.
    bits: of a number of int4, int4-log and int4-linear, if it is not 4.
    dropout: for patterns of names of values, the share of elements that are set to 0.
    """

    architecture: str = "transformer"
    options: dict[str, Any] = field(default_factory=dict)
    graph: str = ""
    finetune: str = ""
    precision: str = ""
    precision_of: dict[str, str] = field(default_factory=dict)
    bits: int = 0
    dropout: dict[str, float] = field(default_factory=dict)


@dataclass
class Text:
    """A parallel text: a file with a pair a line between tabs, or two files. gzip is read as it is.

    weight: how often a pair is used in an epoch; 0.5 is every second one, drawn anew each time.
    until: the share of the training after which the text is no longer used.
    reversed: the target is the first side.
    replace: regular expressions (Python's `re`) and their replacements, in both sides.
    """

    path: str | list[str] = ""
    weight: float = 1.0
    until: float = 1.0
    lines: int = 0
    reversed: bool = False
    replace: dict[str, str] = field(default_factory=dict)


@dataclass
class Cleaning:
    """Pairs that are left out: too long, in pieces, or of lengths that differ by a factor."""

    max_length: int = 120
    max_ratio: float = 3.0


@dataclass
class Augmentation:
    """Other forms of pairs, as real text has them.

    joined: the share of lines that go on with one to three other lines of their text, drawn anew in
        each epoch.
    renamed: the share of pairs that are added again with other names and numbers, if both sides
        have the same.
    The others are shares of pairs that are added again in another form.
    """

    without_final_punctuation: float = 0.0
    upper_case: float = 0.0
    lower_case: float = 0.0
    joined: float = 0.0
    copied: float = 0.0
    renamed: float = 0.0


@dataclass
class Data:
    """Texts and vocabulary. vocabulary: a SentencePiece model; empty: trained on the texts.

    reversed: all texts are, for a model of the other direction.
    replace: replacements in all texts for training, as in Text: an old spelling, say.
    """

    train: list[Text] = field(default_factory=list)
    valid: Text = field(default_factory=Text)
    reversed: bool = False
    replace: dict[str, str] = field(default_factory=dict)
    vocabulary: str = ""
    vocabulary_size: int = 8000
    clean: Cleaning = field(default_factory=Cleaning)
    augment: Augmentation = field(default_factory=Augmentation)


@dataclass
class Optimization:
    """AdamW with warm-up and the inverse square root (Vaswani et al. 2017, section 5.3).

    batch_tokens: padded target words of a batch; accumulate: batches of an update.
    average: the factor of exponential averaging of the weights; 0: none.
    cooldown: the share of the updates, the last ones, in which the rate falls to 0 in a line.
    precision: fp32, or bf16 for products, with weights in fp32.
    error_feedback: weights that model.precision rounds in the forward pass stay in fp32, so that
        what is rounded off counts in the next update (Aji and Heafield 2020, section 3.4); false:
        each update rounds the weights themselves.
    """

    seed: int = 1
    updates: int = 100_000
    batch_tokens: int = 4000
    accumulate: int = 1
    learning_rate: float = 1e-3
    warmup: int = 1000
    cooldown: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.98
    weight_decay: float = 0.0
    clip_norm: float = 1.0
    label_smoothing: float = 0.1
    average: float = 0.999
    precision: str = "fp32"
    error_feedback: bool = True


@dataclass
class Validation:
    """every: updates between validations; patience: of them without a lower loss, until the end.

    bleu_lines: lines that are translated by the engine and rated; 0: none.
    """

    every: int = 1000
    patience: int = 10
    lines: int = 2000
    bleu_lines: int = 0


@dataclass
class Config:
    """All of it. save_every: updates between checkpoints."""

    model: Model = field(default_factory=Model)
    data: Data = field(default_factory=Data)
    training: Optimization = field(default_factory=Optimization)
    validation: Validation = field(default_factory=Validation)
    save_every: int = 500


def read_config(
    path: str | Path, data: str | Path | None = None, model: Mapping[str, Any] | None = None
) -> Config:
    """Read a YAML file; paths in it are relative to its folder, those of texts to `data` if given.

    model: values in place of the file's, by the names of Model's fields; paths in them stay.
    Raises Error naming the file and the key for an unknown key or a value of another type, and for
    a file that does not exist.
    """
    path = Path(path)
    config = build_values(Config, read_yaml(path), str(path))
    _resolve(config, path.parent, Path(data) if data else path.parent)
    config.model = replace(config.model, **(model or {}))
    _check(config, f"{path} with the command line" if model else str(path))
    return config


def read_yaml(path: Path) -> Any:
    """Read a YAML file. Raises Error for one that cannot be read."""
    import yaml

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise Error(f"cannot read '{path}': {error.strerror}") from error
    except yaml.YAMLError as error:
        raise Error(f"'{path}' is not YAML: {error}") from error


def build_values(kind: Any, values: Any, where: str) -> Any:
    """Make a dataclass of values of YAML. Raises Error for an unknown key or another type."""
    return _build(kind, values, where, "")


def _build(kind: Any, values: Any, where: str, prefix: str) -> Any:
    if not isinstance(values, dict):
        raise Error(f"{where}: '{prefix.rstrip('.')}' must be a mapping, not {values!r}")
    types = typing.get_type_hints(kind)
    known = {each.name.replace("_", "-"): each for each in fields(kind)}
    made = {}
    for key, value in values.items():
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(known)}"
            raise Error(f"{where}: there is no key '{prefix}{key}'{hint}")
        name = known[key].name
        made[name] = _value(types[name], value, where, f"{prefix}{key}")
    return kind(**made)


def _value(kind: Any, value: Any, where: str, key: str) -> Any:
    if is_dataclass(kind):
        return _build(kind, value, where, f"{key}.")
    if typing.get_origin(kind) is list and is_dataclass(typing.get_args(kind)[0]):
        if not isinstance(value, list):
            raise Error(f"{where}: '{key}' must be a list, not {value!r}")
        of = typing.get_args(kind)[0]
        return [_build(of, each, where, f"{key}[{i}].") for i, each in enumerate(value)]
    if typing.get_origin(kind) is dict and not isinstance(value, dict):
        raise Error(f"{where}: '{key}' must be a mapping, not {value!r}")
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    allowed = {int: int, str: str, float: float, bool: bool}.get(kind)
    if allowed is not None and (
        not isinstance(value, allowed) or isinstance(value, bool) != (kind is bool)
    ):
        raise Error(f"{where}: '{key}' must be {kind.__name__}, not {value!r}")
    return value


def _resolve(config: Config, folder: Path, data: Path) -> None:
    def at(path: str) -> str:
        return str(data / path) if path else path

    model = config.model
    model.graph = str(folder / model.graph) if model.graph else ""
    model.finetune = str(folder / model.finetune) if model.finetune else ""
    config.data.vocabulary = at(config.data.vocabulary)
    for text in [*config.data.train, config.data.valid]:
        text.path = [at(p) for p in text.path] if isinstance(text.path, list) else at(text.path)
        text.reversed ^= config.data.reversed
    for text in config.data.train:
        text.replace = {**config.data.replace, **text.replace}


def _check(config: Config, where: str) -> None:
    if not config.data.train:
        raise Error(f"{where}: 'data.train' names no text")
    if not config.data.valid.path:
        raise Error(f"{where}: 'data.valid' names no text")
    for text in config.data.train:
        for pattern, replacement in text.replace.items():
            _check_replacement(pattern, replacement, where)
    model = config.model
    for pattern, precision in model.precision_of.items():
        if not isinstance(pattern, str) or not isinstance(precision, str):
            raise Error(
                f"{where}: 'model.precision-of' has {pattern!r}: {precision!r}, not two strings"
            )
        _check_precision("model.precision-of", precision, where)
    if model.precision:
        _check_precision("model.precision", model.precision, where)
    if model.bits and not is_stored(model):
        raise Error(f"{where}: 'model.bits' is {model.bits}, but there is no 'model.precision'")
    if not config.training.error_feedback and not is_stored(model):
        raise Error(
            f"{where}: 'training.error-feedback' is false, but there is no 'model.precision' to "
            "round weights for; name one, or leave the key out"
        )
    if config.training.precision not in ("fp32", "bf16"):
        raise Error(
            f"{where}: 'training.precision' is '{config.training.precision}', not fp32 or bf16"
        )
    bounds: list[tuple[str, float, float]] = [
        ("updates", config.training.updates, 1),
        ("batch-tokens", config.training.batch_tokens, 1),
        ("accumulate", config.training.accumulate, 1),
        ("warmup", config.training.warmup, 1),
    ]
    for key, value, least in bounds:
        if value < least:
            raise Error(f"{where}: 'training.{key}' is {value}, expected at least {least}")
    if not 0 <= config.training.cooldown <= 1:
        raise Error(
            f"{where}: 'training.cooldown' is {config.training.cooldown}, not a share of 0 to 1"
        )


def _check_precision(key: str, precision: str, where: str) -> None:
    # Not at the top: a piece of a training lacks the engine, which this module needs.
    from fuselage.train.storage import PRECISIONS

    if precision not in PRECISIONS:
        near = difflib.get_close_matches(precision, PRECISIONS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"it can be {', '.join(PRECISIONS)}"
        raise Error(f"{where}: '{key}' is '{precision}', which is no precision of matrices; {hint}")


def _check_replacement(pattern: Any, replacement: Any, where: str) -> None:
    try:
        if not isinstance(pattern, str) or not isinstance(replacement, str):
            raise Error(f"{where}: 'replace' has {pattern!r}: {replacement!r}, not two strings")
        re.sub(pattern, replacement, "")
    except (re.error, IndexError) as error:
        raise Error(f"{where}: 'replace' has {pattern!r}: {replacement!r}: {error}") from error


def is_stored(model: Model) -> bool:
    """Whether the forward pass has the numbers of a model in fewer bits."""
    return bool(model.precision or model.precision_of)


def to_values(config: Any) -> Any:
    """Give a configuration as the values that build_values() takes; Config() has the defaults."""
    if is_dataclass(config):
        return {
            each.name.replace("_", "-"): to_values(getattr(config, each.name))
            for each in fields(config)
        }
    return [to_values(each) for each in config] if isinstance(config, list) else config
