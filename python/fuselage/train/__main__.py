"""The command `python -m fuselage.train`."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import torch

from fuselage import Error
from fuselage.train.config import Config, read_config, to_values
from fuselage.train.trainer import Trainer

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def main() -> int:
    """Run the command; gives its exit status."""
    given = _arguments()
    if given.threads:
        torch.set_num_threads(given.threads)
    try:
        if given.defaults:
            _show_defaults()
        else:
            _train(given)
    except Error as error:
        print(f"fuselage.train: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("fuselage.train: interrupted; the last checkpoint is kept", file=sys.stderr)
        return 130
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m fuselage.train", description="Train a translation model."
    )
    parser.add_argument(
        "config", nargs="?", help="YAML; without it the prepared folder of --output goes on"
    )
    parser.add_argument("--output", help="folder of the training (~/fuselage-training/NAME)")
    parser.add_argument("--data", help="folder of the texts (that of the configuration)")
    parser.add_argument("--finetune", metavar="MODEL", help="start from a model: model.finetune")
    parser.add_argument(
        "--precision", help="what matrices are stored for, such as int4: model.precision"
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, help="threads of PyTorch on a CPU")
    parser.add_argument("--time", type=_duration, help="stop in time with a checkpoint: 8m")
    parser.add_argument("--small-checkpoints", action="store_true", help="5 bytes a parameter")
    parser.add_argument("--pack", metavar="FILE", help="do not train; pack a piece: .tar.xz")
    parser.add_argument("--export", metavar="NAME", help="do not train; write the model NAME")
    parser.add_argument("--defaults", action="store_true", help="show all keys of a configuration")
    given = parser.parse_args()
    if given.config is None and given.output is None and not given.defaults:
        parser.error("name a configuration, or a prepared folder by --output")
    if given.config is None and _model_values(given):
        parser.error("--finetune and --precision change a configuration; name it too")
    return given


def _train(given: argparse.Namespace) -> None:
    folder = Path(given.output or Path.home() / "fuselage-training" / Path(given.config).stem)
    models = None
    if given.config:
        # A piece of a training has neither the engine nor SentencePiece.
        from fuselage.train.engine import Engine
        from fuselage.train.prepare import prepare

        config = read_config(given.config, given.data, _model_values(given))
        prepare(config, folder)
        models = Engine(config, folder)
    if given.pack:
        from fuselage.train.pack import pack

        pack(folder, Path(given.pack))
        return
    trainer = Trainer(folder, device=given.device, small=given.small_checkpoints, models=models)
    if given.export:
        if models is None:
            raise Error("a model is written by the engine; name the configuration too")
        models.save(trainer.averaged_weights(), given.export)
        return
    trainer.run(given.time)


def _model_values(given: argparse.Namespace) -> dict[str, str]:
    """Give the values of the section `model` that the command line has in place of the file's."""
    values = {}
    if given.finetune is not None:
        # The same from any folder, since a training goes on with the model that it began with.
        values["finetune"] = str(Path(given.finetune).absolute())
    if given.precision is not None:
        values["precision"] = given.precision
    return values


def _show_defaults() -> None:
    import yaml

    print(yaml.safe_dump(to_values(Config()), sort_keys=False), end="")


def _duration(text: str) -> float:
    found = re.fullmatch(r"([0-9.]+)([smh]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no time such as 90s, 8m or 2h")
    return float(found[1]) * _UNITS[found[2]]


if __name__ == "__main__":
    sys.exit(main())
