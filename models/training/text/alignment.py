"""Sentences of two translations of a book, aligned.

First anchors are found, pairs of sentences that share many translated words; between them dynamic
programming joins one to three sentences of each side (Gale and Church 1993, "A Program for Aligning
Sentences in Bilingual Corpora"), by words and lengths.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cleaning import Pair

Point = tuple[int, int]  # a number of English and of German sentences

_MOVES = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 2), (1, 0), (0, 1))
_MAX_GAP = 60  # sentences between anchors; larger gaps are left out
_LEAST_ALIKE = 0.35
_LENGTH_RATIO = 1.07  # German letters to English ones


@dataclass(frozen=True)
class Text:
    """The sentences of one side, and the stems of each.

    paragraphs: the paragraph of each sentence, where sentences are joined within paragraphs only.
    """

    sentences: list[str]
    stems: list[list[str]]
    paragraphs: list[int] | None = None

    def joinable(self, part: slice) -> bool:
        """Whether the sentences may be joined."""
        return self.paragraphs is None or len(set(self.paragraphs[part])) <= 1


@dataclass(frozen=True)
class _Step:
    """The best way to a point: its gain so far, its last move, and the likeness of its sides."""

    gain: float
    move: Point
    alike: float


class Aligner:
    """Aligns two texts by the German stems that go with each English one.

    same_start: whether the texts begin with the same sentence; else what precedes the first anchor
        is left out.
    """

    def __init__(
        self,
        english: Text,
        german: Text,
        translations: dict[str, list[str]],
        same_start: bool = False,
    ) -> None:
        self.same_start = same_start
        self.english = english
        self.german = german
        self.translations = translations
        self._weights = _weights(english), _weights(german)

    def pairs(self) -> Iterator[Pair]:
        """Yield the sentences that belong together and are alike enough, in order."""
        end = len(self.english.sentences), len(self.german.sentences)
        start = [(0, 0)] if self.same_start else []
        for first, last in itertools.pairwise([*start, *self.anchors(), end]):
            if max(last[0] - first[0], last[1] - first[1]) <= _MAX_GAP:
                yield from self._path(first, last)

    def anchors(self) -> list[Point]:
        """Return sentences that surely belong together: the best chain of candidates."""
        candidates = list(self._candidates())
        chain: list[tuple[float, int]] = []  # of each: the highest total, the one before
        for now, (score, index, place) in enumerate(candidates):
            before = [
                (chain[past][0], past)
                for past in range(max(0, now - 60), now)
                if candidates[past][1] < index
                and candidates[past][2] < place
                and place - candidates[past][2] < 40 + 4 * (index - candidates[past][1])
            ]
            total, past = max(before, default=(0.0, -1))
            chain.append((total + score, past))
        found: list[Point] = []
        step = max(range(len(chain)), key=lambda one: chain[one][0], default=-1)
        while step >= 0:
            found.append(candidates[step][1:])
            step = chain[step][1]
        return found[::-1]

    def similarity(self, english: Iterable[str], german: Iterable[str]) -> float:
        """Return the weighted share of stems that translate stems of the other side, 0 to 1.

        Stems are taken in the order of the text, so that sums are the same in every run.
        """
        left, right = dict.fromkeys(english), dict.fromkeys(german)
        hit: dict[str, None] = {}
        covered = total = 0.0
        for stem in left:
            weight = self._weights[0][stem]
            total += weight
            own = () if len(stem) <= 3 else (stem,)
            matches = [one for one in (*self.translations.get(stem, ()), *own) if one in right]
            if matches:
                covered += weight
                hit.update(dict.fromkeys(matches))
        other_total = sum(self._weights[1][stem] for stem in right)
        other_covered = sum(self._weights[1][stem] for stem in hit)
        both = total + other_total
        return (covered + other_covered) / both if total and other_total else 0.0

    def _candidates(self) -> Iterator[tuple[float, int, int]]:
        """Yield the score, English and German index of pairs that share several rare stems."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(self.german.stems):
            for stem in dict.fromkeys(words):
                places[stem].append(place)
        size = len(self.german.sentences)
        frequent = 0.03 * size + 5
        rare = {stem: where for stem, where in places.items() if len(where) < frequent}
        scale, reach = self._scale(), 0.2 * size + 20
        for index, words in enumerate(self.english.stems):
            votes: Counter[int] = Counter()
            for stem in dict.fromkeys(words):
                for other in dict.fromkeys((*self.translations.get(stem, ()), stem)):
                    for place in rare.get(other, ()):
                        if abs(place - index * scale) < reach:
                            votes[place] += 1
            best = max(
                (
                    (self.similarity(words, self.german.stems[place]), index, place)
                    for place, count in votes.most_common(4)
                    if count > 1
                ),
                default=(0.0, 0, 0),
            )
            if best[0] > 0.5 and len(words) > 5:
                yield best

    def _scale(self) -> float:
        """German sentences to an English one; 1 where one side has only the first volumes."""
        left, right = (sum(map(len, side.sentences)) for side in (self.english, self.german))
        if 0.6 < right / left < 1.7:
            return len(self.german.sentences) / len(self.english.sentences)
        return 1.0

    def _path(self, first: Point, last: Point) -> list[Pair]:
        """Return the pairs on the best way from one point to another."""
        steps = self._steps(first, last)
        found: list[Pair] = []
        point = last
        while point != first:
            step = steps[point]
            start = point[0] - step.move[0], point[1] - step.move[1]
            if step.alike > _LEAST_ALIKE:
                found.append(
                    (
                        " ".join(self.english.sentences[start[0] : point[0]]),
                        " ".join(self.german.sentences[start[1] : point[1]]),
                    )
                )
            point = start
        return found[::-1]

    def _steps(self, first: Point, last: Point) -> dict[Point, _Step]:
        """Return the best way to each point between two points."""
        steps = {first: _Step(0.0, (0, 0), 0.0)}
        rows, columns = (range(first[side], last[side] + 1) for side in (0, 1))
        for point in itertools.product(rows, columns):
            if point not in steps:
                continue
            for move in _MOVES:
                goal = point[0] + move[0], point[1] + move[1]
                if goal[0] > last[0] or goal[1] > last[1]:
                    continue
                if not self._joinable(point, goal):
                    continue
                gain, alike = self._rate(point, goal)
                gain += steps[point].gain
                if goal not in steps or gain > steps[goal].gain:
                    steps[goal] = _Step(gain, move, alike)
        return steps

    def _joinable(self, start: Point, goal: Point) -> bool:
        """Whether no side of a step joins sentences of different paragraphs."""
        return self.english.joinable(slice(start[0], goal[0])) and self.german.joinable(
            slice(start[1], goal[1])
        )

    def _rate(self, start: Point, goal: Point) -> tuple[float, float]:
        """Return the gain of a step from one point to another, and the likeness of its sides."""
        down, across = goal[0] - start[0], goal[1] - start[1]
        if not down or not across:
            return -0.06, 0.0
        left, right = slice(start[0], goal[0]), slice(start[1], goal[1])
        alike = self.similarity(
            itertools.chain(*self.english.stems[left]), itertools.chain(*self.german.stems[right])
        )
        english_length = sum(map(len, self.english.sentences[left])) * _LENGTH_RATIO
        german_length = sum(map(len, self.german.sentences[right]))
        skew = abs(math.log((german_length + 8) / (english_length + 8)))
        size = down + across
        gain = (alike - 0.15 - 0.35 * skew) * size / 2 - 0.08 * (size - 2)
        return gain, alike - 0.25 * skew


def _weights(text: Text) -> dict[str, float]:
    """Return the weight of each stem: less for frequent ones."""
    counts = Counter(itertools.chain(*text.stems))
    return {stem: 1 / (1 + count) ** 0.5 for stem, count in counts.items()}
