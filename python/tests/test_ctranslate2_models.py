"""Models of CTranslate2, as it saves them: its scores and translations beside the program's."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from conftest import run_program

ctranslate2 = pytest.importorskip("ctranslate2")
specs = pytest.importorskip("ctranslate2.specs")

WIDTH, INNER, HEADS, LAYERS = 32, 48, 4, 2
WORDS = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(27))]
ACTIVATIONS = {kind.name: {"activation": kind} for kind in specs.Activation}
VARIANTS = {
    "pre": {},
    "post": {"pre_norm": False},
    "no-final-norm": {"no_final_norm": True},
    "embedding-norm": {"layernorm_embedding": True, "pre_norm": False},
    "shaw": {"with_relative_position": True},
    "t5": {"relative_attention_bias": True, "rms_norm": True, "ffn_glu": True},
    "alignment": {"alignment_layer": 0, "alignment_heads": 3},
    **ACTIVATIONS,
}
CHANGES = {
    "start-at-zero": {"decoder.start_from_zero_embedding": True},
    "scales": {
        "encoder.scale_embeddings": np.float32(1.7),
        "decoder.scale_embeddings": False,
        "decoder.scale_outputs": np.float32(0.5),
    },
    "start": {"config.decoder_start_token": "</s>"},
    "epsilon": {"config.layer_norm_epsilon": 0.01},
}
PRECISIONS = ["float32", "float16", "int8", "int8_float16", "int16"]


class Maker:
    """Fills a specification with random numbers."""

    def __init__(self):
        self.random = np.random.default_rng(1)

    def numbers(self, *shape, scale=1.0):
        return (self.random.standard_normal(shape) * scale).astype(np.float32)

    def linear(self, spec, out, size):
        spec.weight = self.numbers(out, size, scale=size**-0.5)
        spec.bias = self.numbers(out, scale=0.1)

    def norm(self, spec):
        spec.gamma = 1 + self.numbers(WIDTH, scale=0.1)
        if hasattr(spec, "beta"):
            spec.beta = self.numbers(WIDTH, scale=0.1)

    def attention(self, spec, bias):
        self.norm(spec.layer_norm)
        factors = {2: [3, 1], 3: [1, 2, 1]}[len(spec.linear)]
        for linear, factor in zip(spec.linear, factors, strict=False):
            self.linear(linear, factor * WIDTH, WIDTH)
        if hasattr(spec, "relative_position_keys"):
            spec.relative_position_keys = self.numbers(7, WIDTH // HEADS)
            spec.relative_position_values = self.numbers(7, WIDTH // HEADS)
        if hasattr(spec, "relative_attention_bias"):
            spec.relative_attention_bias = bias
            spec.relative_attention_max_distance = np.int32(10)

    def fill(self, spec, shared):
        for side in (spec.encoder, spec.decoder):
            bias = self.numbers(8, HEADS)
            for layer in side.layer:
                self.attention(layer.self_attention, bias)
                if hasattr(layer, "attention"):
                    self.attention(layer.attention, bias)
                self.norm(layer.ffn.layer_norm)
                self.linear(layer.ffn.linear_0, INNER, WIDTH)
                self.linear(layer.ffn.linear_1, WIDTH, INNER)
                if hasattr(layer.ffn, "linear_0_noact"):
                    self.linear(layer.ffn.linear_0_noact, INNER, WIDTH)
            for name in ("layer_norm", "layernorm_embedding"):
                if hasattr(side, name):
                    self.norm(getattr(side, name))
        spec.encoder.embeddings[0].weight = self.numbers(len(WORDS), WIDTH, scale=0.3)
        spec.decoder.embeddings.weight = self.numbers(len(WORDS), WIDTH, scale=0.3)
        self.linear(spec.decoder.projection, len(WORDS), WIDTH)
        if shared:
            spec.decoder.embeddings.weight = spec.encoder.embeddings[0].weight
            spec.decoder.projection.weight = spec.encoder.embeddings[0].weight


def save(folder, precision="float32", shared=False, changes=None, encodings=False, **variant):
    spec = specs.TransformerSpec.from_config(LAYERS, HEADS, **variant)
    Maker().fill(spec, shared)
    if encodings:
        for side in (spec.encoder, spec.decoder):
            side.position_encodings.encodings = Maker().numbers(40, WIDTH)
    spec.register_source_vocabulary(WORDS)
    spec.register_target_vocabulary(WORDS)
    spec.config.add_source_eos = True
    for name, value in (changes or {}).items():
        where, attribute = name.split(".")
        setattr(getattr(spec, where), attribute, value)
    spec.validate()
    spec.optimize(precision)
    folder.mkdir(parents=True)
    spec.save(str(folder))
    return folder


def sentences(lengths):
    random = np.random.default_rng(2)
    return [[f"w{i}" for i in random.integers(0, 27, n)] for n in lengths]


SOURCES, TARGETS = sentences([1, 2, 5, 9, 14, 30]), sentences([3, 1, 6, 8, 15, 33])


def lines(texts):
    return "".join(" ".join(words) + "\n" for words in texts)


def scores(model, folder):
    """The log-probabilities of words, by both programs, one after the other."""
    for name, texts in (("source", SOURCES), ("target", TARGETS)):
        (folder / name).write_text(lines(texts))
    translator = ctranslate2.Translator(str(model), intra_threads=1)
    expected = [result.log_probs for result in translator.score_batch(SOURCES, TARGETS)]
    output = run_program(
        *("score", "-m", str(model), "--word-scores", "--quiet"),
        *("-t", str(folder / "source"), str(folder / "target")),
    )
    actual = [line.split("WordScores=")[1].split() for line in output.splitlines()]
    assert [len(words) for words in actual] == [len(words) for words in expected]
    return np.concatenate(actual).astype(float), np.concatenate(expected)


def expect_equal(model, folder):
    actual, expected = scores(model, folder)
    np.testing.assert_allclose(actual, expected, atol=5e-5)
    translator = ctranslate2.Translator(str(model), intra_threads=1)
    results = translator.translate_batch(
        SOURCES, beam_size=1, min_decoding_length=0, max_decoding_length=10, disable_unk=True
    )
    output = run_program(
        *("translate", "-m", str(model), "-b", "1", "--max-length-factor", "10", "--quiet"),
        text=lines(SOURCES),
    )
    for line, result in zip(output.splitlines(), results, strict=False):
        words = result.hypotheses[0]
        assert (line.split()[:10] if len(words) == 10 else line.split()) == words


@pytest.mark.parametrize("name", VARIANTS)
def test_variants(name, tmp_path):
    expect_equal(save(tmp_path / "model", **VARIANTS[name]), tmp_path)


@pytest.mark.parametrize("name", CHANGES)
def test_attributes(name, tmp_path):
    expect_equal(save(tmp_path / "model", changes=CHANGES[name]), tmp_path)


def test_stored_positions(tmp_path):
    expect_equal(save(tmp_path / "model", encodings=True), tmp_path)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_precisions(precision, shared, tmp_path):
    if precision == "int16" and precision not in ctranslate2.get_supported_compute_types("cpu"):
        pytest.skip("CTranslate2 multiplies in int16 on processors of Intel only")
    actual, expected = scores(save(tmp_path / "model", precision, shared), tmp_path)
    errors = np.abs(actual - expected)
    if precision == "int16":
        # CTranslate2 gives the rows of a batch 10 bits and one scale.
        assert errors.max() < 2e-2
    elif precision.startswith("int8"):
        # The same integers, but where a quotient is rounded the other way.
        assert np.median(errors) < 5e-5 and errors.max() < 0.3
    else:
        assert errors.max() < 5e-5


def test_convert_keeps_the_scores(tmp_path):
    model = save(tmp_path / "model", "int8", shared=True)
    run_program("convert", "-m", str(model), "-o", str(tmp_path / "converted"))
    score = ("score", "--word-scores", "--quiet")
    for name, texts in (("source", SOURCES), ("target", TARGETS)):
        (tmp_path / name).write_text(lines(texts))
    texts = ("-t", str(tmp_path / "source"), str(tmp_path / "target"))
    outputs = [run_program(*score, "-m", str(tmp_path / m), *texts) for m in ("model", "converted")]
    assert outputs[0] == outputs[1]


def test_argos_package(tmp_path):
    spm = pytest.importorskip("sentencepiece")
    text = [f"the cat {'abcd'[i % 4] * (i % 3 + 1)} sat on mat {i % 10}" for i in range(500)]
    (tmp_path / "text").write_text("\n".join(text))
    spm.SentencePieceTrainer.train(
        input=str(tmp_path / "text"), model_prefix=str(tmp_path / "pieces"), vocab_size=30,
        minloglevel=2, hard_vocab_limit=False,
    )  # fmt: skip
    pieces = spm.SentencePieceProcessor(model_file=str(tmp_path / "pieces.model"))
    model = save(tmp_path / "model", "int8", shared=True)
    words = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]
    words = (words + [f"x{i}" for i in range(len(WORDS))])[: len(WORDS)]
    (model / "shared_vocabulary.json").write_text(json.dumps(words))
    metadata = {"from_code": "en", "to_code": "de", "package_version": "1.0"}
    package = tmp_path / "translate-en_de.argosmodel"
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("en_de/metadata.json", json.dumps(metadata))
        archive.write(tmp_path / "pieces.model", "en_de/sentencepiece.model")
        for path in model.iterdir():
            archive.write(path, f"en_de/model/{path.name}")
    with zipfile.ZipFile(package) as archive:
        archive.extractall(tmp_path / "unpacked")
    search = ("translate", "-b", "1", "--max-length-factor", "1", "--quiet", "-m")
    source = "".join(line + "\n" for line in text[:5])
    packed = run_program(*search, str(package), text=source)
    assert packed == run_program(*search, str(tmp_path / "unpacked" / "en_de"), text=source)
    split = lines(pieces.encode(line, out_type=str) for line in text[:5])
    found = run_program(*search, str(model), text=split).splitlines()
    assert packed.splitlines() == [pieces.decode(line.split()) for line in found]
