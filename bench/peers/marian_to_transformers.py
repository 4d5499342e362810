"""Makes a MarianMTModel of the package transformers from a Marian .npz file, in memory: a post-norm
transformer with tied embeddings and sinusoidal positions. Needs numpy, pyyaml, torch and
transformers.

MarianMTModel differs from Marian in the frequencies of positions and the epsilon of norms; here
both have Marian's values. The id after the last word pads. Its embedding is zero, as is that of the first
input of Marian's decoder. It and the unknown word cannot be produced."""

import numpy as np
import torch
import yaml
from transformers import MarianConfig, MarianMTModel

END, UNKNOWN = 0, 1
EPSILON = 1e-6
POSITIONS = 1024

# Keys of Marian's configuration and the values that the conversion covers. Other choices show in
# the names of parameters.
COVERED = {
    "type": ["transformer"],
    "right-left": [False],
    "tied-embeddings-all": [True],
    "transformer-attention-mask": ["default"],
    "transformer-decoder-autoreg": ["self-attention"],
    "transformer-disable-position-embeddings": [False],
    "transformer-ffn-activation": ["relu", "swish"],
    "transformer-postprocess": ["dan"],
    "transformer-postprocess-emb": ["d", ""],
    "transformer-postprocess-top": [""],
    "transformer-preprocess": ["", "d"],
    "transformer-train-position-embeddings": [False],
}


def read_model(path):
    """The configuration and the parameters by name."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "special:model.yml" not in arrays:
        raise SystemExit(f"{path} has no configuration (special:model.yml)")
    text = arrays.pop("special:model.yml").tobytes().decode().rstrip("\0")
    config = yaml.safe_load(text)
    for key, values in COVERED.items():
        if config.get(key, values[0]) not in values:
            raise SystemExit(f"{path}: MarianMTModel does not cover {key}: {config[key]}")
    return config, arrays


def layer_names(side, layer):
    """For each module of a layer of MarianMTModel Marian's names of its weight and bias."""
    scope = f"{side}_l{layer + 1}"
    attentions = {"self_attn": f"{scope}_self"}
    if side == "decoder":
        attentions["encoder_attn"] = f"{scope}_context"
    names = {}
    for module, attention in attentions.items():
        for projection, part in {
            "q_proj": "q",
            "k_proj": "k",
            "v_proj": "v",
            "out_proj": "o",
        }.items():
            names[f"{module}.{projection}"] = (f"{attention}_W{part}", f"{attention}_b{part}")
        norm = f"{attention}_Wo_ln"
        names[f"{module}_layer_norm"] = (f"{norm}_scale", f"{norm}_bias")
    for part in "12":
        names[f"fc{part}"] = (f"{scope}_ffn_W{part}", f"{scope}_ffn_b{part}")
    names["final_layer_norm"] = (f"{scope}_ffn_ffn_ln_scale", f"{scope}_ffn_ffn_ln_bias")
    return {f"model.{side}.layers.{layer}.{module}": pair for module, pair in names.items()}


def parameter_names(config):
    """For each parameter of MarianMTModel's layers the name of Marian's."""
    names = {}
    for side, depth in (("encoder", config["enc-depth"]), ("decoder", config["dec-depth"])):
        for layer in range(depth):
            for module, (weight, bias) in layer_names(side, layer).items():
                names |= {f"{module}.weight": weight, f"{module}.bias": bias}
    return names


def positions(dim):
    """Sines, then cosines, in the order of Marian's operations in float32."""
    half = dim // 2
    increment = np.log(np.float32(10000)) / np.float32(half - 1)
    frequencies = np.exp(np.arange(half, dtype=np.float32) * -increment)
    angles = np.arange(POSITIONS, dtype=np.float32)[:, None] * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], 1)


def state_of(path, config, arrays):
    """Values of all parameters of MarianMTModel."""
    names = parameter_names(config)
    expected = {"Wemb", "decoder_ff_logit_out_b", *names.values()}
    for what, strays in (("lacks", expected - arrays.keys()), ("has", arrays.keys() - expected)):
        if strays:
            raise SystemExit(f"{path}: for MarianMTModel it should not, but {what} {min(strays)}")
    embeddings = np.pad(arrays["Wemb"], [(0, 1), (0, 0)])
    bias = np.pad(arrays["decoder_ff_logit_out_b"], [(0, 0), (0, 1)])
    bias[0, [UNKNOWN, -1]] = -np.inf
    shared = ["model.shared", "model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"]
    state = {f"{module}.weight": embeddings for module in shared}
    state["final_logits_bias"] = bias
    for side in ("encoder", "decoder"):
        state[f"model.{side}.embed_positions.weight"] = positions(embeddings.shape[1])
    for name, marian in names.items():
        values = arrays[marian]
        state[name] = values[0] if len(values) == 1 else values.T
    return {
        name: torch.from_numpy(np.array(values, np.float32, order="C"))
        for name, values in state.items()
    }


def model_of(path):
    """The model in float32 on the CPU. It has the ids of the vocabulary, and pad_token_id."""
    config, arrays = read_model(path)
    state = state_of(path, config, arrays)
    words, dim = arrays["Wemb"].shape
    heads = config["transformer-heads"]
    model = MarianMTModel(
        MarianConfig(
            vocab_size=words + 1,
            d_model=dim,
            encoder_layers=config["enc-depth"],
            decoder_layers=config["dec-depth"],
            encoder_attention_heads=heads,
            decoder_attention_heads=heads,
            encoder_ffn_dim=arrays["encoder_l1_ffn_b1"].size,
            decoder_ffn_dim=arrays["decoder_l1_ffn_b1"].size,
            activation_function=config["transformer-ffn-activation"],
            max_position_embeddings=POSITIONS,
            scale_embedding=True,
            pad_token_id=words,
            decoder_start_token_id=words,
            eos_token_id=END,
            forced_eos_token_id=None,
        )
    )
    model.load_state_dict(state)
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = EPSILON
    return model.eval()
