"""Teacher to student: `python -m fuselage.train.distill CONFIG.yml`.

Sequence-level distillation (Kim and Rush 2016, "Sequence-Level Knowledge Distillation", sections
3.2 and 3.3) as steps, each of which is left out when its result is there.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fuselage
from fuselage import Error
from fuselage.train.config import Config, Text, build_values, read_config, read_yaml
from fuselage.train.engine import Engine
from fuselage.train.log import Log
from fuselage.train.prepare import prepare
from fuselage.train.text import Pair, read_pairs
from fuselage.train.trainer import Trainer

_CHUNK = 2000


@dataclass
class Translation:
    """How teachers translate the student's texts.

    n_best: hypotheses of a line, of which the nearest to its reference is kept, by chrF.
    min_chrf: pairs whose translation is farther from the reference are left out, from 0 to 100.
    """

    beam_size: int = 6
    n_best: int = 8
    normalize: float = 0.6
    min_chrf: float = 20.0


@dataclass
class Shortlist:
    """Limits of the student's lexical shortlist."""

    first: int = 100
    best: int = 100


@dataclass
class Distillation:
    """The steps: teachers and student are configurations of trainings.

    precision: the student is stored in it.
    test: a text that the result is rated on, beside the teachers.
    """

    teachers: list[str] = field(default_factory=list)
    student: str = ""
    translation: Translation = field(default_factory=Translation)
    shortlist: Shortlist = field(default_factory=Shortlist)
    precision: str = "int8"
    test: Text = field(default_factory=Text)


class Pipeline:
    """The steps of one distillation, in a folder."""

    def __init__(self, config: Path, folder: Path, data: str | None, device: str) -> None:
        self.settings: Distillation = build_values(Distillation, read_yaml(config), str(config))
        if not self.settings.teachers or not self.settings.student or not self.settings.test.path:
            raise Error(f"{config}: 'teachers', 'student' and 'test' have to be named")
        self.folder = folder
        self.device = device
        root = config.parent
        self.teachers = [read_config(root / path, data) for path in self.settings.teachers]
        self.student = read_config(root / self.settings.student, data)
        base = Path(data) if data else root
        path = self.settings.test.path
        self.settings.test.path = (
            [str(base / each) for each in path] if isinstance(path, list) else str(base / path)
        )

    def run(self) -> dict[str, Any]:
        """Run all steps; gives the figures of the last one."""
        teachers = [
            self._train(config, f"teacher{number}") for number, config in enumerate(self.teachers)
        ]
        texts = [
            self._translate(teachers, text, self.folder / f"distilled{number}.tsv.gz")
            for number, text in enumerate(self.student.data.train)
        ]
        data = dataclasses.replace(self.student.data, train=texts)
        student = self._train(dataclasses.replace(self.student, data=data), "student")
        lexicon = self._lexicon(texts, student)
        stored = self.folder / f"student-{self.settings.precision}"
        if not stored.exists():
            Log.say(f"Storing the student in {self.settings.precision}")
            fuselage.commands.quantize(student, stored, self.settings.precision)
        return self._rate(teachers, student, stored, lexicon)

    def _train(self, config: Config, name: str) -> Path:
        folder = self.folder / name
        done = folder / "done"
        if not done.exists():
            Log.say(f"Training {name}")
            prepare(config, folder)
            Trainer(folder, device=self.device, models=Engine(config, folder)).run()
            done.touch()
        return folder / "last"

    def _translate(self, teachers: list[Path], text: Text, path: Path) -> Text:
        """Translate a text in chunks, so that a stop loses one of them at most."""
        made = dataclasses.replace(text, path=str(path))
        if path.exists():
            return made
        Log.say(f"Translating {text.path}")
        settings = self.settings.translation
        translator = fuselage.Translator(
            models=[str(teacher) for teacher in teachers],
            device=self.device,
            n_best=settings.n_best,
            beam_size=max(settings.beam_size, settings.n_best),
            normalize=settings.normalize,
        )
        parts = []
        for number, pairs in enumerate(_chunks(read_pairs(text))):
            part = path.with_suffix(f".{number}")
            if not part.exists():
                _write(part, list(self._distilled(translator, pairs)))
            parts.append(part)
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            for part in parts:
                file.write(part.read_bytes())  # gzip members one after the other
        partial.replace(path)
        for part in parts:
            part.unlink()
        return made

    def _distilled(self, translator: fuselage.Translator, pairs: list[Pair]) -> Iterator[Pair]:
        """Give the hypothesis of each line that is nearest to its reference, if near enough."""
        from sacrebleu.metrics import CHRF

        chrf = CHRF()
        translations = translator.translate_details([pair[0] for pair in pairs])
        for (source, reference), translation in zip(pairs, translations, strict=True):
            rated = [
                (chrf.sentence_score(each.text, [reference]).score, -rank, each.text)
                for rank, each in enumerate(translation.n_best)
            ]
            score, _, best = max(rated, default=(0.0, 0, ""))
            if best and score >= self.settings.translation.min_chrf:
                yield source, best

    def _lexicon(self, texts: list[Text], student: Path) -> Path:
        path = self.folder / "lexicon.bin"
        if path.exists():
            return path
        Log.say("Making a shortlist")
        sides = [self.folder / f"lexicon.{side}" for side in ("source", "target")]
        with (
            sides[0].open("w", encoding="utf-8") as source,
            sides[1].open("w", encoding="utf-8") as target,
        ):
            for text in texts:
                for pair in read_pairs(text):
                    source.write(pair[0] + "\n")
                    target.write(pair[1] + "\n")
        limits = dataclasses.asdict(self.settings.shortlist)
        partial = path.with_suffix(".partial.bin")
        fuselage.commands.lexicon(*sides, partial, student, **limits)
        partial.replace(path)
        for side in sides:
            side.unlink()
        return path

    def _rate(
        self, teachers: list[Path], student: Path, stored: Path, lexicon: Path
    ) -> dict[str, Any]:
        import sacrebleu

        pairs = list(read_pairs(self.settings.test))
        source, references = [p[0] for p in pairs], [[p[1] for p in pairs]]
        # Marian's binary form has its limits in it.
        ways: dict[str, dict[str, Any]] = {
            "teachers": {"models": [str(teacher) for teacher in teachers], "beam_size": 6},
            "student": {"path": student, "beam_size": 1},
            self.settings.precision: {"path": stored, "beam_size": 1},
            f"{self.settings.precision}, shortlist": {
                "path": stored,
                "beam_size": 1,
                "shortlist": [str(lexicon)],
            },
        }
        figures = {}
        for name, options in ways.items():
            translations = fuselage.Translator(**options).translate(source)
            figures[name] = round(sacrebleu.corpus_bleu(translations, references).score, 2)
            Log.say(f"BLEU {figures[name]:5.2f}  {name}")
        (self.folder / "figures.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
        return figures


def _chunks(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    chunk: list[Pair] = []
    for pair in pairs:
        chunk.append(pair)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _write(path: Path, pairs: list[Pair]) -> None:
    partial = path.with_name(path.name + ".partial")
    with gzip.open(partial, "wt", encoding="utf-8") as file:
        file.writelines(f"{source}\t{target}\n" for source, target in pairs)
    partial.replace(path)


def main() -> int:
    """Run the command; gives its exit status."""
    import torch

    parser = argparse.ArgumentParser(
        prog="python -m fuselage.train.distill", description="Train a student of teachers."
    )
    parser.add_argument("config", type=Path)
    parser.add_argument("--output", type=Path, help="folder (default: ~/fuselage-training/NAME)")
    parser.add_argument("--data", help="folder of the texts (that of the configuration)")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, help="threads of PyTorch on a CPU")
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    folder = given.output or Path.home() / "fuselage-training" / given.config.stem
    folder.mkdir(parents=True, exist_ok=True)
    try:
        Pipeline(given.config, folder, given.data, given.device).run()
    except Error as error:
        print(f"fuselage.train.distill: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("fuselage.train.distill: interrupted; the next start goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
