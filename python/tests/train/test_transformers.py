"""Checkpoints of Transformers at random: its words, scores and log-probabilities beside ours."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import fuselage
import numpy as np
import pytest
import torch

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

WORDS, NEW_WORDS, TOLERANCE = 120, 20, 1e-4

BART = {
    "vocab_size": WORDS,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 64,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
    "init_std": 0.3,
}
T5 = {
    "vocab_size": WORDS,
    "d_model": 32,
    "d_kv": 7,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
    "initializer_factor": 1.5,
}
SCALED = {"scale_embedding": True}
UNTIED = {"tie_word_embeddings": False}
MARIAN = {**BART, "decoder_start_token_id": 1}
# Each with the family of its class and its configuration.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "bart": ("Bart", {**BART, "forced_bos_token_id": 0}),
    "bart-relu": ("Bart", {**BART, **SCALED, "activation_function": "relu", "decoder_layers": 1}),
    "bart-untied": ("Bart", {**BART, **UNTIED, "activation_function": "gelu_new"}),
    "mbart": ("MBart", {**BART, **SCALED, "activation_function": "gelu"}),
    "mbart-odd": (
        "MBart",
        {**BART, "d_model": 30, "encoder_attention_heads": 3, "decoder_attention_heads": 5},
    ),
    "m2m100": ("M2M100", {**BART, **SCALED, "activation_function": "relu"}),
    "m2m100-untied": ("M2M100", {**BART, **UNTIED, "activation_function": "gelu_pytorch_tanh"}),
    "marian": ("Marian", {**MARIAN, **SCALED, "activation_function": "swish"}),
    "marian-separate": (
        "Marian",
        {**MARIAN, "share_encoder_decoder_embeddings": False, "decoder_vocab_size": WORDS},
    ),
    "t5": ("T5", {**T5, "feed_forward_proj": "relu"}),
    "t5-v1.1": (
        "T5",
        {
            **T5,
            **UNTIED,
            "feed_forward_proj": "gated-gelu",
            "relative_attention_num_buckets": 6,
            "relative_attention_max_distance": 9,
        },
    ),
    "t5-silu": (
        "T5",
        {**T5, "feed_forward_proj": "gated-silu", "num_decoder_layers": 1},
    ),
    "mt5": ("MT5", {**T5, **UNTIED}),
    "umt5": ("UMT5", {**T5, **UNTIED}),
    # As MADLAD-400, whose translations do not begin with the padding.
    "madlad": (
        "T5",
        {
            **T5,
            **UNTIED,
            "decoder_start_token_id": 5,
            "feed_forward_proj": "gated-gelu",
        },
    ),
}


def class_of(family: str) -> Any:
    name = "MarianMTModel" if family == "Marian" else f"{family}ForConditionalGeneration"
    return getattr(transformers, name)


def random_model(family: str, options: dict[str, Any]) -> Any:
    """A model whose norms, biases and output biases are not those of its beginning."""
    torch.manual_seed(1)
    config = getattr(transformers, f"{family}Config")(**options)
    model = class_of(family)(config).eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.dim() == 1:
                value.copy_(0.2 * torch.randn_like(value))
                if "norm" in name and name.endswith("weight"):
                    value.add_(1)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(0.3 * torch.randn_like(model.final_logits_bias))
    return model


def write_tokenizer(folder: Path, end: int) -> None:
    """Words w0, w1 and so on, each a piece with its number, but for the symbols."""
    symbols = ["<s>", "<pad>", "</s>", "<unk>"] if end == 2 else ["<pad>", "</s>", "<unk>"]
    pieces = [*symbols, *(f"▁w{i}" for i in range(len(symbols), WORDS))]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.Unigram(
            [(piece, -1.0 - i % 7) for i, piece in enumerate(pieces)], unk_id=symbols.index("<unk>")
        )
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = tokenizers.decoders.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens(symbols)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def save(model: Any, folder: Path, **options: Any) -> Path:
    model.save_pretrained(folder, **options)
    write_tokenizer(folder, model.config.eos_token_id)
    return folder


def sentences(seed: int, lengths: list[int]) -> list[list[int]]:
    numbers = random.Random(seed)
    return [[numbers.randrange(6, WORDS) for _ in range(n)] for n in lengths]


SOURCES, TARGETS = sentences(5, [1, 3, 5, 9, 17, 4, 8]), sentences(6, [4, 1, 11, 3, 9, 14, 2])


def texts(lists: list[list[int]]) -> list[str]:
    return [" ".join(f"w{i}" for i in words) for words in lists]


def first_words(model: Any) -> list[int]:
    """The words of the decoder before those of a translation."""
    forced = model.generation_config.forced_bos_token_id
    return [model.config.decoder_start_token_id, *([] if forced is None else [forced])]


def generate(model: Any, source: list[int], beams: int) -> tuple[list[int], float | None]:
    """The words of generate(), without the first ones and those behind the end, and its score."""
    end = model.config.eos_token_id
    found = model.generate(
        torch.tensor([[*source, end]]),
        max_new_tokens=NEW_WORDS,
        num_beams=beams,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
    )
    words = found.sequences[0].tolist()[len(first_words(model)) :]
    if end in words:
        words = words[: words.index(end) + 1]
    return words, float(found.sequences_scores[0]) if beams > 1 else None


def expect_log_probabilities(model: Any, folder: Path) -> None:
    first, end = first_words(model), model.config.eos_token_id
    scores = fuselage.Scorer(folder, threads=1).score(texts(SOURCES), texts(TARGETS))
    for source, target, score in zip(SOURCES, TARGETS, scores, strict=True):
        words = [*target, end]
        with torch.no_grad():
            logits = model(
                input_ids=torch.tensor([[*source, end]]),
                decoder_input_ids=torch.tensor([[*first, *target]]),
            ).logits[0, len(first) - 1 :]
        expected = logits.log_softmax(-1)[torch.arange(len(words)), torch.tensor(words)]
        np.testing.assert_allclose(score.word_scores, expected.numpy(), atol=TOLERANCE)


def expect_words_of_greedy_search(model: Any, folder: Path) -> None:
    translator = fuselage.Translator(folder, threads=1, beam_size=1, max_words=NEW_WORDS)
    found = translator.translate_details(texts(SOURCES))
    for source, translation in zip(SOURCES, found, strict=True):
        assert list(translation.n_best[0].words) == generate(model, source, 1)[0]


def expect_scores_of_beam_search(model: Any, folder: Path) -> None:
    """Ours are at least as good: Transformers passes hypotheses over that end late."""
    translator = fuselage.Translator(folder, threads=1, beam_size=4, max_words=NEW_WORDS)
    found = translator.translate_details(texts(SOURCES))
    same = 0
    for source, translation in zip(SOURCES, found, strict=True):
        best = translation.n_best[0]
        words, score = generate(model, source, 4)
        assert best.score >= score - TOLERANCE
        if list(best.words) == words:
            same += 1
            assert best.score == pytest.approx(score, abs=TOLERANCE)
    assert same > len(SOURCES) // 2


def expect_equal(model: Any, folder: Path) -> None:
    expect_log_probabilities(model, folder)
    expect_words_of_greedy_search(model, folder)
    expect_scores_of_beam_search(model, folder)


@pytest.mark.parametrize("name", CASES)
def test_families(name: str, tmp_path: Path) -> None:
    model = random_model(*CASES[name])
    expect_equal(model, save(model, tmp_path / "model"))


@pytest.mark.parametrize("name", ["madlad", "m2m100-untied"])
def test_shards(name: str, tmp_path: Path) -> None:
    model = random_model(*CASES[name])
    folder = save(model, tmp_path / "model", max_shard_size="20KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    expect_equal(model, folder)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bf16", "fp16"])
@pytest.mark.parametrize("name", ["bart", "m2m100", "marian", "t5", "madlad"])
def test_narrow_weights(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    """Numbers stored in 16 bits are computed with as Transformers does in float32."""
    family, options = CASES[name]
    folder = save(random_model(family, options).to(dtype), tmp_path / "model")
    model = class_of(family).from_pretrained(folder, dtype=torch.float32).eval()
    expect_equal(model, folder)


def test_languages_of_pieces(tmp_path: Path) -> None:
    """MADLAD's target languages, in a directory that has a SentencePiece model only."""
    sentencepiece = pytest.importorskip("sentencepiece")
    folder = save(random_model(*CASES["madlad"]), tmp_path / "model")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "T5Tokenizer"}))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts(SOURCES + TARGETS)),
        model_prefix=str(folder / "spiece"),
        vocab_size=40,
        hard_vocab_limit=False,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        user_defined_symbols=["<2de>", "<2en>"],
        minloglevel=2,
    )
    line = texts(SOURCES)[-1]
    stated = fuselage.Translator(folder, target_language="de", beam_size=1).translate_details(
        [line]
    )
    written = fuselage.Translator(folder, beam_size=1).translate_details([f"<2de> {line}", line])
    assert stated[0].n_best[0].score == written[0].n_best[0].score
    assert stated[0].n_best[0].score != written[1].n_best[0].score
    with pytest.raises(fuselage.Error, match="no language 'fr'"):
        fuselage.Translator(folder, target_language="fr")
