"""Text that was cut into tokens with spaces between them, put together again."""

from __future__ import annotations

import itertools
import re

# The marks that open and close a quotation.
QUOTES = {"en": ("“", "”"), "de": ("„", "“")}
_NO_SPACE_BEFORE = re.compile(r" +(?=[,.;:!?)\]%”](?:[\s)\]”“]|$)|\.\.\.)")
_NO_SPACE_AFTER = re.compile(r"(?<=[(\[„]) +")
_CONTRACTION = re.compile(
    r"(?<=\w) +(?=['\u2019](?:s|t|d|m|re|ve|ll)\b)|(?<=\w['\u2019]) +(?=(?:s|t|d|m|re|ve|ll)\b)"
)
_PLURAL = re.compile(r"(?<=s) +(?=['\u2019](?: |$))")


def joined(text: str, language: str) -> str:
    """Return the text as it is written; its straight quotation marks open and close in turn."""
    marks = itertools.cycle(QUOTES[language])

    def mark(match: re.Match[str]) -> str:
        found = next(marks)
        return f" {found}" if found == QUOTES[language][0] else f"{found} "

    text = _CONTRACTION.sub("", text)
    text = re.sub(r" *(?:\"|''|``) *", mark, text)
    if language == "en":
        text = _PLURAL.sub("", text)
        text = re.sub("“ +", "“", text)
    else:
        text = re.sub(r" +(?=“)", "", text)
    text = _NO_SPACE_AFTER.sub("", _NO_SPACE_BEFORE.sub("", text))
    return " ".join(text.replace(" @-@ ", "-").split())
