from __future__ import annotations

import gzip
import re
from pathlib import Path

from phrases import Phrases, in_thousands, main

PHRASES = Path(__file__).parents[3] / "models" / "training" / "text" / "phrases.yml"


def pairs_of(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def test_numbers_have_the_words_and_the_groups_of_both_languages() -> None:
    phrases = Phrases(PHRASES, 1)
    assert phrases.number_words(7) == ("seven", "sieben")
    assert phrases.number_words(17) == ("seventeen", "siebzehn")
    assert phrases.number_words(30) == ("thirty", "dreißig")
    assert phrases.number_words(21) == ("twenty-one", "einundzwanzig")
    assert phrases.number_words(99) == ("ninety-nine", "neunundneunzig")
    assert in_thousands(1234567) == ("1,234,567", "1.234.567")


def test_every_place_of_a_sentence_is_filled() -> None:
    lines = list(Phrases(PHRASES, 2).lines(500))
    assert not [pair for pair in lines if re.search("[{}|]", "".join(pair))]
    assert ("I see an apple.", "Ich sehe einen Apfel.") in lines
    assert ("Where is the school?", "Wo ist die Schule?") in lines
    assert ("There is no house here.", "Hier gibt es kein Haus.") in lines
    assert ("an hour", "eine Stunde") in lines


def test_codes_addresses_and_digits_are_the_same_on_both_sides() -> None:
    for english, german in Phrases(PHRASES, 3).lines(500):
        copied = [re.findall(r"\S*(?:@|://)[^\s,]*[^\s,.]", side) for side in (english, german)]
        assert copied[0] == copied[1]
        if not re.search(r"a\.m\.|pm|half|quarter|o'clock", english):
            assert re.findall(r"\d", english) == re.findall(r"\d", german), english


def test_lines_of_tests_are_left_out_and_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "tests.tsv").write_text("good morning\tGuten Morgen\nThe house\tDas Haus\n")
    first, second, whole = (tmp_path / f"{name}.tsv.gz" for name in "abc")
    without = ["--without", str(tmp_path / "tests.tsv")]
    for path in (first, second):
        assert main([*without, "--drawn", "20", "--output", str(path)]) == 0
    assert first.read_bytes() == second.read_bytes()
    assert main(["--drawn", "20", "--output", str(whole)]) == 0
    left_out = {tuple(p) for p in pairs_of(whole)} - {tuple(p) for p in pairs_of(first)}
    assert left_out == {("Good morning!", "Guten Morgen!"), ("the house", "das Haus")}
    (tmp_path / "tests.tsv").write_text("Gute Nacht.\tGood night.\n")
    assert main([*without, "--drawn", "20", "--output", str(first)]) == 0
    left_out = {tuple(p) for p in pairs_of(whole)} - {tuple(p) for p in pairs_of(first)}
    assert left_out == {("Good night!", "Gute Nacht!")}
