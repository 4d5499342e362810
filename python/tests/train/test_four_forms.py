"""One model in four forms: Transformers', CTranslate2's, Marian's and a model directory.

Their sinusoidal positions have three different frequencies; Marian's form has those of Transformers
as trained positions, and CTranslate2's converter stores them.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import fuselage
import numpy as np
import pytest
import torch
import yaml

transformers = pytest.importorskip("transformers")
converters = pytest.importorskip("ctranslate2.converters")

MODEL = Path(__file__).parents[3] / "tests" / "data" / "huggingface" / "marian"
ATTENTIONS = {"self_attn": "self", "encoder_attn": "context"}
PROJECTIONS = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "out_proj": "o"}


def layer_parts(side: str) -> dict[str, str]:
    """The modules of a layer of MarianMTModel, by the names of their weight in Marian."""
    parts = {"fc1": "ffn_W1", "fc2": "ffn_W2", "final_layer_norm": "ffn_ffn_ln_scale"}
    for attention, name in ATTENTIONS.items():
        if side == "decoder" or attention == "self_attn":
            for projection, letter in PROJECTIONS.items():
                parts[f"{attention}.{projection}"] = f"{name}_W{letter}"
            parts[f"{attention}_layer_norm"] = f"{name}_Wo_ln_scale"
    return parts


def bias_of(weight: str) -> str:
    return weight.replace("_scale", "_bias") if "scale" in weight else weight.replace("_W", "_b")


def transformers_form(folder: Path) -> Path:
    """The model, but for the embedding that a translation begins with: zeros, as in Marian."""
    folder.mkdir()
    for path in MODEL.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    model = transformers.MarianMTModel.from_pretrained(MODEL)
    with torch.no_grad():
        model.model.shared.weight[model.config.decoder_start_token_id] = 0
    model.save_pretrained(folder)
    return folder


def marian_form(folder: Path, checkpoint: Path) -> list[Path]:
    """The model as a Marian .npz file, and its vocabulary."""
    model = transformers.MarianMTModel.from_pretrained(checkpoint)
    config, state = model.config, {k: v.numpy() for k, v in model.state_dict().items()}
    table = state["model.shared.weight"]
    scaled = table * np.float32(math.sqrt(config.d_model))
    arrays = {
        "encoder_Wemb": scaled,
        "decoder_Wemb": scaled,
        "decoder_ff_logit_out_W": table.T,
        "decoder_ff_logit_out_b": state["final_logits_bias"].copy(),
        "Wpos": state["model.encoder.embed_positions.weight"],
    }
    arrays["decoder_ff_logit_out_b"][0, config.pad_token_id] = -1e9
    for side, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for layer in range(layers):
            for module, weight in layer_parts(side).items():
                name = f"model.{side}.layers.{layer}.{module}"
                values = state[f"{name}.weight"]
                arrays[f"{side}_l{layer + 1}_{weight}"] = (
                    values.T if values.ndim == 2 else values[None]
                )
                arrays[f"{side}_l{layer + 1}_{bias_of(weight)}"] = state[f"{name}.bias"][None]
    options = {
        "type": "transformer",
        "dim-vocabs": [len(table), len(table)],
        "dim-emb": config.d_model,
        "enc-depth": config.encoder_layers,
        "dec-depth": config.decoder_layers,
        "transformer-heads": config.encoder_attention_heads,
        "transformer-dim-ffn": config.encoder_ffn_dim,
        "transformer-ffn-activation": config.activation_function,
        "transformer-postprocess": "dan",
        "transformer-train-position-embeddings": True,
        "tied-embeddings": False,
        "version": "v1.12",
    }
    text = yaml.safe_dump(options).encode() + b"\0"
    arrays["special:model.yml"] = np.frombuffer(text, np.int8)
    np.savez(folder / "model.npz", **arrays)
    (folder / "vocab.yml").write_text((MODEL / "vocab.json").read_text(encoding="utf-8"))
    return [folder / "model.npz", folder / "vocab.yml"]


def text_of(pieces: str) -> str:
    return "".join(pieces.split()).replace("\u2581", " ").strip()


def translations(model: Path, lines: list[str], **options: Any) -> list[str]:
    translator = fuselage.Translator(model, beam_size=1, normalize=0, max_words=60, **options)
    return list(translator.translate(lines))


def words_of(checkpoint: Path, lines: list[str]) -> list[str]:
    """The greedy translations of Transformers."""
    model = transformers.MarianMTModel.from_pretrained(checkpoint)
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    found = []
    for line in lines:
        ids = tokenizer(line, return_tensors="pt")
        made = model.generate(**ids, num_beams=1, do_sample=False, max_new_tokens=60)
        found.append(tokenizer.decode(made[0], skip_special_tokens=True))
    return found


def test_all_forms_give_the_same_words(tmp_path: Path) -> None:
    lines = (MODEL / "input.txt").read_text(encoding="utf-8").splitlines()
    checkpoint = transformers_form(tmp_path / "checkpoint")
    expected = words_of(checkpoint, lines)
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    pieces = [" ".join(tokenizer.tokenize(line)) for line in lines]
    marian, vocabulary = marian_form(tmp_path, checkpoint)
    fuselage.convert(checkpoint, tmp_path / "directory")
    converters.TransformersConverter(str(checkpoint)).convert(str(tmp_path / "ctranslate2"))
    assert translations(checkpoint, lines) == expected
    assert translations(tmp_path / "directory", lines) == expected
    found = translations(marian, pieces, vocabs=[vocabulary] * 2)
    assert [text_of(each) for each in found] == expected
    # Its converter leaves the end symbol of the source to the tokenizer.
    found = translations(tmp_path / "ctranslate2", [f"{line} </s>" for line in pieces])
    assert [text_of(each) for each in found] == expected
