"""Makes a checkpoint of Transformers with random weights in the shape of a published model, its text
of random words, and its forms for CTranslate2, ONNX Runtime and OpenVINO, as far as their packages
are installed. Needs torch and transformers; ctranslate2, optimum[onnxruntime] and
optimum-intel[openvino] for the forms."""

import argparse
import json
import pathlib
import random

import tokenizers
import torch
import transformers

SYMBOLS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}
# The class, its configuration, and the names of its symbols.
SHAPES = {
    "opus-mt": (
        "Marian",
        {
            **{"vocab_size": 58101, "d_model": 512, "encoder_layers": 6, "decoder_layers": 6},
            **{"encoder_attention_heads": 8, "decoder_attention_heads": 8},
            **{"encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "max_position_embeddings": 512},
            **{"scale_embedding": True, "activation_function": "swish"},
            **{"pad_token_id": 58100, "eos_token_id": 2, "decoder_start_token_id": 58100},
        },
        {"</s>": 2, "<unk>": 3, "<pad>": 58100},
    ),
    "nllb-600m": (
        "M2M100",
        {
            **{"vocab_size": 256206, "d_model": 1024, "encoder_layers": 12, "decoder_layers": 12},
            **{"encoder_attention_heads": 16, "decoder_attention_heads": 16},
            **{"encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096, "max_position_embeddings": 1024},
            **{"scale_embedding": True, "activation_function": "relu"},
            **SYMBOLS,
        },
        {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3},
    ),
    "t5-base": (
        "T5",
        {
            **{"vocab_size": 32128, "d_model": 768, "d_kv": 64, "d_ff": 3072, "num_layers": 12},
            **{"num_heads": 12, "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0},
        },
        {"<pad>": 0, "</s>": 1, "<unk>": 2},
    ),
    # MADLAD-400-3B with 2 of its 32 layers a side.
    "madlad-2-layers": (
        "T5",
        {
            **{"vocab_size": 256000, "d_model": 1024, "d_kv": 128, "d_ff": 8192, "num_layers": 2},
            **{"num_heads": 16, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
            **{"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 0},
        },
        {"<unk>": 0, "<pad>": 1, "</s>": 2},
    ),
}


def make_model(family, options):
    torch.manual_seed(3)
    kind = "MarianMTModel" if family == "Marian" else f"{family}ForConditionalGeneration"
    config = getattr(transformers, f"{family}Config")(**options, forced_eos_token_id=None)
    return getattr(transformers, kind)(config)


def write_tokenizer(folder, words, symbols):
    """Every word `wN` is one piece, with the number N."""
    pieces = [f"\u2581w{i}" for i in range(words)]
    for symbol, number in symbols.items():
        pieces[number] = symbol
    scored = [(piece, -1.0 - i % 7) for i, piece in enumerate(pieces)]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(scored, unk_id=symbols["<unk>"]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = tokenizers.decoders.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens(list(symbols))
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>"}
    settings |= {"eos_token": "</s>", "pad_token": "<pad>", "bos_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def write_text(folder, words, symbols):
    draw = random.Random(1)
    first = 1 + max(number for number in symbols.values() if number < words - 1)
    with (folder / "input.txt").open("w") as file:
        for _ in range(64):
            length = max(3, int(draw.gauss(22, 8)))
            print(*(f"w{draw.randrange(first, words - 1)}" for _ in range(length)), file=file)


def make_ctranslate2(folder):
    from ctranslate2.converters import TransformersConverter

    form = folder / "ctranslate2"
    TransformersConverter(str(folder)).convert(str(form), quantization="int8", force=True)


def make_onnx(folder):
    from optimum.onnxruntime import ORTModelForSeq2SeqLM, ORTQuantizer
    from optimum.onnxruntime.configuration import AutoQuantizationConfig

    floats, form = folder / "onnx-fp32", folder / "onnx"
    ORTModelForSeq2SeqLM.from_pretrained(folder, export=True).save_pretrained(floats)
    config = AutoQuantizationConfig.avx512_vnni(is_static=False, per_channel=False)
    for file in floats.glob("*.onnx"):
        ORTQuantizer.from_pretrained(floats, file_name=file.name).quantize(
            save_dir=form, quantization_config=config
        )


def make_openvino(folder):
    from optimum.intel import OVModelForSeq2SeqLM

    model = OVModelForSeq2SeqLM.from_pretrained(folder, export=True, load_in_8bit=True)
    model.save_pretrained(folder / "openvino")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    family, config, symbols = SHAPES[options.shape]
    options.folder.mkdir(parents=True)
    make_model(family, config).save_pretrained(options.folder)
    write_tokenizer(options.folder, config["vocab_size"], symbols)
    write_text(options.folder, config["vocab_size"], symbols)
    for make in (make_ctranslate2, make_onnx, make_openvino):
        try:
            make(options.folder)
        except Exception as error:  # a package that is missing, or does not know the model
            print(f"{make.__name__}: {error}")


if __name__ == "__main__":
    main()
