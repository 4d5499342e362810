"""Names and numbers that both sides of a pair share, exchanged for others.

A model learns from such pairs to copy a word that it has never seen, in place of inventing one.
"""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator

Pair = tuple[str, str]

_EDGES = ".,;:!?\"'()[]„“”«»…\u2018\u2019\u201a"
_NAME = re.compile(r"[^\W\d_]{2,}(-[^\W\d_]{2,})*")
_NUMBER = re.compile(r"\d+([.,:/-]\d+)*")
_ENDINGS = ("com", "org", "net", "de", "eu", "info")


class Renaming:
    """Draws other pairs of a text with other names and numbers."""

    def __init__(self, pairs: Iterable[Pair], seed: int) -> None:
        self._chance = random.Random(seed)
        counts: Counter[str] = Counter()
        for source, target in pairs:
            # The first word of a line has a capital in any case.
            counts.update(word for word, at in _shared(source, target) if at > 0 and _is_name(word))
        self._names = sorted(counts)
        self._known = set(self._names)

    def of(self, pair: Pair) -> Pair | None:
        """Give the pair with others; None if its sides share no name and no number."""
        source, target = pair
        found = [
            word
            for word, _ in _shared(source, target)
            if word in self._known or _NUMBER.fullmatch(word)
        ]
        if not found:
            return None
        for word in found:
            other = self._number(word) if word[0].isdigit() else self._name()
            source = _exchanged(source, word, other)
            target = _exchanged(target, word, other)
        return source, target

    def _number(self, number: str) -> str:
        digits = [self._chance.choice(string.digits) if c.isdigit() else c for c in number]
        if digits[0] == "0":
            digits[0] = "1"
        return "".join(digits)

    def _name(self) -> str:
        """Give a name of the text, one made of two of them, or sometimes a link or a code."""
        draw = self._chance
        if draw.random() < 0.1:
            return self._link()
        if draw.random() < 0.5:
            return draw.choice(self._names)
        first, second = draw.choice(self._names), draw.choice(self._names)
        return first[: (len(first) + 1) // 2] + second[len(second) // 2 :].lower()

    def _link(self) -> str:
        draw = self._chance
        parts = [draw.choice(self._names).lower() for _ in range(3)]
        host = f"{parts[0]}.{draw.choice(_ENDINGS)}"
        return draw.choice(
            [
                f"https://www.{host}/{parts[1]}",
                f"https://{host}",
                f"www.{host}",
                f"{parts[1]}@{host}",
                f"{parts[1][:2].upper()}-{draw.randrange(10, 100000)}",
            ]
        )


def _shared(source: str, target: str) -> Iterator[tuple[str, int]]:
    """Give the words that are once on either side, and their places in the source."""
    own = [word.strip(_EDGES) for word in source.split()]
    others = Counter(word.strip(_EDGES) for word in target.split())
    counts = Counter(own)
    for at, word in enumerate(own):
        if counts[word] == 1 and others[word] == 1 and (_is_name(word) or _NUMBER.fullmatch(word)):
            yield word, at


def _exchanged(text: str, word: str, other: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: other, text, count=1)


def _is_name(word: str) -> bool:
    return word[:1].isupper() and _NAME.fullmatch(word) is not None
