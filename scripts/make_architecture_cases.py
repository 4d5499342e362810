#!/usr/bin/env python3
"""make_architecture_cases.py [NAME ...]: writes tests/data/architectures/, models of every kind with what Marian
makes of them. With names, only these cases.

Marian trains each model for one update, which gives its parameters and its configuration. The weights are then
random numbers on a coarse grid, of a size that makes outputs differ from word to word. Marian's translations
are the truth, for language models and pre-norm self-attention its scores of given texts: marian-decoder does not
run the former, and computes the latter otherwise than it trains them. Needs numpy and pymarian 1.12 (PyPI).
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "architectures"
WORDS = 40
LINES = 10
MARIAN = [sys.executable, "-c", "import sys, _pymarian; sys.exit(_pymarian.main(sys.argv[1:]))"]
TRAINING = "--after 1u --mini-batch 4 --cpu-threads 1 --workspace 64 --seed 1 --max-length 20".split()
# The searches of each case: a file name, and Marian's options.
SEARCHES = {
    "greedy": "--beam-size 1 --alignment 1 --word-scores",
    "beam4": "--beam-size 4",
    "beam4.norm06": "--beam-size 4 --normalize 0.6",
}

# --- Cases: their options of training; "given:KEY=VALUE" is not for the trainer but added by make() ---

RNN = "--type s2s --dim-emb 6 --dim-rnn 5"
NO_ALIGNMENT = "given:alignment=none"
CASES = {}


def case(name, *options):
    CASES[name] = " ".join(options)


def cells():
    for cell in ("lstm", "mlstm", "mgru", "tanh", "relu"):
        both = f"--enc-cell {cell} --dec-cell {cell}"
        case(f"s2s-{cell}", RNN, both, "--tied-embeddings-src")
        if cell != "mgru":
            case(f"s2s-{cell}-norm", RNN, both, "--layer-normalization")
    # Cells whose input has the size of their state: the context of a decoder has it with bi-unidirectional.
    for cell in ("sru", "ssru"):
        square = "--type s2s --dim-emb 6 --dim-rnn 6"
        case(f"s2s-{cell}-encoder", square, f"given:enc-cell={cell} --enc-depth 2 --layer-normalization")
        case(f"s2s-{cell}-decoder", square, f"--enc-cell gru --dec-cell {cell} --tied-embeddings",
             "--enc-type bi-unidirectional --enc-depth 2 --dec-depth 2 --skip")


def deep():
    for cell in ("lstm", "tanh", "relu"):
        both = f"--enc-cell {cell} --dec-cell {cell}"
        case(f"s2s-deep-{cell}", RNN, both, "--enc-depth 2 --dec-depth 2 --enc-cell-depth 2",
             "--dec-cell-base-depth 4 --dec-cell-high-depth 2 --skip --enc-type alternating --tied-embeddings-all")
    case("s2s-deep-lstm-norm", RNN, "--enc-cell lstm --dec-cell lstm --layer-normalization",
         "--enc-depth 3 --dec-depth 2 --enc-cell-depth 2 --dec-cell-base-depth 3 --dec-cell-high-depth 2",
         "--enc-type bi-unidirectional --skip --tied-embeddings")
    case("s2s-gru-nematus-norm", RNN, "--enc-cell gru-nematus --dec-cell gru-nematus --layer-normalization",
         "--tied-embeddings-all")
    case("s2s-mgru-high", RNN, "--enc-cell tanh --dec-cell mgru --dec-depth 3 --output-omit-bias")


def transformers():
    base = ("--type transformer --dim-emb 8 --transformer-heads 2 --transformer-dim-ffn 12 --enc-depth 1 "
            "--dec-depth 2 --tied-embeddings-all")
    rnn = "--transformer-decoder-autoreg rnn"
    average = "--transformer-decoder-autoreg average-attention --transformer-dim-aan"
    for cell in ("gru", "lstm", "mgru", "sru"):
        case(f"transformer-{cell}", base, rnn, f"--dec-cell {cell}")
    case("transformer-lstm-norm", base, rnn, "--dec-cell lstm --layer-normalization --transformer-rnn-projection",
         "--transformer-preprocess n --transformer-postprocess da --transformer-postprocess-top n")
    case("transformer-average", base, average, "12")
    case("transformer-average-deep", base, average, "8 --transformer-aan-depth 3 --transformer-aan-nogate",
         "--transformer-aan-activation gelu --transformer-tied-layers 1 1")
    case("transformer-average-pre", base, average, "12 --transformer-preprocess dr --transformer-postprocess dha",
         "--transformer-postprocess-emb nd --transformer-postprocess-top ar")
    case("transformer-bare", base, "--transformer-no-projection --transformer-postprocess a",
         "--transformer-ffn-depth 3 --transformer-ffn-activation gelu --output-omit-bias")
    case("transformer-sizes", base, "--transformer-postprocess nar --transformer-decoder-dim-ffn 6",
         "--transformer-decoder-ffn-depth 1 --transformer-ffn-activation swish --transformer-tied-layers 1 1",
         "--transformer-guided-alignment-layer 1")
    case("transformer-pool", base, "--transformer-pool --transformer-ffn-activation relu", NO_ALIGNMENT)
    case("transformer-no-positions", base, "given:transformer-disable-position-embeddings=true")
    case("transformer-pre-norm", base, "--transformer-preprocess n --transformer-postprocess dan")
    case("transformer-trained-positions", base.replace("--tied-embeddings-all", ""), "given:positions=trained")
    case("transformer-untrained-positions", base, "--transformer-train-position-embeddings")
    return base


def several(base):
    for kind in ("multi-", "shared-multi-"):
        case(f"{kind}s2s", RNN.replace("s2s", kind + "s2s"), "--enc-cell lstm --dec-cell lstm")
        case(f"{kind}transformer", base.replace("transformer ", kind + "transformer ", 1))
    case("multi-s2s-norm", RNN.replace("s2s", "multi-s2s"), "--layer-normalization --tied-embeddings-all")
    hybrid = base.replace("transformer ", "transformer_s2s ", 1)
    case("hybrid", hybrid, "--dim-rnn 5 --dec-cell lstm")
    case("hybrid-ssru", hybrid, "--dim-rnn 8 --dec-cell ssru --skip")


def language_models():
    case("lm", "--type lm --dim-emb 6 --dim-rnn 5 --dec-cell lstm --dec-depth 2 --dec-cell-base-depth 3")
    case("lm-transformer", "--type lm-transformer --dim-emb 8 --transformer-heads 2 --transformer-dim-ffn 12",
         "--dec-depth 2 --tied-embeddings-all --transformer-preprocess n --transformer-postprocess da")


cells()
deep()
language_models()
several(transformers())


# --- Texts ---

def texts():
    """The vocabulary, the lines to translate, and translations to score."""
    generator = random.Random(5)
    words = [f"{a}{b}" for a in "bdfgklmnrst" for b in ("a", "en", "ik", "or")][: WORDS - 2]

    def line(most):
        return " ".join(generator.choice(words) for _ in range(generator.randint(1, most)))

    return (["</s>", "<unk>"] + words, [line(6) for _ in range(LINES)], [line(6) for _ in range(LINES)])


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))


def other_text(lines):
    """The second source text of a model with two."""
    return [" ".join(reversed(line.split()[:5])) for line in lines[1:] + lines[:1]]


def by_line(n_best):
    """The translations of each line."""
    groups = {}
    for translation in n_best.splitlines():
        groups.setdefault(translation.split(" ||| ")[0], []).append(translation)
    return groups.values()


# --- Models ---

def random_weights(case_name, name, shape, generator):
    """Numbers on a grid of 1/64, so that the files are small."""
    if re.search(r"(gamma[0-9mfr]*|_lns|_ln_s[0-9]?|_scale(_pre)?)$", name):
        values = (0.6 if "gamma" in name else 1) + 0.2 * generator.normal(size=shape)
    elif name.endswith("Wemb"):
        values = 1.5 * generator.normal(size=shape)
    elif shape[0] == 1:
        values = 0.3 * generator.normal(size=shape)
    else:
        # Products of states grow, and rectified ones do not saturate.
        scales = {"relu": 1, "bare": 0.7}
        scale = 0.6 if re.search(r"_[UW]m$", name) else next((s for kind, s in scales.items() if kind in case_name), 1.7)
        values = scale * generator.normal(size=shape) / np.sqrt(min(shape))
    if re.search(r"_(l2|out)_b$", name):
        values[0, 0] = 0.8  # sentences end
    return (np.round(values * 64) / 64).astype(np.float32)


def with_simple_units(tensors, cell):
    """The encoder's GRUs replaced by SRUs or SSRUs, which Marian runs but cannot train in an encoder."""
    result = {key: value for key, value in tensors.items() if not key.startswith("encoder_bi")}
    for key in tensors:
        if key.startswith("encoder_bi") and key.endswith("_Ux"):
            prefix, size = key[: -len("_Ux")], tensors[key].shape[0]
            result[f"{prefix}_W"] = np.zeros((size, size))
            result[f"{prefix}_gamma"] = np.zeros((1, size))
            for gate in "fr" if cell == "sru" else "f":
                result |= {f"{prefix}_W{gate}": np.zeros((size, size)), f"{prefix}_b{gate}": np.zeros((1, size)),
                           f"{prefix}_gamma{gate}": np.zeros((1, size))}
    return result


def with_trained_positions(tensors):
    """The same model with a table of positions, which Marian 1.12 cannot run: the table has the sinusoids, and
    the embeddings, which are not scaled then, are larger."""
    size = tensors["encoder_Wemb"].shape[1]
    angles = np.arange(24)[:, None] * np.exp(-np.log(10000) / (size / 2 - 1) * np.arange(size // 2))
    table = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    larger = {key: tensors[key] * np.float32(np.sqrt(size)) for key in ("encoder_Wemb", "decoder_Wemb")}
    return larger | {"Wpos": table.astype(np.float32)}


def marian(command, *arguments):
    result = subprocess.run([*MARIAN, command, *map(str, arguments)], text=True, capture_output=True)
    if result.returncode != 0:
        sys.exit(f"marian {command} {' '.join(map(str, arguments))}\n{result.stderr[-3000:]}")
    return result.stdout


def make(name, options, work):
    sources = [FOLDER / "source.txt"]
    if "multi-" in options:
        sources.append(FOLDER / "source2.txt")
    language_model = "--type lm" in options
    if language_model:
        sources.clear()
    vocabularies = [FOLDER / "vocab.yml"] * (len(sources) + 1)
    model = work / "model.npz"
    given = dict(re.findall(r"given:(\S+)=(\S+)", options))
    options = re.sub(r"given:\S+", "", options)
    marian("train", "--model", model, "--train-sets", *sources, FOLDER / "target.txt", "--vocabs", *vocabularies,
           *TRAINING, *options.split())
    with np.load(model) as file:
        tensors = dict(file)
    yaml = tensors.pop("special:model.yml").tobytes().decode().rstrip("\0")
    searches = dict(SEARCHES)
    if given.pop("alignment", ""):
        searches["greedy"] = searches["greedy"].replace("--alignment 1", "")
    trained_positions = given.pop("positions", "")
    for key, value in given.items():
        yaml = f"{key}: {value}\n" + re.sub(f"^{key}: .*\n", "", yaml, flags=re.M)
    if "enc-cell" in given:
        tensors = with_simple_units(tensors, given["enc-cell"])
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    tensors = {key: random_weights(name, key, value.shape, generator) for key, value in sorted(tensors.items())}
    tensors["special:model.yml"] = np.frombuffer(yaml.encode() + b"\0", np.int8)
    np.savez(model, **tensors)

    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    run = ["--cpu-threads", 1, "--workspace", 64]
    scored_only = language_model or re.search(r"-preprocess \S*[nr]", options) and "autoreg" not in options
    if scored_only:
        scores = marian("score", *run, "--model", model, "--vocabs", *vocabularies, "--train-sets", *sources,
                        FOLDER / "target.txt", "--word-scores")
        (folder / "score.txt").write_text(scores)
    else:
        for search, how in searches.items():
            found = marian("decode", *run, "--models", model, "--vocabs", *vocabularies, "--input", *sources,
                           "--n-best", *how.split(), "--max-length-factor", 2, "--mini-batch", 1)
            if search == "beam4":  # the other search of this size has all translations
                found = "".join(f"{group[0]}\n" for group in by_line(found))
            (folder / f"{search}.txt").write_text(found)
            if search == "greedy":
                different = len({line.split(" ||| ")[1] for line in found.splitlines()})
                if different < LINES * 2 // 3:
                    print(f"{name}: only {different} different translations")
    if trained_positions:
        tensors |= with_trained_positions(tensors)
    np.savez_compressed(folder / "model.npz", **tensors)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    vocabulary, source, target = texts()
    write_lines(FOLDER / "vocab.yml", (f'"{word}": {i}' for i, word in enumerate(vocabulary)))
    write_lines(FOLDER / "source.txt", source)
    write_lines(FOLDER / "source2.txt", other_text(source))
    write_lines(FOLDER / "target.txt", target)
    for name in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory() as work:
            make(name, CASES[name], pathlib.Path(work))


main()
