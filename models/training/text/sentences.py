"""Paragraphs cut into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cleaning import Pair, plausible_lengths

_SHORT = """
mr mrs ms dr prof st vs no nr bzw usw z.b e.g i.e d.h u.a ca sen rep gov gen lt col hr fr dipl ing
jan feb mar apr jun jul aug sep sept oct okt nov dec dez str evtl ggf inkl etc u.s a.m p.m
"""
ABBREVIATIONS = frozenset(_SHORT.split())
# Final punctuation, closing quotation marks and brackets, then a beginning in upper case.
_END = re.compile(r"[.!?…]+[\"'”\u2019“»«)\]]*\s+(?=[\"'“\u2018„»«(\[¿]*[A-ZÄÖÜ0-9])")
_OPENING = "(\"'“„"


def sentences(text: str) -> list[str]:
    """Cut a paragraph into sentences, rather too seldom than too often."""
    found, start = [], 0
    for match in _END.finditer(text):
        before = text[start : match.start()].rsplit(maxsplit=1)
        word = before[-1].lower().lstrip(_OPENING) if before else ""
        if match.group().startswith(".") and _takes_a_point(word):
            continue
        found.append(text[start : match.end()].strip())
        start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _takes_a_point(word: str) -> bool:
    """Whether a point after the word ends no sentence: abbreviations, initials, ordinals."""
    return word in ABBREVIATIONS or len(word) == 1 or word.isdigit()


def cut(english: str, german: str) -> Iterator[Pair]:
    """Cut a pair of paragraphs into sentence pairs where both sides have as many."""
    left, right = sentences(english), sentences(german)
    if len(left) == len(right) > 1:
        pairs = list(zip(left, right, strict=True))
        if all(plausible_lengths(*pair) for pair in pairs):
            yield from pairs
            return
    yield english, german
