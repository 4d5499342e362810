"""Pairs that are fit for training: clean text of the right language, and of no test set."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator

Pair = tuple[str, str]  # English, German

MAX_WORDS = 80
WORD = re.compile(r"[^\W\d_]+")

_ENGLISH = """
the of and to is are was were that it for on with he she they this have has had be not you your we
our his her their from at by what which who how there would will can could should do does did my me
if so been more about when but or an as out up than them these those
"""
_GERMAN = """
der die das und ist sind nicht ein eine einen einem einer eines zu den dem des mit von für auf im
sich auch als es ich sie er wir ihr an werden wird wurde hat haben war aus bei nach über oder aber
wie wenn kann können noch nur um am zum zur dass daß ihre seine mein dein mir mich dir dich uns
sein bin bist hast was wo wer warum kein keine durch vor bis sehr mehr schon hier diese dieser
dieses bitte
"""
_ENGLISH_WORDS = frozenset(_ENGLISH.split())
_GERMAN_WORDS = frozenset(_GERMAN.split())

_MARKUP = re.compile(
    "|".join(
        [
            r"<[/!]?[a-zA-Z][^<>]*>",  # tags
            r"\{\s*[\$\w-]|\$\{|%\d*\$?[sd@]\b|%\(|\\[nt]|[{}|~^\\]|@@|&\w+;",  # placeholders, code
            r"https?:|www\.|\]\(",  # addresses, links
            r"\bNO TRANSLATION AVAILABLE\b|#[A-Z]{3,}|\[[A-Z]{3,}\d*\]",  # names put out of sight
            r"[\u0400-\u04ff\u0600-\u06ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\ufffd]",
        ]
    )
)
_SPACE_BEFORE = re.compile(r"(?<=\w) +(?=[,.;:!?](?:\s|$))")


def clean(text: str) -> str:
    """Put a text into NFC, with one space between words and no control characters."""
    text = unicodedata.normalize("NFC", html.unescape(text))
    text = "".join(
        char if unicodedata.category(char)[0] != "C" else " " * char.isspace() for char in text
    )
    return _SPACE_BEFORE.sub("", " ".join(text.split()))


def key_of(text: str) -> str:
    """Return the part of a text that is compared: its letters and digits, in lower case."""
    return "".join(char for char in text.lower() if char.isalnum())


def plausible_lengths(english: str, german: str) -> bool:
    """Whether one side can be a translation of the other, by length."""
    return len(english) <= 1.8 * len(german) + 12 and len(german) <= 2.2 * len(english) + 15


def languages_fit(english: str, german: str) -> bool:
    """Whether the sides are English and German, by their function words."""
    left, right = (WORD.findall(text.lower()) for text in (english, german))
    english_score = _score(left, _ENGLISH_WORDS, _GERMAN_WORDS)
    german_score = _score(right, _GERMAN_WORDS, _ENGLISH_WORDS)
    if english_score < 0 or german_score < 0:
        return False
    return (len(left) < 8 or english_score > 0) and (len(right) < 8 or german_score > 0)


def _score(words: list[str], own: frozenset[str], other: frozenset[str]) -> int:
    """How many more words are of the language than of the other one alone."""
    return sum((word in own) - (word in other - own) for word in words)


def same_digits(english: str, german: str) -> bool:
    """Whether the digits are the same where both sides have some; 3.5 is 3,5."""
    left, right = (sorted(re.findall(r"\d", text)) for text in (english, german))
    return not left or not right or left == right


def mostly_letters(english: str, german: str) -> bool:
    """Whether at least 60 % of both sides are letters, and the German side has a word."""
    both = f"{english}\n{german}"
    letters = sum(char.isalpha() for char in both)
    return letters >= 0.6 * len(both) and bool(WORD.search(german))


def good(english: str, german: str) -> bool:
    """Whether a clean pair is fit for training."""
    return (
        not _MARKUP.search(f"{english}\n{german}")
        and key_of(english) != key_of(german)
        and max(len(english.split()), len(german.split())) <= MAX_WORDS
        and plausible_lengths(english, german)
        and same_digits(english, german)
        and mostly_letters(english, german)
        and languages_fit(english, german)
    )


def good_pairs(raw: Iterable[Pair], held_out: frozenset[str]) -> Iterator[Pair]:
    """Clean the pairs; leave out bad ones, repetitions, and lines whose key is held out."""
    seen: set[Pair] = set()
    for raw_english, raw_german in raw:
        english, german = clean(raw_english), clean(raw_german)
        keys = key_of(english), key_of(german)
        if keys in seen or not held_out.isdisjoint(keys) or not good(english, german):
            continue
        seen.add(keys)
        yield english, german
