"""Settings of the search of Transformers that a checkpoint states, beside generate()."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fuselage
import pytest
import torch
from test_transformers import (
    CASES,
    NEW_WORDS,
    SOURCES,
    TOLERANCE,
    first_words,
    random_model,
    save,
    texts,
)

BAD_WORDS = {"bad_words_ids": [[1], [30], [31], [77]], "suppress_tokens": [40, 41]}
RENORMALIZED = {**BAD_WORDS, "renormalize_logits": True}
SETTINGS: dict[str, dict[str, Any]] = {
    "bad words": BAD_WORDS,
    "renormalized": RENORMALIZED,
    "renormalized n-grams": {**RENORMALIZED, "no_repeat_ngram_size": 2},
    "renormalized least length": {**RENORMALIZED, "min_length": 9},
    "renormalized ends": {**RENORMALIZED, "forced_eos_token_id": 2},
    "penalty": {"repetition_penalty": 1.5},
    "renormalized penalty": {**RENORMALIZED, "repetition_penalty": 1.5},
    "reward": {"repetition_penalty": 0.8},
    "sequences": {"bad_words_ids": "found"},
    "renormalized sequences": {"bad_words_ids": "found", "renormalize_logits": True},
}


def sequences_found(model: Any) -> list[list[int]]:
    """Words in a row that translations have, and first words with those of the decoder."""
    end, before = model.config.eos_token_id, first_words(model)
    sequences = [[30]]
    for source in SOURCES:
        output = model.generate(
            torch.tensor([[*source, end]]), max_new_tokens=NEW_WORDS, num_beams=1, do_sample=False
        )
        words = output[0].tolist()
        at = len(before)
        sequences += [words[at - 1 : at + 1], words[at + 3 : at + 5], words[at + 6 : at + 9]]
    return [sequence for sequence in sequences if sequence]


def log_probabilities(output: Any, words: list[int]) -> list[float]:
    """Of the last words; generate() gives logits where it does not normalize them."""
    steps = output.scores[len(output.scores) - len(words) :]
    return [float(step[0].log_softmax(-1)[word]) for step, word in zip(steps, words, strict=True)]


def expect_greedy_search(model: Any, translator: Any, has_scores: bool) -> None:
    end = model.config.eos_token_id
    found = translator.translate_details(texts(SOURCES))
    for source, translation in zip(SOURCES, found, strict=True):
        output = model.generate(
            torch.tensor([[*source, end]]),
            max_new_tokens=NEW_WORDS,
            num_beams=1,
            do_sample=False,
            return_dict_in_generate=True,
            output_scores=True,
        )
        words = output.sequences[0].tolist()[len(first_words(model)) :]
        best = translation.n_best[0]
        assert list(best.words) == words
        if has_scores:
            assert best.word_scores == pytest.approx(
                log_probabilities(output, words), abs=TOLERANCE
            )


def expect_beam_search(model: Any, translator: Any) -> None:
    """Ours are at least as good: Transformers passes hypotheses over that end late."""
    end = model.config.eos_token_id
    found = translator.translate_details(texts(SOURCES))
    same = 0
    for source, translation in zip(SOURCES, found, strict=True):
        output = model.generate(
            torch.tensor([[*source, end]]),
            max_new_tokens=NEW_WORDS,
            num_beams=4,
            do_sample=False,
            return_dict_in_generate=True,
            output_scores=True,
        )
        words = output.sequences[0].tolist()[len(first_words(model)) :]
        best, score = translation.n_best[0], float(output.sequences_scores[0])
        assert best.score >= score - TOLERANCE
        if list(best.words) == words:
            same += 1
            assert best.score == pytest.approx(score, abs=TOLERANCE)
    assert same > len(SOURCES) // 2


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", ["marian", "bart", "t5"])
def test_settings(name: str, settings: str, tmp_path: Path) -> None:
    model = random_model(*CASES[name])
    stated = dict(SETTINGS[settings])
    if "forced_eos_token_id" in stated:
        stated["forced_eos_token_id"] = model.config.eos_token_id
    if stated.get("bad_words_ids") == "found":
        stated["bad_words_ids"] = sequences_found(model)
    for key, value in stated.items():
        setattr(model.generation_config, key, value)
    folder = save(model, tmp_path / "model")
    greedy, beam = (
        fuselage.Translator(folder, threads=1, beam_size=size, max_words=NEW_WORDS)
        for size in (1, 4)
    )
    has_scores = "renormalize_logits" in stated or list(stated) == ["repetition_penalty"]
    expect_greedy_search(model, greedy, has_scores)
    expect_beam_search(model, beam)
