"""Words that translate each other, counted in aligned sentences."""

from __future__ import annotations

import functools
import gzip
from collections import Counter, defaultdict
from pathlib import Path

from cleaning import WORD
from repository import SourceError

_STEM = 6  # letters
_TRANSLATIONS = 6  # of a stem
_LEAST_COUNT = 3
_LEAST_SCORE = 0.02


def stems(text: str) -> list[str]:
    """Return the beginnings of the words of a text, in lower case and without old spellings."""
    folded = text.lower().replace("th", "t").replace("ß", "ss")
    return [word[:_STEM] for word in WORD.findall(folded)]


class Lexicon:
    """Translations and forms of words, of train.en.gz and train.de.gz in a folder.

    The files are read at the first use.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @functools.cached_property
    def forms(self) -> Counter[str]:
        """How often each German word occurs."""
        return Counter(word for _, german in self._pairs for word in WORD.findall(german))

    @functools.cached_property
    def translations(self) -> dict[str, list[str]]:
        """The German stems that go with an English stem, the best first.

        The score of a pair of stems is count(both)^2 / (count(one) count(other)), over sentences.
        """
        together: dict[str, Counter[str]] = defaultdict(Counter)
        english_counts: Counter[str] = Counter()
        german_counts: Counter[str] = Counter()
        for english, german in self._pairs:
            left, right = (dict.fromkeys(stems(text)) for text in (english, german))
            english_counts.update(left.keys())
            german_counts.update(right.keys())
            for stem in left:
                together[stem].update(right.keys())
        found = {}
        for stem, others in together.items():
            scores = {
                other: count * count / (english_counts[stem] * german_counts[other])
                for other, count in others.items()
                if count >= _LEAST_COUNT
            }
            best = sorted(scores, key=scores.__getitem__, reverse=True)[:_TRANSLATIONS]
            found[stem] = [other for other in best if scores[other] > _LEAST_SCORE]
        return found

    @functools.cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        sides = []
        for language in ("en", "de"):
            path = self.folder / f"train.{language}.gz"
            if not path.is_file():
                raise SourceError(
                    f"{path}: no such file; books are aligned by the words of train.en.gz and\n"
                    "train.de.gz, such as Tatoeba's. Name their folder with --lexicon."
                )
            sides.append(gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n"))
        if len(sides[0]) != len(sides[1]):
            raise SourceError(
                f"{self.folder}: train.en.gz has {len(sides[0])} lines, train.de.gz {len(sides[1])}"
            )
        return list(zip(*sides, strict=True))
