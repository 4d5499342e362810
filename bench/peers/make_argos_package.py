"""Writes FILE, a package of Argos Translate (.argosmodel) from English to German: a transformer in
the format of CTranslate2 with random weights, in int8, and VOCABULARY, of SentencePiece, for its
words. Needs ctranslate2, numpy and sentencepiece.

It has the shape of published packages: 6 layers, 512 wide. Each translation has --length words, so
that systems which choose other words of random weights do the same work: one number of the position
encodings of the decoder, which only the score of the end symbol reads, says where to end."""

import argparse
import json
import pathlib
import tempfile
import zipfile

import ctranslate2
import numpy as np
import sentencepiece

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"
MOST_WORDS = 512
END_SIGNAL = 100


def sinusoids(positions, width):
    """The encodings of Vaswani et al. 2017, section 3.5, sines first."""
    rates = 10000.0 ** -(np.arange(width // 2) / (width // 2 - 1))
    angles = np.arange(1, positions + 1)[:, None] * rates
    return np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)


class Weights:
    def __init__(self, seed=1):
        self.random = np.random.default_rng(seed)

    def matrix(self, rows, columns, scale=1.0):
        return (self.random.standard_normal((rows, columns)) * scale / np.sqrt(columns)).astype(
            np.float32
        )

    def fill_linear(self, layer, rows, columns):
        layer.weight = self.matrix(rows, columns)
        layer.bias = np.zeros(rows, np.float32)

    def fill_norm(self, layer, width):
        layer.gamma = np.ones(width, np.float32)
        layer.beta = np.zeros(width, np.float32)

    def fill_attention(self, attention, width, is_self):
        self.fill_norm(attention.layer_norm, width)
        for linear, times in zip(attention.linear, (3, 1) if is_self else (1, 2, 1), strict=True):
            self.fill_linear(linear, times * width, width)

    def fill_layers(self, side, width, feed_forward):
        for layer in side.layer:
            self.fill_attention(layer.self_attention, width, is_self=True)
            if hasattr(layer, "attention"):
                self.fill_attention(layer.attention, width, is_self=False)
            self.fill_norm(layer.ffn.layer_norm, width)
            self.fill_linear(layer.ffn.linear_0, feed_forward, width)
            self.fill_linear(layer.ffn.linear_1, width, feed_forward)
        if hasattr(side, "layer_norm"):
            self.fill_norm(side.layer_norm, width)


def make_spec(words, options):
    spec = ctranslate2.specs.TransformerSpec.from_config(options.layers, options.heads)
    weights = Weights()
    for side in (spec.encoder, spec.decoder):
        weights.fill_layers(side, options.dim, options.ffn)
    embeddings = weights.matrix(len(words), options.dim)
    spec.encoder.embeddings[0].weight = embeddings
    spec.decoder.embeddings.weight = embeddings
    projection = weights.matrix(len(words), options.dim, scale=options.spread)
    encodings = sinusoids(MOST_WORDS, options.dim)
    encodings[:, 0] = np.where(np.arange(MOST_WORDS) < options.length, -END_SIGNAL, END_SIGNAL)
    spec.decoder.position_encodings.encodings = encodings
    projection[:, 0] = 0
    projection[words.index(END), 0] = END_SIGNAL
    spec.decoder.projection.weight = projection
    bias = np.zeros(len(words), np.float32)
    bias[[words.index(UNKNOWN), words.index(BEGIN)]] = -100
    spec.decoder.projection.bias = bias
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    spec.optimize("int8")
    return spec


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vocabulary", type=pathlib.Path, help="vocab.spm")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--ffn", type=int, default=2048)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--spread", type=float, default=3.0, help="of the scores of words")
    parser.add_argument("--length", type=int, default=20, help="words of a translation")
    return parser.parse_args()


def main():
    options = parse_arguments()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(options.vocabulary))
    words = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]
    for special in (UNKNOWN, BEGIN, END):
        if special not in words:
            words.append(special)
    metadata = {
        "package_version": "1.0",
        "argos_version": "1.0",
        "from_code": "en",
        "from_name": "English",
        "to_code": "de",
        "to_name": "German",
    }
    with tempfile.TemporaryDirectory() as folder:
        make_spec(words, options).save(folder)
        with zipfile.ZipFile(options.file, "w", zipfile.ZIP_DEFLATED) as package:
            top = "translate-en_de-1_0/"
            package.writestr(top + "metadata.json", json.dumps(metadata))
            for part in sorted(pathlib.Path(folder).iterdir()):
                package.write(part, f"{top}model/{part.name}")
            package.write(options.vocabulary, top + "sentencepiece.model")


if __name__ == "__main__":
    main()
