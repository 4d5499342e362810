"""Words to phonemes, with the trained model of the package g2p-en as a graph.

    pip install --no-deps g2p-en==2.1.0
    python g2p.py WORD...

prints the phonemes of each word. Only the weights of g2p-en are read (Apache-2.0, Park and Kim
2019, https://github.com/Kyubyong/g2p).
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import fuselage
import numpy as np
from fuselage.graph import (
    Builder,
    Expr,
    Graph,
    broadcast,
    collect,
    dot_transposed,
    select_rows,
    sigmoid,
    tanh,
)

# The symbols in the order of the rows of the stored embeddings: letters, and the sounds of the
# CMU Pronouncing Dictionary, vowels with their stress.
LETTERS = ["<pad>", "<unk>", "</s>", *"abcdefghijklmnopqrstuvwxyz"]
VOWELS = "AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split()
CONSONANTS = "B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH".split()
STRESSED = [vowel + stress for vowel in VOWELS for stress in "012"]
PHONEMES = ["<pad>", "<unk>", "<s>", "</s>", *sorted([*STRESSED, "UW", *CONSONANTS])]


def read_weights() -> dict[str, np.ndarray]:
    """Read the stored arrays; the symbol that the decoder starts with is a weight of its own."""
    package = importlib.util.find_spec("g2p_en")
    if package is None or package.origin is None:
        raise SystemExit("g2p.py: there is no model; pip install --no-deps g2p-en==2.1.0")
    weights = dict(np.load(Path(package.origin).with_name("checkpoint20.npz")))
    weights["start"] = weights["dec_emb"][PHONEMES.index("<s>")]
    return weights


def gru(b: Builder, side: str, x: Expr, h: Expr) -> Expr:
    """Give a gated recurrent unit in the form of PyTorch, with its gates in one matrix."""
    size = h.width
    of_x = dot_transposed(x, b.param(f"{side}_w_ih", [3 * size, x.width]))
    of_h = dot_transposed(h, b.param(f"{side}_w_hh", [3 * size, size]))
    of_x = of_x + b.param(f"{side}_b_ih", [3 * size])
    of_h = of_h + b.param(f"{side}_b_hh", [3 * size])
    r = sigmoid(of_x[..., :size] + of_h[..., :size])
    z = sigmoid(of_x[..., size : 2 * size] + of_h[..., size : 2 * size])
    n = tanh(of_x[..., 2 * size :] + r * of_h[..., 2 * size :])
    return (1 - z) * n + z * h


def g2p(size: int) -> Graph:
    """Build the model: a word is a text of letters, its translation a text of phonemes."""
    b = Builder("g2p")
    letters = b.add_vocabulary("letters", len(LETTERS))
    phonemes = b.add_vocabulary("phonemes", len(PHONEMES))
    word = b.add_sentences("word")
    letter = b.add_source("letter", word)
    reading = b.add_scan("reading", letter)
    parent = b.add_parents("parent", word)
    hyp = b.add_hypotheses("hyp", parent)
    spelling = b.add_word_map("letter.symbol", letter, letters)
    last_letter = b.add_token_map("word.last", letter, -1)
    last_phoneme = b.add_word_map("hyp.phoneme", hyp, phonemes, partial=True)

    # Encoder: a loop over the letters and </s>. Only the state behind </s> goes on.
    x = select_rows(b.param("enc_emb", [size], letters), [spelling])
    h = b.state(b.constant(0, [size]), reading)
    encoded = gru(b, "enc", broadcast(x, reading), h)
    b.next(h, encoded)
    read = select_rows(collect(encoded), [last_letter])

    # Decoder: one step. The first one has no last phoneme, and reads <s>.
    embeddings = b.param("dec_emb", [size], phonemes)
    y = select_rows(embeddings, [last_phoneme], default=b.param("start", [size]))
    h = b.state(read, parent)
    decoded = gru(b, "dec", y, broadcast(h, hyp))
    b.next(h, decoded)
    logits = dot_transposed(decoded, b.param("fc_w", [len(PHONEMES), size]))
    b.output("logits", logits + b.param("fc_b", [len(PHONEMES)]))
    return b.build()


def save(directory: Path) -> None:
    """Write a model directory: the graph, its weights and the symbols of both sides."""
    weights = read_weights()
    directory.mkdir(parents=True, exist_ok=True)
    vocabularies = [directory / "letters.txt", directory / "phonemes.txt"]
    for path, symbols in zip(vocabularies, (LETTERS, PHONEMES), strict=True):
        path.write_text("".join(symbol + "\n" for symbol in symbols))
    g2p(weights["start"].size).save(directory / "model", weights, vocabularies)


def pronounce(translator: fuselage.Translator, words: Iterable[str]) -> list[str]:
    """Give the phonemes of each word; the words of its text are its letters."""
    return translator.translate([" ".join(word.lower()) for word in words])


def main(words: list[str]) -> None:
    """Print each word with its phonemes."""
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        translator = fuselage.Translator(
            Path(folder) / "model", beam_size=1, max_words=20, allow_unk=True
        )
        for word, phonemes in zip(words, pronounce(translator, words), strict=True):
            print(f"{word}: {phonemes}")


if __name__ == "__main__":
    main(sys.argv[1:])
