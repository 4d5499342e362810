"""Books of Project Gutenberg in two languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from alignment import Aligner, Text
from cleaning import Pair
from lexicon import Lexicon, stems
from repository import Place, SourceError
from sentences import sentences
from spelling import modern

_START = re.compile(r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG[^\n]*\n")
_END = re.compile(r"\n[^\n]*(?:\*\*\* ?END OF|End of (?:the )?Project Gutenberg)")
_NOTES = re.compile(r"\[(?:Illustration|Abbildung|Footnote|Fußnote)[^\]]*\]|\[\d+\]")
_EMPHASIS = re.compile(r"(?<!\w)[_=+$]+|[_=+$]+(?!\w)")


def book_sentences(text: str) -> list[str]:
    """Return the sentences of a file of Project Gutenberg, without its notices."""
    text = _START.split(text.replace("\r\n", "\n"))[-1]
    text = _END.split(text)[0]
    text = _EMPHASIS.sub("", _NOTES.sub(" ", text))
    text = re.sub(r" ?--+ ?", " \u2013 ", text)
    paragraphs = re.split(r"\n\s*\n", text)
    return [found for one in paragraphs for found in sentences(" ".join(one.split()))]


def read_book(
    english: tuple[Place, ...], german: tuple[Place, ...], lexicon: Lexicon
) -> Iterator[Pair]:
    """Yield the aligned sentences of a book, in one or several volumes, with German made modern."""
    sides = []
    for volumes in (english, german):
        texts = [found for volume in volumes for found in book_sentences(volume.text())]
        if not texts:
            raise SourceError(f"{volumes[0]}: no sentence between the notices of the file")
        sides.append(Text(texts, list(map(stems, texts))))
    for left, right in Aligner(*sides, lexicon.translations).pairs():
        yield left, modern(re.sub(r",,(?=\S)", "„", right), lexicon.forms)
