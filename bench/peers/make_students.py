"""Writes what compare_students.py needs: students of the family of Firefox's models with random
weights, stored with alphas in 8 bits by Marian's browser fork, lists of translations, and a text in
pieces. DIRECTORY gets

    tiny/, base/     model.bin and vocab.yml: 6 encoder layers, 2 decoder layers with an SSRU, of
                     256 and 1536 or 512 and 2048, 32,000 words
    text.pieces      the text, in pieces of a SentencePiece model of the parallel text
    real.s2t         a lexical table of the parallel text in pieces, by `fuselage lexicon`
    random.s2t       for each piece of the text 50 random others

Needs numpy and sentencepiece."""

import argparse
import collections
import pathlib
import random
import subprocess
import types

import numpy as np
import sentencepiece
from make_transformer import Weights, write_model

VOCABULARY = 32000
SHAPES = {"tiny": (256, 1536), "base": (512, 2048)}

CONFIG = """type: transformer
bert-train-type-embeddings: true
bert-type-vocab-size: 2
dec-cell: ssru
dec-cell-base-depth: 2
dec-cell-high-depth: 1
dec-depth: {decoder_layers}
dim-emb: {dim}
dim-rnn: 1024
dim-vocabs: [{vocabulary}, {vocabulary}]
enc-cell: gru
enc-cell-depth: 1
enc-depth: {layers}
enc-type: bidirectional
factors-combine: sum
factors-dim-emb: 0
input-types: []
layer-normalization: false
lemma-dim-emb: 0
output-omit-bias: false
right-left: false
skip: false
tied-embeddings: false
tied-embeddings-all: true
tied-embeddings-src: false
transformer-aan-activation: swish
transformer-aan-depth: 2
transformer-aan-nogate: false
transformer-decoder-autoreg: rnn
transformer-decoder-dim-ffn: 0
transformer-decoder-ffn-depth: 0
transformer-depth-scaling: false
transformer-dim-aan: 2048
transformer-dim-ffn: {ffn}
transformer-ffn-activation: relu
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: {heads}
transformer-no-projection: false
transformer-pool: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
transformer-preprocess: ""
transformer-rnn-projection: false
transformer-tied-layers: []
transformer-train-position-embeddings: false
ulr: false
ulr-dim-emb: 0
ulr-trainable-transformation: false
version: v1.9.56
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--fuselage", type=pathlib.Path, default="build/fuselage")
    parser.add_argument("--fork", type=pathlib.Path, required=True, help="its build directory")
    parser.add_argument("--text", type=pathlib.Path, required=True, help="to be translated")
    parser.add_argument("--parallel", type=pathlib.Path, nargs=2, required=True)
    parser.add_argument("--max-length", type=int, default=120, help="of a line in pieces")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


class Student(Weights):
    """A transformer whose decoder has an SSRU in place of self-attention."""

    def ssru(self, scope):
        for part in ("", "f"):
            self.linear(scope, part, self.shape.dim, self.shape.dim)
        del self.named[f"{scope}_b"]
        self.norm(f"{scope}_ffn")

    def student(self):
        self.words()
        for layer in range(1, self.shape.layers + 1):
            self.attention(f"encoder_l{layer}_self")
            self.ffn(f"encoder_l{layer}_ffn")
        for layer in range(1, self.shape.decoder_layers + 1):
            self.ssru(f"decoder_l{layer}_rnn")
            self.attention(f"decoder_l{layer}_context")
            self.ffn(f"decoder_l{layer}_ffn")


def pieces_of(tokenizer, lines):
    """Word i of a vocabulary is w<i>; the first two are the end and the unknown word."""
    return [" ".join(f"w{piece}" for piece in ids) for ids in tokenizer.encode(lines)]


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))


def tokenizer_of(options):
    prefix = options.directory / "pieces"
    sentencepiece.SentencePieceTrainer.train(
        input=",".join(str(path) for path in options.parallel),
        model_prefix=str(prefix),
        vocab_size=VOCABULARY,
        hard_vocab_limit=False,
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")


def write_lists(options, tokenizer, pieces):
    sides = [options.directory / "source.pieces", options.directory / "target.pieces"]
    for path, side in zip(options.parallel, sides):
        write_lines(side, pieces_of(tokenizer, path.read_text().splitlines()))
    vocabulary = options.directory / "tiny" / "vocab.yml"
    real = options.directory / "real.s2t"
    command = [options.fuselage, "lexicon", *sides, "-v", vocabulary, vocabulary, "-o", real]
    subprocess.run(command, check=True)
    # The fork reads behind the end of a table that ends before the vocabulary.
    last = f"w{VOCABULARY - 1}"
    with real.open("a") as table:
        table.write(f"w2 {last} 0.5\n")

    source = random.Random(options.seed)
    lines = [f"w2 {last} 0.5"]
    for piece in sorted({piece for line in pieces for piece in line.split()}):
        words = source.sample(range(2, VOCABULARY), 50)
        lines += [f"w{word} {piece} {source.random():.6f}" for word in words]
    write_lines(options.directory / "random.s2t", lines)


def alphas_of(options, directory):
    """127 over the largest absolute value of an input that is expected: the mean over the products
    of a few lines, and 1.1 standard deviations."""
    command = [options.fork / "marian-decoder", "-m", directory / "model.npz", "--cpu-threads", "1"]
    command += ["-v", *[directory / "vocab.yml"] * 2, "-i", options.directory / "few.pieces"]
    command += ["-b", "1", "--skip-cost", "--int8shift", "--dump-quantmult", "--quiet"]
    dump = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    largest = collections.defaultdict(list)
    for line in dump.splitlines():
        words = line.split()
        if words[:1] == ["Name:"] and words[1].endswith("_QuantMultA"):
            largest[words[1].split("::")[-1]].append(float(words[-1]))
    alphas = {
        name: np.array([127 / (np.mean(values) + 1.1 * np.std(values))], np.float32)
        for name, values in largest.items()
    }
    output = {"none_QuantMultA", "Wemb_QuantMultA"}  # with a shortlist, and without
    for name in output & alphas.keys():
        alphas.update(dict.fromkeys(output, alphas[name]))
    return alphas


def write_student(options, name):
    dim, ffn = SHAPES[name]
    shape = types.SimpleNamespace(
        dim=dim, ffn=ffn, heads=8, layers=6, decoder_layers=2, vocabulary=VOCABULARY
    )
    directory = options.directory / name
    student = Student(shape, options.seed)
    student.student()
    write_model(directory, student, CONFIG)
    student.named.update(alphas_of(options, directory))
    write_model(directory, student, CONFIG)
    files = ["-f", directory / "model.npz", "-t", directory / "model.bin"]
    command = [options.fork / "marian-conv", *files, "--gemm-type", "intgemm8"]
    subprocess.run(command, check=True, capture_output=True)


def main():
    options = parse_arguments()
    options.directory.mkdir(parents=True, exist_ok=True)
    tokenizer = tokenizer_of(options)
    pieces = pieces_of(tokenizer, options.text.read_text().splitlines())
    pieces = [line for line in pieces if 0 < len(line.split()) <= options.max_length]
    write_lines(options.directory / "text.pieces", pieces)
    write_lines(options.directory / "few.pieces", pieces[:20])
    for name in SHAPES:
        write_student(options, name)
    write_lists(options, tokenizer, pieces)


if __name__ == "__main__":
    main()
