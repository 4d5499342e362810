"""The bundled model on a hundred lines as people type them, judged by a share of good translations.

`python python/tests/test_everyday.py [DIRECTORY…]` lists what models say to them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import fuselage

# The bundled model has 83; other processors may round some sums otherwise.
LEAST_SHARE = 0.8


def read_lines() -> list[tuple[str, list[str]]]:
    """Give English lines, and what is accepted for each."""
    text = Path(__file__).with_name("everyday.tsv").read_text(encoding="utf-8")
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


def judged(translations: list[str]) -> list[bool]:
    lines = read_lines()
    return [
        is_good(translation, accepted)
        for translation, (_, accepted) in zip(translations, lines, strict=True)
    ]


def test_what_is_accepted() -> None:
    assert is_good("Guten Tag!", ["Hallo", "Guten Tag"])
    assert not is_good("Guten Tag, Tom.", ["Hallo", "Guten Tag"])
    assert is_good("Die Fahrkarte kostet 25 Euro.", ["~ 25 Euro"])
    assert not is_good("Die Fahrkarte kostet 250 Euro.", ["~ 25 Euro"])
    assert is_good("Siehe https://www.example.org/help.", ["~ https://www.example.org/help"])


def test_a_hundred_lines_are_accepted_by_their_own_translations() -> None:
    lines = read_lines()
    assert len(lines) == 100
    assert len({line for line, _ in lines}) == 100
    for line, accepted in lines:
        assert accepted, line
        assert is_good(accepted[0].removeprefix("~"), accepted), line


def test_the_bundled_model_translates_a_share_of_everyday_lines() -> None:
    translations = fuselage.Translator().translate([line for line, _ in read_lines()])
    good = judged(translations)
    assert sum(good) / len(good) >= LEAST_SHARE


def _show(model: str | None) -> None:
    lines = read_lines()
    translations = fuselage.Translator(model).translate([line for line, _ in lines])
    good = judged(translations)
    for (line, _), translation, each in zip(lines, translations, good, strict=True):
        print("+" if each else "-", line, translation, sep="\t")
    print(f"{sum(good)} of {len(good)}")


if __name__ == "__main__":
    for directory in sys.argv[1:] or [None]:
        _show(directory)
