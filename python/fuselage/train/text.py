"""Parallel texts: reading, cleaning, other forms of pairs, and vocabularies."""

from __future__ import annotations

import gzip
import io
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import sentencepiece

from fuselage import Error
from fuselage.train.config import Augmentation, Cleaning, Text
from fuselage.train.encoded import Encoded
from fuselage.train.renaming import Pair, Renaming

_FINAL = re.compile(r"[.!?…]+$")


def read_pairs(text: Text) -> Iterator[Pair]:
    """Read the pairs of a text.

    Raises Error with file and line for a line without a tab or that is not UTF-8, for files with
    different numbers of lines, and for a text without pairs.
    """
    replacements = [(re.compile(pattern), text.replace[pattern]) for pattern in text.replace]
    count = 0
    for count, (first, second) in enumerate(_pairs(text), 1):
        for pattern, replacement in replacements:
            first, second = pattern.sub(replacement, first), pattern.sub(replacement, second)
        yield (second, first) if text.reversed else (first, second)
        if text.lines and count == text.lines:
            break
    if count == 0:
        raise Error(f"'{text.path}' has no lines")


def _pairs(text: Text) -> Iterator[Pair]:
    if isinstance(text.path, str):
        for number, line in _lines(text.path):
            parts = line.split("\t")
            if len(parts) < 2:
                raise Error(
                    f"'{text.path}', line {number}: expected two texts with a tab between them"
                )
            yield parts[0], parts[1]
        return
    if len(text.path) != 2:
        raise Error(f"a parallel text is one file or two, not {len(text.path)}: {text.path}")
    source, target = (_lines(path) for path in text.path)
    number = 0
    for number, line in source:
        other = next(target, None)
        if other is None:
            raise Error(f"'{text.path[1]}' ends after {number - 1} lines, '{text.path[0]}' goes on")
        yield line, other[1]
    if next(target, None) is not None:
        raise Error(f"'{text.path[0]}' ends after {number} lines, '{text.path[1]}' goes on")


def _lines(path: str) -> Iterator[tuple[int, str]]:
    try:
        file = _open(path)
    except OSError as error:
        raise Error(f"cannot read '{path}': {error.strerror}") from error
    with file:
        number = 0
        try:
            for number, line in enumerate(file, 1):
                if number == 1 and line.startswith(b"\xef\xbb\xbf"):
                    line = line[3:]
                yield number, line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise Error(f"'{path}', line {number}: it is not UTF-8 ({error.reason})") from error
        except (OSError, EOFError) as error:
            raise Error(f"'{path}', behind line {number}: {error}") from error


def _open(path: str) -> BinaryIO:
    with Path(path).open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if packed else Path(path).open("rb")


def train_vocabulary(texts: Iterable[Text], size: int, path: Path, seed: int) -> None:
    """Train a unigram model of both languages, with Marian's numbers: </s> 0, <unk> 1."""
    model = io.BytesIO()
    sentencepiece.set_random_generator_seed(seed)
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(
                side for text in texts for pair in read_pairs(text) for side in pair
            ),
            model_writer=model,
            vocab_size=size,
            character_coverage=0.9995,
            byte_fallback=True,
            eos_id=0,
            unk_id=1,
            bos_id=-1,
            pad_id=-1,
            input_sentence_size=1_000_000,
            shuffle_input_sentence=True,
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise Error(f"SentencePiece cannot make a vocabulary of {size} pieces: {error}") from error
    partial = path.with_suffix(".partial")
    partial.write_bytes(model.getvalue())
    partial.replace(path)


def other_forms(pairs: Sequence[Pair], augment: Augmentation, seed: int) -> Iterator[Pair]:
    """Give further pairs: capitals, lower case, no full stop, other names, copies."""
    chance = random.Random(seed)
    renaming = Renaming(pairs if augment.renamed else (), seed)
    for source, target in pairs:
        if augment.renamed and chance.random() < augment.renamed:
            renamed = renaming.of((source, target))
            if renamed:
                yield renamed
        if chance.random() < augment.upper_case:
            yield source.upper(), target.upper().replace("ẞ", "SS")
        if chance.random() < augment.lower_case:
            yield source.lower(), target
        if chance.random() < augment.without_final_punctuation and _FINAL.search(source):
            yield _FINAL.sub("", source), _FINAL.sub("", target)
        if chance.random() < augment.copied:
            yield target, target


def is_clean(source: list[int], target: list[int], clean: Cleaning) -> bool:
    """Whether both sides have pieces, not too many, and about as many as each other."""
    short, long = sorted((len(source), len(target)))
    return short > 0 and long <= clean.max_length and long <= clean.max_ratio * short + 3


def encode(
    text: Text,
    pieces: sentencepiece.SentencePieceProcessor,
    clean: Cleaning,
    augment: Augmentation | None,
    seed: int,
) -> Encoded:
    """Read, complete and clean a text. Raises Error as read_pairs(), and if nothing remains."""
    pairs = list(read_pairs(text))
    if augment is not None:
        pairs += list(other_forms(pairs, augment, seed))
    source = pieces.encode([pair[0] for pair in pairs])
    target = pieces.encode([pair[1] for pair in pairs])
    kept = [i for i in range(len(pairs)) if is_clean(source[i], target[i], clean)]
    if not kept:
        raise Error(f"'{text.path}': none of its {len(pairs)} pairs is clean; see data.clean")
    return Encoded([source[i] for i in kept], [target[i] for i in kept])
