from __future__ import annotations

import copy
import csv
import gzip
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuselage
import numpy as np
import pytest
import yaml
from fuselage import Error
from fuselage.commands import quantize
from fuselage.graph import Graph, load_model
from fuselage.structure import Structure
from fuselage.train.__main__ import main
from fuselage.train.batches import Texts, make_batch
from fuselage.train.checkpoint import load_checkpoint, save_checkpoint
from fuselage.train.config import Augmentation, Config, Optimization, Text, read_config
from fuselage.train.engine import Engine
from fuselage.train.optimizer import learning_rate
from fuselage.train.prepare import prepare
from fuselage.train.storage import store
from fuselage.train.text import other_forms, read_pairs
from fuselage.train.trainer import Trainer

CONFIG = {
    "model": {
        "architecture": "transformer",
        "options": {
            "dim-emb": 16,
            "transformer-heads": 2,
            "transformer-dim-ffn": 32,
            "enc-depth": 1,
            "dec-depth": 1,
            "transformer-decoder-autoreg": "rnn",
            "dec-cell": "ssru",
            "tied-embeddings-all": True,
        },
        "dropout": {"*_embedding": 0.1},
    },
    "data": {
        "train": [{"path": "train.tsv.gz"}],
        "valid": {"path": ["valid.en", "valid.de"]},
        "vocabulary-size": 400,
        "augment": {"upper-case": 0.1, "joined": 0.2},
    },
    "training": {"updates": 60, "batch-tokens": 300, "warmup": 10, "learning-rate": 0.003},
    "validation": {"every": 20, "bleu-lines": 5},
    "save-every": 5,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, lines, translator) -> Path:
    """A configuration and texts: lines of the documentation and their translations."""
    folder = tmp_path_factory.mktemp("training")
    pairs = list(zip(lines, translator.translate(lines), strict=True))
    with gzip.open(folder / "train.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{s}\t{t}\n" for s, t in pairs[:180])
    for side, name in enumerate(("valid.en", "valid.de")):
        text = "\n".join(pair[side] for pair in pairs[180:])
        (folder / name).write_text(text + "\n", encoding="utf-8")
    (folder / "config.yml").write_text(yaml.safe_dump(CONFIG))
    return folder


def command(folder: Path, output: str, *arguments: str) -> list[str]:
    config = str(folder / "config.yml")
    output = str(folder / output)
    return [
        sys.executable,
        "-m",
        "fuselage.train",
        config,
        "--output",
        output,
        "--threads",
        "1",
        *arguments,
    ]


def test_texts_are_read_in_the_other_direction(folder):
    there = read_config(folder / "config.yml").data
    values = {**CONFIG, "data": {**CONFIG["data"], "reversed": True}}
    (folder / "reversed.yml").write_text(yaml.safe_dump(values))
    back = read_config(folder / "reversed.yml").data
    for text, other in zip([*there.train, there.valid], [*back.train, back.valid], strict=True):
        assert [(b, a) for a, b in read_pairs(text)] == list(read_pairs(other))


def test_expressions_are_replaced_in_texts_for_training(folder: Path) -> None:
    (folder / "old.tsv").write_text("He must know that.\tEr muß wissen, daß es muß.\n")
    values = copy.deepcopy(CONFIG)
    values["data"] |= {
        "train": [{"path": "old.tsv", "replace": {r"uß\b": "uss"}}],
        "replace": {r"\b([Dd])aß\b": r"\1ass"},
    }
    (folder / "old.yml").write_text(yaml.safe_dump(values))
    (text,) = read_config(folder / "old.yml").data.train
    assert list(read_pairs(text)) == [("He must know that.", "Er muss wissen, dass es muss.")]


@pytest.mark.parametrize("replaced", [{"(": ""}, {"a": r"\2"}, {"a": 1}])
def test_an_expression_that_is_none_is_an_error(folder: Path, replaced: dict[str, object]) -> None:
    values = copy.deepcopy(CONFIG)
    values["data"]["replace"] = replaced
    (folder / "bad.yml").write_text(yaml.safe_dump(values))
    with pytest.raises(Error, match=r"bad\.yml: 'replace' has '[(a]': "):
        read_config(folder / "bad.yml")


def test_a_training_that_is_killed_three_times_gives_the_checkpoint_of_one_that_is_not(
    folder: Path,
) -> None:
    subprocess.run(command(folder, "whole"), check=True)
    kills = 0
    for delay in (0, 0.01, 0.03):
        process = subprocess.Popen(command(folder, "killed"))
        reached = folder / "killed" / "checkpoint" / "state.json"
        began = reached.stat().st_mtime if reached.exists() else 0.0
        while process.poll() is None and (not reached.exists() or reached.stat().st_mtime == began):
            time.sleep(0.01)
        time.sleep(delay)
        kills += process.poll() is None
        process.kill()
        process.wait()
    assert kills == 3
    subprocess.run(command(folder, "killed"), check=True)
    whole, killed = (
        {p.name: p.read_bytes() for p in (folder / n / "checkpoint").iterdir()}
        for n in ("whole", "killed")
    )
    assert whole == killed
    losses = [list(csv.DictReader((folder / n / "log.csv").open())) for n in ("whole", "killed")]
    assert [row["valid_loss"] for row in losses[0]] == [row["valid_loss"] for row in losses[1]]
    assert float(losses[0][-1]["valid_loss"]) < float(losses[0][0]["valid_loss"])
    # The best model is a model directory that the engine runs.
    assert (
        len(fuselage.Translator(folder / "whole" / "best").translate(["Hello.", "A graph."])) == 2
    )


def test_a_training_stops_in_time_and_goes_on(folder: Path) -> None:
    subprocess.run(command(folder, "pieces", "--time", "0.01s", "--small-checkpoints"), check=True)
    first = load_checkpoint(folder / "pieces" / "checkpoint")
    assert first is not None and first[1]["update"] == 1
    subprocess.run(command(folder, "pieces", "--time", "0.01s", "--small-checkpoints"), check=True)
    second = load_checkpoint(folder / "pieces" / "checkpoint")
    assert second is not None and second[1]["update"] == 2


def test_a_piece_runs_without_the_engine_and_comes_back(folder: Path) -> None:
    import tarfile

    subprocess.run(command(folder, "home", "--time", "0.01s", "--small-checkpoints"), check=True)
    subprocess.run(command(folder, "home", "--pack", str(folder / "piece.tar.xz")), check=True)
    with tarfile.open(folder / "piece.tar.xz") as archive:
        archive.extractall(folder / "away")
    piece = folder / "away" / "piece"
    assert not (piece / "code" / "fuselage" / "graph.py").exists()
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    subprocess.run([piece / "run.sh", "0.01s", "--threads", "1"], check=True, env=environment)
    home = folder / "home" / "checkpoint"
    for file in home.iterdir():
        file.unlink()
    for file in (piece / "training" / "checkpoint").iterdir():
        file.rename(home / file.name)
    assert load_checkpoint(home)[1]["update"] == 2
    subprocess.run(command(folder, "home", "--export", "now"), check=True)
    assert fuselage.Translator(folder / "home" / "now").translate("A graph.") is not None


def test_a_folder_is_of_one_model_and_text(folder: Path, tmp_path: Path) -> None:
    subprocess.run(command(folder, "one", "--time", "0.01s"), check=True)
    changed = {**CONFIG, "model": {**CONFIG["model"], "dropout": {}}}
    (folder / "other.yml").write_text(yaml.safe_dump(changed))
    other = command(folder, "one")
    other[3] = str(folder / "other.yml")
    done = subprocess.run(other, capture_output=True, text=True)
    assert done.returncode == 1 and "is a training with another 'model' section" in done.stderr
    alone = [sys.executable, "-m", "fuselage.train", "--output", str(tmp_path)]
    done = subprocess.run(alone, capture_output=True, text=True)
    assert done.returncode == 1 and "is no prepared training" in done.stderr


def test_a_model_stored_in_integers_is_trained_further_from_its_numbers(
    folder: Path, tmp_path: Path, lines: list[str]
) -> None:
    model = fuselage.find_bundled_model()
    values = {**CONFIG, "model": {"finetune": model}}
    (folder / "further.yml").write_text(yaml.safe_dump(values))
    prepare(read_config(folder / "further.yml"), tmp_path)
    graph = Graph.parse((tmp_path / "graph.ir").read_text(encoding="utf-8"))
    assert all(node.op != "dequantize" for node in Structure.of(graph).nodes)
    with np.load(tmp_path / "initial.npz") as weights:
        graph.save(tmp_path / "floats", dict(weights), [tmp_path / "vocab.spm"] * 2)
    floats = fuselage.Translator(tmp_path / "floats", precision="fp32", beam_size=1)
    stored = fuselage.Translator(model, precision="fp32", beam_size=1, no_shortlist=True)
    assert floats.translate(lines[:5]) == stored.translate(lines[:5])


def test_a_training_in_fewer_bits_has_the_loss_of_the_model_that_is_stored(
    folder: Path, tmp_path: Path
) -> None:
    subprocess.run(command(folder, "start", "--time", "0.01s"), check=True)
    values = copy.deepcopy(CONFIG)
    values["model"] = {
        "finetune": str(folder / "start" / "last"),
        "precision": "int4-linear",
        "bits": 2,
        "precision-of": {"Wemb": "int8"},
    }
    values["training"] |= {"updates": 10, "average": 0.0}
    values["validation"] = {"every": 10, "bleu-lines": 2}
    (folder / "few.yml").write_text(yaml.safe_dump(values))
    further = command(folder, "few")
    further[3] = str(folder / "few.yml")
    subprocess.run(further, check=True)
    model = folder / "few" / "last"
    fuselage.commands.quantize(
        model, tmp_path / "stored", "int4-linear", bits=2, precision_of="Wemb=int8"
    )
    sides = zip(*read_pairs(read_config(folder / "few.yml").data.valid), strict=True)
    sources, targets = map(list, sides)

    def loss_of(path: Path) -> float:
        scores = fuselage.Scorer(path, threads=1).score(sources, targets)
        words = sum(len(score.word_scores) for score in scores)
        return -sum(score.log_probability for score in scores) / words

    (row,) = csv.DictReader((folder / "few" / "log.csv").open())
    loss, of_floats = loss_of(tmp_path / "stored"), loss_of(model)
    assert abs(float(row["valid_loss"]) - loss) < 0.05 * abs(of_floats - loss)


def few_bits(folder: Path, name: str, **training: Any) -> tuple[Config, Path]:
    """A prepared training whose matrices are stored in few bits, of a number of updates."""
    values = copy.deepcopy(CONFIG)
    values["model"] |= {
        "precision": "int4-linear",
        "bits": 2,
        "precision-of": {"Wemb": "int8"},
    }
    values["training"] |= training
    values["validation"] = {"every": 100, "lines": 5}
    path = folder / f"{name}.yml"
    path.write_text(yaml.safe_dump(values))
    config = read_config(path)
    prepare(config, folder / name)
    return config, folder / name


def test_without_error_feedback_an_update_leaves_the_stored_numbers(
    folder: Path, tmp_path: Path
) -> None:
    modules = []
    for error_feedback in (True, False):
        name = f"feedback-{error_feedback}"
        training = {"updates": 1, "average": 0.0, "error-feedback": error_feedback}
        config, output = few_bits(folder, name, **training)
        trainer = Trainer(output)
        trainer.run()
        modules.append(trainer.module)
        # The average, which is the model, is of the rounded parameters.
        for key, weight in trainer.averaged_weights().items():
            assert np.array_equal(weight, trainer.module.weights()[key])
    with_feedback, without = (module.weights() for module in modules)
    # The engine rounds what the same update without rounding has made.
    graph = Graph.parse((output / "graph.ir").read_text(encoding="utf-8"))
    graph.save(tmp_path / "floats", with_feedback, [output / "vocab.spm"] * 2)
    store(tmp_path / "floats", tmp_path / "stored", config.model)
    quantize(tmp_path / "stored", tmp_path / "numbers", precision_of="*=fp32", no_probes=True)
    _, numbers, _ = load_model(tmp_path / "numbers")
    rounded = [n for n, w in with_feedback.items() if not np.array_equal(w, numbers[n])]
    assert "Wemb" in rounded and len(rounded) > 5
    for key, weight in without.items():
        assert np.array_equal(weight, numbers[key]), key


def test_a_training_without_error_feedback_that_was_stopped_has_the_bytes_of_one_that_was_not(
    folder: Path,
) -> None:
    training = {"updates": 6, "error-feedback": False}
    _, whole = few_bits(folder, "whole-few", **training)
    _, pieces = few_bits(folder, "pieces-few", **training)
    Trainer(whole).run()
    for update in range(1, 7):
        Trainer(pieces).run(0)
        assert load_checkpoint(pieces / "checkpoint")[1]["update"] == update
    for file in (whole / "checkpoint").iterdir():
        assert file.read_bytes() == (pieces / "checkpoint" / file.name).read_bytes()


@pytest.fixture
def run_here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The command in this process, in a current folder; gives its exit status."""

    def run(folder: Path, *arguments: str) -> int:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["fuselage.train", *arguments])
        return main()

    return run


def test_the_command_line_names_the_model_to_start_from_and_its_precision(
    folder: Path,
    tmp_path: Path,
    run_here: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun = read_config(folder / "config.yml")
    prepare(begun, folder / "begun")
    Trainer(folder / "begun", models=Engine(begun, folder / "begun")).run(0)
    values = copy.deepcopy(CONFIG)
    values["model"] |= {"finetune": "none", "precision": "int4", "precision-of": {"Wemb": "int16"}}
    (tmp_path / "other.yml").write_text(yaml.safe_dump(values))
    output = folder / "further"
    further = [str(tmp_path / "other.yml"), "--data", str(folder), "--output", str(output)]
    further += ["--time", "0.01s", "--precision", "int8", "--finetune"]
    # A path is relative to the current folder, not to that of the configuration.
    assert run_here(folder, *further, "begun/last") == 0
    model = json.loads((output / "config.json").read_text(encoding="utf-8"))["model"]
    assert model["finetune"] == str(folder / "begun" / "last")
    assert model["precision"] == "int8" and model["precision-of"] == {"Wemb": "int16"}
    structure = Structure(json.loads((output / "structure.json").read_text(encoding="utf-8")))
    largest = {n.attributes["largest"] for n in structure.nodes if n.attributes.get("stored")}
    assert largest == {127, 32767}
    _, weights, _ = load_model(folder / "begun" / "last")
    with np.load(output / "initial.npz") as initial:
        assert all(np.array_equal(initial[name], weights[name]) for name in weights)
    # From another folder the same model goes on.
    assert run_here(tmp_path, *further, str(folder / "begun" / "last")) == 0
    assert "Going on from update 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--precision", "int4-liner"],
            "config.yml with the command line: 'model.precision' is 'int4-liner', which is no "
            "precision of matrices; did you mean 'int4-linear'?",
        ),
        (["--finetune", "none"], "none', which the training starts with (model.finetune); name a"),
    ],
)
def test_a_model_or_a_precision_that_there_is_not_leaves_no_folder(
    folder: Path,
    arguments: list[str],
    message: str,
    run_here: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_here(folder, "config.yml", "--output", "wrong", *arguments) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "wrong").exists()


@pytest.mark.parametrize("arguments", [["--precision", "int8"], ["--finetune", "begun/last"]])
def test_a_model_of_the_command_line_needs_a_configuration(
    folder: Path,
    arguments: list[str],
    run_here: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run_here(folder, "--output", ".", *arguments)
    assert "--finetune and --precision change a configuration" in capsys.readouterr().err


def test_a_checkpoint_is_files_of_at_most_16_megabytes(tmp_path: Path) -> None:
    import torch

    tensors = {"a": torch.rand(5_000_000), "b": torch.rand(7), "none": torch.rand(0)}
    save_checkpoint(tmp_path / "c", tensors, {"update": 3})
    assert all(file.stat().st_size <= 16e6 for file in (tmp_path / "c").iterdir())
    stored, state = load_checkpoint(tmp_path / "c")
    assert state == {"update": 3}
    assert torch.equal(stored["a"], tensors["a"]) and stored["none"].shape == (0,)
    # What a kill leaves of a newer one does not count.
    (tmp_path / "c.partial").mkdir()
    assert load_checkpoint(tmp_path / "c")[1] == {"update": 3}
    (tmp_path / "c" / "part0.bin").write_bytes(b"short")
    with pytest.raises(fuselage.Error, match="is damaged"):
        load_checkpoint(tmp_path / "c")


def test_a_small_checkpoint_has_5_bytes_a_parameter_and_nearly_the_same_numbers(
    tmp_path: Path,
) -> None:
    import torch

    torch.manual_seed(1)
    weight = torch.randn(300, 400)
    tensors = {
        "weight/a/b": weight,
        "average/a/b": weight + 0.01 * torch.randn(300, 400),
        "exp_avg/a/b": 1e-6 * torch.randn(300, 400) ** 3,
        "exp_avg_sq/a/b": 1e-12 * torch.randn(300, 400) ** 6,
    }
    tensors["exp_avg_sq/a/b"][0, :3] = torch.tensor([0.0, 1e-35, 1e-11])
    save_checkpoint(tmp_path / "c", tensors, {}, small=True)
    assert (tmp_path / "c" / "part0.bin").stat().st_size < 5 * weight.numel() + 100
    stored, _ = load_checkpoint(tmp_path / "c")
    assert torch.equal(stored["weight/a/b"], weight.half())
    for name in ("average/a/b", "exp_avg/a/b"):
        error = (stored[name].float() - tensors[name]).abs()
        size = tensors[name].abs() if name[0] == "e" else (tensors[name] - weight).abs()
        assert (error <= size / 8 + size.max() / 1e5 + 1e-3 * (name[0] == "a")).all()
    squares = stored["exp_avg_sq/a/b"]
    assert squares[0, 0] == 0 and (squares[0, 1:] > 0).all()
    large = tensors["exp_avg_sq/a/b"] > 1e-9 * tensors["exp_avg_sq/a/b"].max()
    assert ((squares / tensors["exp_avg_sq/a/b"])[large] - 1).abs().max() < 0.3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"trainig": {}}, "there is no key 'trainig'; did you mean 'training'"),
        ({"training": {"updates": "many"}}, "'training.updates' must be int, not 'many'"),
        ({"training": {"updates": 0}}, "'training.updates' is 0, expected at least 1"),
        ({"training": {"precision": "fp8"}}, "'training.precision' is 'fp8', not fp32 or bf16"),
        ({"model": {"bits": 3}}, "'model.bits' is 3, but there is no 'model.precision'"),
        ({"model": {"precision": "int9"}}, "'model.precision' is 'int9', which .* you mean 'int8'"),
        (
            {"model": {"precision-of": {"E": "8"}}},
            "'model.precision-of' is '8', which .* it can be",
        ),
        (
            {"training": {"error-feedback": False}},
            "'training.error-feedback' is false, but there is no 'model.precision'",
        ),
        ({"training": {"error-feedback": 0}}, "'training.error-feedback' must be bool, not 0"),
        ({"model": {"precision-of": {"E": 8}}}, "'model.precision-of' has 'E': 8, not two strings"),
        ({"data": {"train": []}}, "'data.train' names no text"),
        ({"data": {"replace": ["a"]}}, r"'data.replace' must be a mapping, not \['a'\]"),
        ({"data": {"train": [{"paths": "x"}]}}, r"no key 'data.train\[0\].paths'"),
    ],
)
def test_a_configuration_that_does_not_fit_is_an_error(
    tmp_path: Path, changed, message: str
) -> None:
    path = tmp_path / "c.yml"
    path.write_text(yaml.safe_dump({**CONFIG, **changed}))
    with pytest.raises(fuselage.Error, match=message):
        read_config(path)


def test_a_text_that_cannot_be_read_is_an_error_with_its_line(tmp_path: Path) -> None:
    def errors_of(text: Text) -> str:
        with pytest.raises(fuselage.Error) as error:
            list(read_pairs(text))
        return str(error.value)

    bad = tmp_path / "bad.tsv"
    bad.write_bytes(b"a\tb\nonly one\n")
    assert "line 2: expected two texts with a tab" in errors_of(Text(str(bad)))
    bad.write_bytes(b"a\tb\nc\t\xff\n")
    assert "line 2: it is not UTF-8" in errors_of(Text(str(bad)))
    bad.write_bytes(b"")
    assert "has no lines" in errors_of(Text(str(bad)))
    assert "cannot read" in errors_of(Text(str(tmp_path / "none")))
    (tmp_path / "short").write_text("a\n")
    (tmp_path / "long").write_text("a\nb\n")
    both = [str(tmp_path / "short"), str(tmp_path / "long")]
    assert "ends after 1 lines" in errors_of(Text(both))
    assert "ends after 1 lines" in errors_of(Text(both[::-1]))
    packed = tmp_path / "cut.gz"
    packed.write_bytes(gzip.compress(b"a\tb\n" * 100)[:-9])
    assert "cut.gz" in errors_of(Text(str(packed)))


def test_other_forms_keep_both_sides_alike() -> None:
    every = Augmentation(without_final_punctuation=1, upper_case=1, lower_case=1, copied=1)
    forms = list(other_forms([("A man.", "Ein Mann."), ("Go!", "Geh!")], every, 1))
    assert ("A MAN.", "EIN MANN.") in forms and ("a man.", "Ein Mann.") in forms
    assert ("A man", "Ein Mann") in forms and ("Go", "Geh") in forms
    assert ("Ein Mann.", "Ein Mann.") in forms


def test_renamed_pairs_have_other_names_and_numbers_on_both_sides() -> None:
    pairs = [
        ("I met Tom in Boston.", "Ich habe Tom in Boston getroffen."),
        ("Tom has 15 books.", "Tom hat 15 Bücher."),
        ("In the end it was Mary's.", "In der Tat war es Marys."),
    ]
    forms = list(other_forms(pairs * 20, Augmentation(renamed=1), 1))
    assert len(forms) == 40
    for source, target in forms[::2]:
        first, second = re.fullmatch(r"I met (\S+) in (\S+)\.", source).groups()  # type: ignore[union-attr]
        assert target == f"Ich habe {first} in {second} getroffen."
    for source, target in forms[1::2]:
        name, number = re.fullmatch(r"(\S+) has ([1-9]\d) books\.", source).groups()  # type: ignore[union-attr]
        assert target == f"{name} hat {number} Bücher."
    assert len(set(forms)) > 30


def test_batches_have_every_pair_as_often_as_its_weight(folder: Path) -> None:
    import numpy as np
    from fuselage.train.encoded import Encoded

    random = np.random.default_rng(1)

    def text(count: int) -> Encoded:
        sides = [[list(range(1, 2 + random.integers(9))) for _ in range(count)] for _ in range(2)]
        return Encoded(*sides)

    texts = Texts([text(50), text(40), text(30)], [2, 0.5, 1], 7)
    pairs = np.concatenate(texts.epoch(0, 60, [True, True, False]))
    assert np.sum(pairs[:, 0] == 0) == 100 and not np.any(pairs[:, 0] == 2)
    assert 8 < np.sum(pairs[:, 0] == 1) < 32
    again, other = texts.epoch(0, 60, [True] * 3), texts.epoch(1, 60, [True] * 3)
    assert not np.array_equal(np.concatenate(again), np.concatenate(other))
    for chosen in again:
        batch = texts.batch(chosen)
        assert batch.source.values.numel() <= 60 and batch.target.numel() <= 60


def test_lines_are_joined_up_to_a_length() -> None:
    import numpy as np
    from fuselage.train.encoded import Encoded

    sides = [[[10 + i] * (1 + i % 3) for i in range(60)] for _ in range(2)]
    texts = Texts([Encoded(*sides)], [1], 7, joined=0.5, max_length=5)
    lines = np.concatenate(texts.epoch(0, 100, [True]))
    assert sorted(lines[:, 1]) == list(range(60))
    counts = np.sum(lines[:, 1:] >= 0, 1)
    assert 15 < np.sum(counts > 1) < 45 and counts.max() > 2
    batch = texts.batch(lines)
    assert batch.source.lengths.max() <= 6
    joined = lines[np.argmax(counts)]
    row = texts.batch(joined[None]).target[0].tolist()
    assert row == [id for i in joined[1:] if i >= 0 for id in sides[0][i]] + [0]


def test_a_batch_reads_the_word_before_and_predicts_the_end() -> None:
    import numpy as np

    batch = make_batch([np.array([5, 6]), np.array([7])], [np.array([8]), np.array([9, 10])])
    assert batch.source.values.tolist() == [[5, 6, 0], [7, 0, -1]]
    assert batch.previous.values.tolist() == [[-1, 8, -1], [-1, 9, 10]]
    assert batch.target.tolist() == [[8, 0, -100], [9, 10, 0]]
    assert batch.words == 5


def test_the_learning_rate_rises_falls_and_ends_at_zero() -> None:
    settings = Optimization(updates=1000, warmup=100, learning_rate=0.01, cooldown=0.2)
    rates = [learning_rate(update, settings) for update in range(1, 1001)]
    assert rates[49] == pytest.approx(0.005)
    assert rates[399] == pytest.approx(0.005)
    assert rates[900] == pytest.approx(0.5 * 0.01 * (100 / 901) ** 0.5)
    assert 0 < rates[999] < 1e-4
    settings.cooldown = 0
    assert learning_rate(1000, settings) == pytest.approx(0.01 * 0.1**0.5)


def test_the_configurations_of_the_repository_can_be_read() -> None:
    from conftest import ROOT
    from fuselage.train.distill import Pipeline
    from fuselage.train.prepare import make_graph

    folder = ROOT / "models" / "training"
    for path in folder.glob("*.yml"):
        if path.stem == "distill":
            assert len(Pipeline(path, path, None, "cpu").teachers) == 2
        else:
            config = read_config(path)
            make_graph(config, config.data.vocabulary_size)
