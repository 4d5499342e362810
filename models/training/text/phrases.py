#!/usr/bin/env python3
"""Make lines of phrases that everyday text has and corpora lack, with their translations.

Greetings and single words; nouns with articles and adjectives; numbers, dates and times of day in
the forms of both languages; names of people and cities; and addresses, codes and names of files,
which are copied. phrases.yml has the words and the sentences.

    phrases.py --without LINES --output DATA/more/phrases.tsv.gz
"""

from __future__ import annotations

import argparse
import random
import re
import string
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from cleaning import Pair, key_of
from pair_file import write_pairs

# The articles of nouns by gender, by the name of their place in a sentence.
_ARTICLES = {
    "der": {"m": "der", "f": "die", "n": "das"},
    "Der": {"m": "Der", "f": "Die", "n": "Das"},
    "den": {"m": "den", "f": "die", "n": "das"},
    "ein": {"m": "ein", "f": "eine", "n": "ein"},
    "einen": {"m": "einen", "f": "eine", "n": "ein"},
    "keinen": {"m": "keinen", "f": "keine", "n": "kein"},
}


@dataclass(frozen=True)
class Noun:
    """A noun in both numbers of both languages, and its gender: m, f or n."""

    english: str
    english_plural: str
    gender: str
    german: str
    german_plural: str


def in_thousands(number: int) -> Pair:
    """Return a number in digits, grouped as each language does."""
    english = f"{number:,}"
    return english, english.replace(",", ".")


class Phrases:
    """The content of phrases.yml, and lines of it, drawn at random."""

    def __init__(self, path: Path, seed: int) -> None:
        content = yaml.safe_load(path.read_text("utf-8"))
        self._random = random.Random(seed)
        self._pairs: dict[str, list[Pair]] = {}
        self._words: dict[str, list[str]] = {}
        for name, text in content.items():
            if name == "nouns":
                self._nouns = [Noun(*_fields(line, 5)) for line in text.splitlines()]
            elif "|" not in text:
                self._words[name] = text.split()
            else:
                rows = [_fields(line, 2) for line in text.splitlines()]
                self._pairs[name] = [(english, german) for english, german in rows]

    def lines(self, drawn: int) -> Iterator[Pair]:
        """Yield phrases, words, each sentence of each noun, and `drawn` of each other kind."""
        yield from self._pairs["fixed"]
        yield from self._pairs["words"]
        yield from self._pairs["months"]
        for noun in self._nouns:
            for sentence in self._pairs["noun sentences"]:
                yield self._of_noun(sentence, noun)
        kinds: dict[str, Callable[[Pair], Pair]] = {
            "number sentences": self._of_number,
            "amounts": self._of_amount,
            "times": lambda sentence: _filled(sentence, t=self._time()),
            "dates": lambda sentence: _filled(sentence, d=self._date()),
            "names": self._of_name,
            "copied": self._of_copied,
        }
        for name, fill in kinds.items():
            for _ in range(drawn):
                yield fill(self._random.choice(self._pairs[name]))

    def number_words(self, number: int) -> Pair:
        """Return the words of a number below 100."""
        english, german = self._words["english numbers"], self._words["german numbers"]
        if number < 20:
            return english[number], german[number]
        tens, ones = divmod(number, 10)
        first, second = self._pairs["tens"][tens - 2]
        if ones == 0:
            return first, second
        return f"{first}-{english[ones]}", f"{'ein' if ones == 1 else german[ones]}und{second}"

    def _of_noun(self, sentence: Pair, noun: Noun) -> Pair:
        adjective = self._random.choice(self._pairs["adjectives"])
        values = {name: ("", forms[noun.gender]) for name, forms in _ARTICLES.items()}
        english, german = _filled(
            sentence,
            n=(noun.english, noun.german),
            N=(noun.english_plural, noun.german_plural),
            a=adjective,
            **values,
        )
        return re.sub(r"\b([Aa]) (?=[aeiou]|hour)", r"\1n ", english), german

    def _of_number(self, sentence: Pair) -> Pair:
        noun = self._random.choice(self._nouns)
        nouns = (noun.english_plural, noun.german_plural)
        return _filled(sentence, x=self._number(), N=nouns)

    def _of_amount(self, sentence: Pair) -> Pair:
        return _filled(sentence, x=self._number(), y=self._decimal())

    def _of_name(self, sentence: Pair) -> Pair:
        return _filled(
            sentence,
            p=self._person(),
            q=self._person(),
            c=self._random.choice(self._pairs["cities"]),
        )

    def _of_copied(self, sentence: Pair) -> Pair:
        values = {
            "u": self._address(),
            "e": self._mail(),
            "k": self._code(),
            "f": self._file(),
            "v": ".".join(
                str(self._random.randrange(20)) for _ in range(self._random.choice((2, 3)))
            ),
            "h": self._telephone(),
        }
        return _filled(sentence, **{name: (value, value) for name, value in values.items()})

    def _number(self) -> Pair:
        kind = self._random.random()
        if kind < 0.3:
            return self.number_words(self._random.randrange(2, 100))
        if kind < 0.75:
            number = str(
                self._random.choice((self._random.randrange(2, 100), self._year() % 1000 + 2))
            )
            return number, number
        return in_thousands(self._random.randrange(1000, 10 ** self._random.choice((4, 5, 6, 7))))

    def _decimal(self) -> Pair:
        if self._random.random() < 0.5:
            return self._number()
        whole, part = self._random.randrange(200), self._random.randrange(100)
        digits = f"{part:02}" if self._random.random() < 0.5 else str(part % 9 + 1)
        return f"{whole}.{digits}", f"{whole},{digits}"

    def _year(self) -> int:
        return self._random.randrange(1700, 2040)

    def _time(self) -> Pair:
        hour, minute = self._random.randrange(1, 13), self._random.randrange(60)
        english, german = self.number_words(hour)
        following = self.number_words(hour % 12 + 1)
        hours = "ein" if hour == 1 else german
        return self._random.choice(
            [
                (f"{hour}:{minute:02}", f"{hour}:{minute:02} Uhr"),
                (f"{hour}:{minute:02} a.m.", f"{hour % 12}:{minute:02} Uhr"),
                (f"{hour}:{minute:02} pm", f"{hour % 12 + 12}:{minute:02} Uhr"),
                (f"{hour + 11}:{minute:02}", f"{hour + 11}:{minute:02} Uhr"),
                (f"{hour} o'clock", f"{hour} Uhr"),
                (f"{english} o'clock", f"{hours} Uhr"),
                (f"half past {english}", f"halb {following[1]}"),
                (f"a quarter past {english}", f"Viertel nach {german}"),
                (f"a quarter to {following[0]}", f"Viertel vor {following[1]}"),
            ]
        )

    def _date(self) -> Pair:
        day, year = self._random.randrange(1, 29), self._year()
        english, german = self._random.choice(self._pairs["months"])
        ending = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}.get(day, "th")
        return self._random.choice(
            [
                (f"{english} {day}, {year}", f"{day}. {german} {year}"),
                (f"{day} {english} {year}", f"{day}. {german} {year}"),
                (f"{english} {day}{ending}, {year}", f"{day}. {german} {year}"),
                (f"{english} {day}", f"{day}. {german}"),
                (f"{english} {day}{ending}", f"{day}. {german}"),
                (f"the {day}{ending} of {english}", f"{day}. {german}"),
                (f"{day} {english}", f"{day}. {german}"),
            ]
        )

    def _person(self) -> Pair:
        first = self._random.choice(self._words["first names"])
        last = self._random.choice(self._words["surnames"])
        person = self._random.choice((first, f"{first} {last}"))
        return person, person

    def _site(self) -> str:
        site = self._random.choice((self._random.choice(self._words["sites"]), self._letters(3, 9)))
        return f"{site}.{self._random.choice(self._words['domains'])}"

    def _address(self) -> str:
        start = self._random.choice(("https://", "https://www.", "http://", "www."))
        pages = self._random.choices(
            (*self._words["pages"], self._letters(3, 8)), k=self._random.randrange(3)
        )
        ending = self._random.choice(("", "", ".html", "/")) if pages else ""
        return "/".join([start + self._site(), *pages]) + ending

    def _mail(self) -> str:
        person = self._person()[0].lower().replace(" ", self._random.choice("._-"))
        person = person.translate(str.maketrans({"ü": "ue", "ö": "oe", "ä": "ae"}))
        return f"{self._random.choice((person, 'info', 'office', 'support'))}@{self._site()}"

    def _code(self) -> str:
        letters = "".join(
            self._random.choices(string.ascii_uppercase, k=self._random.randrange(1, 4))
        )
        digits = "".join(self._random.choices(string.digits, k=self._random.randrange(2, 7)))
        mixed = "".join(self._random.choices(string.ascii_letters + string.digits, k=8))
        between = self._random.choice(("", "-", "-", "/", " "))
        return self._random.choice((letters + between + digits, digits + between + letters, mixed))

    def _file(self) -> str:
        name = self._random.choice((self._random.choice(self._words["files"]), self._letters(4, 8)))
        number = self._random.choice(("", f"_{self._random.randrange(100)}", f"-{self._year()}"))
        return f"{name}{number}.{self._random.choice(self._words['endings'])}"

    def _telephone(self) -> str:
        digits = "".join(self._random.choices(string.digits, k=7))
        area = self._random.choice(("030", "+49 89", "+44 20", "0221", "+1 212"))
        return self._random.choice((f"{area} {digits}", f"{area} {digits[:3]}-{digits[3:]}"))

    def _letters(self, least: int, most: int) -> str:
        return "".join(
            self._random.choices(string.ascii_lowercase, k=self._random.randint(least, most))
        )


def _fields(line: str, count: int) -> list[str]:
    fields = [field.strip() for field in line.split("|")]
    if len(fields) != count or not all(fields):
        raise ValueError(f"phrases.yml: {line!r} has not {count} fields")
    return fields


def _filled(sentence: Pair, **values: Pair) -> Pair:
    """Put each value into its place; a whole sentence begins with a capital letter."""
    english, german = sentence
    for name, (first, second) in values.items():
        english = english.replace(f"{{{name}}}", first)
        german = german.replace(f"{{{name}}}", second)
    if sentence[0].startswith(("{x}", "{y}")) and english.endswith("."):
        english, german = english[0].upper() + english[1:], german[0].upper() + german[1:]
    return english, german


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    command = argparse.ArgumentParser(
        prog="phrases.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = command.add_argument
    add(
        "--without",
        type=Path,
        nargs="*",
        default=[],
        metavar="FILE",
        help="English lines of tests, which are left out; what follows a tab does not count",
    )
    add("--output", type=Path, required=True, metavar="FILE", help="NAME.tsv.gz")
    add("--drawn", type=int, default=2500, metavar="N", help="lines of each kind (2500)")
    add("--seed", type=int, default=1)
    given = command.parse_args(arguments)
    tests = {
        key_of(line.split("\t")[0])
        for path in given.without
        for line in path.read_text("utf-8").splitlines()
    }
    phrases = Phrases(Path(__file__).with_name("phrases.yml"), given.seed)
    pairs = sorted(
        {
            pair
            for pair in phrases.lines(given.drawn)
            if not any(key_of(side) in tests for side in pair)
        }
    )
    write_pairs(pairs, given.output)
    print(f"{len(pairs)} pairs, {sum(len(english.split()) for english, _ in pairs)} English words")
    return 0


if __name__ == "__main__":
    sys.exit(main())
