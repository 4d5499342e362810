"""The bundled models on everyday lines: the share of good translations of a hundred of them.

`python python/tests/test_everyday.py [DIRECTORY…]` lists what models say to them, by default the
bundled ones; the name of a directory ends with its languages, as en-de.
"""

from __future__ import annotations

import sys
from pathlib import Path

import fuselage
import pytest

# The bundled models have 83 and 86; other processors may round some sums otherwise.
LEAST_SHARES = {"en-de": 0.8, "de-en": 0.8}


def read_lines(languages: str) -> list[tuple[str, list[str]]]:
    """Give lines, and what is accepted for each."""
    text = Path(__file__).with_name(f"everyday.{languages}.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return [(row[0], row[1:]) for row in rows]


def is_good(translation: str, accepted: list[str]) -> bool:
    """Whether a translation is one of those that are accepted, or has the words that must be there.

    Capitals and marks at the end do not count.
    """
    own = _plain(translation)
    words = {_plain(word.strip(',;:!?"„“')) for word in translation.split()}
    for each in accepted:
        if each.startswith("~"):
            if all(_plain(word) in words for word in each[1:].split()):
                return True
        elif _plain(each) == own:
            return True
    return False


def _plain(text: str) -> str:
    return text.strip().rstrip(".!?").casefold()


def judged(translations: list[str], languages: str) -> list[bool]:
    return [
        is_good(translation, accepted)
        for translation, (_, accepted) in zip(translations, read_lines(languages), strict=True)
    ]


def test_what_is_accepted() -> None:
    assert is_good("Guten Tag!", ["Hallo", "Guten Tag"])
    assert not is_good("Guten Tag, Tom.", ["Hallo", "Guten Tag"])
    assert is_good("Die Fahrkarte kostet 25 Euro.", ["~ 25 Euro"])
    assert not is_good("Die Fahrkarte kostet 250 Euro.", ["~ 25 Euro"])
    assert is_good("Siehe https://www.example.org/help.", ["~ https://www.example.org/help"])


@pytest.mark.parametrize("languages", LEAST_SHARES)
def test_a_hundred_lines_are_accepted_by_their_own_translations(languages: str) -> None:
    lines = read_lines(languages)
    assert len(lines) == 100
    assert len({line for line, _ in lines}) == 100
    for line, accepted in lines:
        assert accepted, line
        assert is_good(accepted[0].removeprefix("~"), accepted), line


@pytest.mark.parametrize("languages", LEAST_SHARES)
def test_the_bundled_model_translates_a_share_of_everyday_lines(languages: str) -> None:
    model = fuselage.find_bundled_model(*languages.split("-"))
    translations = fuselage.Translator(model).translate([line for line, _ in read_lines(languages)])
    good = judged(translations, languages)
    assert sum(good) / len(good) >= LEAST_SHARES[languages]


def _show(model: str) -> None:
    languages = Path(model).name[-len("en-de") :]
    lines = read_lines(languages)
    translations = fuselage.Translator(model).translate([line for line, _ in lines])
    good = judged(translations, languages)
    for (line, _), translation, each in zip(lines, translations, good, strict=True):
        print("+" if each else "-", line, translation, sep="\t")
    print(f"{sum(good)} of {len(good)}")


if __name__ == "__main__":
    bundled = (fuselage.find_bundled_model(*pair.split("-")) for pair in LEAST_SHARES)
    for directory in sys.argv[1:] or bundled:
        _show(directory)
