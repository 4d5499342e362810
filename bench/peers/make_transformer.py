"""Writes DIRECTORY/model.npz, a transformer in Marian's format with random weights, and its
DIRECTORY/vocab.yml. By default it has the shape of opus-mt-en-de. Needs numpy.

Random weights never end a sentence, so every decoder produces the same number of words. They take
the same time as trained weights."""

import argparse
import io
import pathlib
import zipfile

import numpy as np

CONFIG = """type: transformer
dim-emb: {dim}
dim-vocabs: [{vocabulary}, {vocabulary}]
enc-depth: {layers}
dec-depth: {layers}
input-types: []
tied-embeddings: false
tied-embeddings-all: true
tied-embeddings-src: false
transformer-decoder-autoreg: self-attention
transformer-dim-ffn: {ffn}
transformer-ffn-activation: swish
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: {heads}
transformer-no-projection: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
transformer-preprocess: ""
transformer-tied-layers: []
transformer-train-position-embeddings: false
version: v1.12.0
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--ffn", type=int, default=2048)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--vocabulary", type=int, default=58101)
    return parser.parse_args()


class Weights:
    """Names and values of parameters; matrices are uniform as Glorot and Bengio 2010 have them."""

    def __init__(self, shape, seed=1):
        self.shape = shape
        self.named = {}
        self.random = np.random.default_rng(seed)

    def add(self, name, values):
        self.named[name] = values.astype(np.float32)

    def linear(self, scope, part, rows, columns):
        limit = np.sqrt(6 / (rows + columns))
        self.add(f"{scope}_W{part}", self.random.uniform(-limit, limit, (rows, columns)))
        self.add(f"{scope}_b{part}", np.zeros((1, columns)))

    def norm(self, scope):
        self.add(f"{scope}_ln_scale", np.ones((1, self.shape.dim)))
        self.add(f"{scope}_ln_bias", np.zeros((1, self.shape.dim)))

    def attention(self, scope):
        for part in "qkvo":
            self.linear(scope, part, self.shape.dim, self.shape.dim)
        self.norm(f"{scope}_Wo")

    def ffn(self, scope):
        self.linear(scope, "1", self.shape.dim, self.shape.ffn)
        self.linear(scope, "2", self.shape.ffn, self.shape.dim)
        self.norm(f"{scope}_ffn")

    def words(self):
        size = (self.shape.vocabulary, self.shape.dim)
        self.add("Wemb", self.random.normal(0, self.shape.dim**-0.5, size))
        self.add("decoder_ff_logit_out_b", self.random.normal(0, 0.1, (1, self.shape.vocabulary)))

    def transformer(self):
        self.words()
        for side, attentions in (("encoder", ["self"]), ("decoder", ["self", "context"])):
            for layer in range(1, self.shape.layers + 1):
                for attention in attentions:
                    self.attention(f"{side}_l{layer}_{attention}")
                self.ffn(f"{side}_l{layer}_ffn")


def write_model(directory, weights, config):
    """Writes model.npz and vocab.yml. Sizes are in the archive's local headers, which Marian's
    browser fork needs."""
    directory.mkdir(parents=True, exist_ok=True)
    text = config.format(**vars(weights.shape)).encode() + b"\0"
    arrays = {**weights.named, "special:model.yml": np.frombuffer(text, np.int8)}
    with zipfile.ZipFile(directory / "model.npz", "w") as archive:
        for name, values in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, values, version=(1, 0))
            archive.writestr(f"{name}.npy", member.getvalue())
    words = (f"w{i}: {i}\n" for i in range(2, weights.shape.vocabulary))
    (directory / "vocab.yml").write_text("</s>: 0\n<unk>: 1\n" + "".join(words))


def main():
    shape = parse_arguments()
    weights = Weights(shape)
    weights.transformer()
    write_model(shape.directory, weights, CONFIG)


if __name__ == "__main__":
    main()
