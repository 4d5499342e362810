"""docs/examples/g2p.py and its page: a published model beside its equations in numpy."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import fuselage
import numpy as np
import pytest
from conftest import PROGRAM, ROOT
from fuselage.graph import Graph

PACKAGE = importlib.util.find_spec("g2p_en")
EXAMPLES = ROOT / "docs" / "examples"

pytestmark = pytest.mark.skipif(
    PACKAGE is None, reason="there is no model: pip install --no-deps g2p-en==2.1.0"
)

Arrays = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def stored() -> Arrays:
    return dict(np.load(Path(PACKAGE.origin).with_name("checkpoint20.npz")))


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("g2p", EXAMPLES / "g2p.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def words() -> list[str]:
    """Words of the documentation, and letters in ways that no word has them."""
    text = "".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))
    found = sorted(set(re.findall("[a-z]+", text.lower())))
    return [*found[::3], "o'clock", "naïve", "a", "x" * 40, "zzyzx" * 5]


# --- The equations, without Fuselage ---


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def cell(stored: Arrays, side: str, x: np.ndarray, h: np.ndarray) -> np.ndarray:
    names = ("w_ih", "w_hh", "b_ih", "b_hh")
    w_x, w_h, b_x, b_h = (stored[f"{side}_{name}"].astype(np.float64) for name in names)
    r_x, z_x, n_x = np.split(w_x @ x + b_x, 3)
    r_h, z_h, n_h = np.split(w_h @ h + b_h, 3)
    z = sigmoid(z_x + z_h)
    return z * h + (1 - z) * np.tanh(n_x + sigmoid(r_x + r_h) * n_h)


def encode(stored: Arrays, ids: list[int]) -> np.ndarray:
    h = np.zeros(256)
    for each in ids:
        h = cell(stored, "enc", stored["enc_emb"][each], h)
    return h


def step(stored: Arrays, last: int, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    h = cell(stored, "dec", stored["dec_emb"][last], h)
    return stored["fc_w"] @ h + stored["fc_b"], h


def letter_ids(word: str) -> list[int]:
    """<pad>, <unk> and </s> have the ids 0 to 2, a to z those from 3 on."""
    return [ord(c) - ord("a") + 3 if "a" <= c <= "z" else 1 for c in word] + [2]


def phoneme_ids(stored: Arrays, word: str) -> list[int]:
    """From <s>, 2, to </s>, 3, or to 20 phonemes."""
    h, found = encode(stored, letter_ids(word)), [2]
    while len(found) <= 20:
        logits, h = step(stored, found[-1], h)
        best = int(logits.argmax())
        if best == 3:
            break
        found.append(best)
    return found[1:]


# --- The engine ---


def test_words_have_the_phonemes_of_numpy(stored, example, words, tmp_path):
    expected = [
        " ".join(example.PHONEMES[each] for each in phoneme_ids(stored, word)) for word in words
    ]
    assert len(words) > 500 and 10 < max(len(text.split()) for text in expected) <= 20
    example.save(tmp_path)
    options = {"beam_size": 1, "max_words": 20, "allow_unk": True}
    translator = fuselage.Translator(tmp_path / "model", **options)
    assert example.pronounce(translator, words) == expected


def test_logits_are_those_of_numpy(stored, example):
    weights = example.read_weights()
    graph = example.g2p(256)
    assert graph.parameters == {name: array.shape for name, array in weights.items()}
    ids = [letter_ids(word) for word in ("fuselage", "a", "newstest", "x" * 30)]
    given = [[-1, 30, 3], [-1], [-1, 5, 70, 70, 8], [-1, 3]]
    expected = []
    for letters, phonemes in zip(ids, given, strict=True):
        h, rows = encode(stored, letters), []
        for last in phonemes:
            logits, h = step(stored, 2 if last < 0 else last, h)
            rows.append(logits)
        expected.append(np.array(rows))
    inputs = {"letter.symbol": ids, "hyp.phoneme": given}
    for options in ({}, {"passes": "none"}, {"device": "reference"}):
        for got, wanted in zip(
            graph.run(inputs, weights, **options)["logits"], expected, strict=True
        ):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    assert str(Graph.parse(str(graph))) == str(graph)


# --- The page ---


def test_the_page_is_the_example_and_runs(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "bring-a-model.md").read_text()
    file = (EXAMPLES / "g2p.py").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    code = [block for block in blocks if not block.startswith(">>>")]
    assert len(code) > 2 and len(blocks) > len(code)
    for block in code:
        assert block in file
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    (text,) = ("\n".join("" if line.startswith("```") else line for line in page.splitlines()),)
    examples = doctest.DocTestParser().get_doctest(text, {}, "bring-a-model.md", "", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert len(examples.examples) > 5 and runner.run(examples).failed == 0
    # What the commands print stands below them.
    bins = f"{Path(sys.executable).parent}:{PROGRAM.parent}:{os.environ['PATH']}"
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        command, _, expected = block.removeprefix("$ ").partition("\n")
        if command.startswith("pip "):
            continue
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command.replace("docs/examples", str(EXAMPLES))],
            env={**os.environ, "PATH": bins},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == expected
