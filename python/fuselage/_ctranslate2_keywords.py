"""CTranslate2's keywords: their types, limits and defaults, and the options that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fuselage._arguments import plain
from fuselage._core import Error


class InvalidValueError(Error, ValueError):
    """A value that CTranslate2 refuses with ValueError."""


class InvalidTypeError(Error, TypeError):
    """A keyword or a value that CTranslate2 refuses with TypeError."""


# CTranslate2's names of number types.
PRECISIONS = {
    "default": None,
    "auto": None,
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "int16": "int16",
    "int8": "int8",
    "int8_float32": "int8",
    "int8_float16": "int8",
    "int8_bfloat16": "int8",
}

# CTranslate2's keywords of a translation that are supported, with its defaults.
DEFAULTS: dict[str, Any] = {
    "max_batch_size": 0,
    "batch_type": "examples",
    "beam_size": 2,
    "num_hypotheses": 1,
    "length_penalty": 1.0,
    "coverage_penalty": 0.0,
    "repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "disable_unk": False,
    "max_input_length": 1024,
    "max_decoding_length": 256,
    "min_decoding_length": 1,
    "return_scores": False,
    "return_attention": False,
    "return_end_token": False,
    "sampling_topk": 1,
    "sampling_topp": 1.0,
    "sampling_temperature": 1.0,
    "replace_unknowns": False,
}

# Keywords that have no counterpart, with the values that are accepted.
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "patience": (1,),
    "suppress_sequences": (None, []),
    "end_token": (None, "</s>", ["</s>"]),
    "prefix_bias_beta": (0,),
    "use_vmap": (False,),
    "return_logits_vocab": (False,),
    "return_alternatives": (False,),
    "min_alternative_expansion_prob": (0,),
    "callback": (None,),
}


def size(name: str, value: Any) -> int:
    """Give a whole number of 0 or more."""
    value = plain(value)
    if not isinstance(value, int) or value < 0:
        raise InvalidTypeError(f"{name} is a whole number of 0 or more, not {value!r}")
    return int(value)


def choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Give one of the names."""
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} is a text, not {value!r}")
    if value not in choices:
        raise InvalidValueError(f"{name} is one of {', '.join(choices)}, not {value!r}")
    return value


def _number(name: str, value: Any) -> float:
    value = plain(value)
    if not isinstance(value, (int, float)):
        raise InvalidTypeError(f"{name} is a number, not {value!r}")
    return float(value)


def _truth(name: str, value: Any) -> bool:
    value = plain(value)
    if not isinstance(value, (int, float)):
        raise InvalidTypeError(f"{name} is True or False, not {value!r}")
    return bool(value)


_TYPES = {bool: _truth, int: size, float: _number}


def given_keywords(
    keywords: Mapping[str, Any], supported: Iterable[str] = DEFAULTS
) -> dict[str, Any]:
    """Give the values of all keywords in their types. Raises for what CTranslate2 does not take."""
    given = dict(DEFAULTS)
    for name, value in keywords.items():
        if name in NEUTRAL:
            _expect_neutral(name, value, keywords, supported)
        elif name not in supported:
            known = ", ".join(sorted(supported))
            raise InvalidTypeError(f"the keyword {name} is not supported; supported are {known}")
        elif name != "batch_type":
            given[name] = _TYPES[type(DEFAULTS[name])](name, value)
        else:
            given[name] = choice(name, value, ("examples", "tokens"))
    _expect_limits(given)
    return given


def _expect_neutral(
    name: str, value: Any, keywords: Mapping[str, Any], supported: Iterable[str]
) -> None:
    value = plain(value)
    if any(value == neutral for neutral in NEUTRAL[name]):
        return
    if name == "patience" and _number(name, value) <= 0:
        raise InvalidValueError(f"patience is above 0, not {value}")
    if name == "prefix_bias_beta" and _number(name, value) >= 1:
        raise InvalidValueError(f"prefix_bias_beta is below 1, not {value}")
    if name == "callback" and keywords.get("beam_size", DEFAULTS["beam_size"]) != 1:
        raise InvalidValueError("a callback needs beam_size 1")
    if name == "min_alternative_expansion_prob" and not keywords.get("return_alternatives"):
        return
    known = ", ".join(sorted(supported))
    raise Error(f"the keyword {name} cannot be {value!r}; supported are {known}")


def _expect_limits(given: Mapping[str, Any]) -> None:
    hypotheses, beam = given["num_hypotheses"], given["beam_size"]
    most, least = given["max_decoding_length"], given["min_decoding_length"]
    for name in ("beam_size", "num_hypotheses"):
        if given[name] == 0:
            raise InvalidValueError(f"{name} is 1 or more, not 0")
    if least > most:
        raise InvalidValueError(f"min_decoding_length {least} is above max_decoding_length {most}")
    if most == 0:
        raise InvalidValueError("max_decoding_length is 1 or more, not 0")
    if not 0 < given["sampling_topp"] <= 1:
        raise InvalidValueError(
            f"sampling_topp is above 0 and at most 1, not {given['sampling_topp']}"
        )
    if given["repetition_penalty"] <= 0:
        raise InvalidValueError(f"repetition_penalty is above 0, not {given['repetition_penalty']}")
    if hypotheses > beam and given["sampling_topk"] == 1:
        raise InvalidValueError(f"num_hypotheses {hypotheses} is more than beam_size {beam}")


def batches(max_batch_size: int, batch_type: str) -> dict[str, Any]:
    """Give the options of batches."""
    choice("batch_type", batch_type, ("examples", "tokens"))
    if size("max_batch_size", max_batch_size) == 0:
        return {}
    name = "mini_batch" if batch_type == "examples" else "mini_batch_words"
    return {name: size("max_batch_size", max_batch_size)}


def max_length(max_input_length: int) -> dict[str, Any]:
    """Give the option of the longest line."""
    return {"max_length": size("max_input_length", max_input_length) or 65536}


def _sampling(given: Mapping[str, Any]) -> dict[str, Any]:
    topk, topp = given["sampling_topk"], given["sampling_topp"]
    temperature = given["sampling_temperature"]
    if topk == 1:
        return {}
    if given["beam_size"] != 1:
        raise Error(f"sampling needs beam_size 1, not {given['beam_size']}")
    if topp < 1:
        if topk > 0:
            raise Error(f"sampling_topk {topk} and sampling_topp {topp} exclude each other here")
        return {"output_sampling": ["nucleus", topp, temperature]}
    if topk == 0:
        return {"output_sampling": ["full", temperature]}
    return {"output_sampling": ["topk", topk, temperature]}


def search_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Turn CTranslate2's keywords into options of fuselage.Translator."""
    hypotheses, beam = given["num_hypotheses"], given["beam_size"]
    sampling = _sampling(given)
    options = {
        "beam_size": hypotheses if sampling else beam,
        "n_best": hypotheses,
        "normalize": given["length_penalty"],
        "word_penalty": 0,
        "coverage_penalty": given["coverage_penalty"],
        "repetition_penalty": given["repetition_penalty"],
        "no_repeat_ngram_size": given["no_repeat_ngram_size"],
        "max_words": given["max_decoding_length"],
        "min_length": 0 if sampling else given["min_decoding_length"],
        "alignment": given["return_attention"],
        "allow_unk": not given["disable_unk"],
    }
    if given["replace_unknowns"]:
        options["replace_unknowns"] = True
    options |= sampling | batches(given["max_batch_size"], given["batch_type"])
    return options | max_length(given["max_input_length"])
