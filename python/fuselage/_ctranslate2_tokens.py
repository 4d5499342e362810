"""Tokens as CTranslate2 has them: in lines of text, and of hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fuselage._arguments import BYTES
from fuselage._core import Hypothesis
from fuselage._ctranslate2_keywords import InvalidTypeError

Tokens = list[str]

END = "</s>"
UNKNOWN = "<unk>"


def line_of(tokens: Iterable[str]) -> str:
    """Join tokens to a line; those that a line cannot have are unknown, as in CTranslate2."""
    if isinstance(tokens, (str, *BYTES)) or not isinstance(tokens, Iterable):
        raise InvalidTypeError(f"an example is a list of tokens, not {type(tokens).__name__}")
    tokens = list(tokens)
    for token in tokens:
        if not isinstance(token, str):
            raise InvalidTypeError(f"a token is a text, not {type(token).__name__}")
    return " ".join(token if _fits(token) else UNKNOWN for token in tokens)


def _fits(token: str) -> bool:
    return token != "" and not any(character in token for character in " \t\r\n\0")


class Engine:
    """A Translator or Scorer, and the words of its target vocabulary that have been read."""

    def __init__(self, core: Any) -> None:
        self.core = core
        self._words: dict[int, str] = {}

    def words(self, ids: Iterable[int]) -> Tokens:
        """Give the words with these ids."""
        words = []
        for word in ids:
            if word not in self._words:
                self._words[word] = self.core.target_word(word)
            words.append(self._words[word])
        return words


def scored_tokens(
    engine: Engine, hypothesis: Hypothesis, prefix: int, given: Mapping[str, Any]
) -> tuple[float, Tokens, Hypothesis]:
    """Give the score without the prefix and the tokens, cut at the maximum length."""
    words = engine.words(hypothesis.words.tolist())
    most = given["max_decoding_length"]
    ended = words[-1:] == [END]
    count = len(words) - ended
    scores, length = hypothesis.word_scores, len(words)
    if count > most:
        score, length = float(scores[:most].sum()) / most ** given["length_penalty"], most
    else:
        score = hypothesis.score
    if prefix > 0:
        score -= float(scores[: min(prefix, most)].sum()) / length ** given["length_penalty"]
    if given["replace_unknowns"]:
        words = hypothesis.text.split(" ") if hypothesis.text else []
        words += [END] * ended
    shown = count + (ended and given["return_end_token"])
    tokens = words[: min(shown, most if count >= most else shown)]
    return score, tokens, hypothesis
