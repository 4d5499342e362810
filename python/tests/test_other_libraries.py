"""Other libraries of the field in the same process, with their copies of common libraries."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations

import pytest

USES = {
    "fuselage": 'import fuselage\nt = fuselage.Translator()\nassert t.translate("Hello, Tom.")',
    "sentencepiece": "import sentencepiece\n"
    "import pathlib, importlib.util as u\n"
    "folder = pathlib.Path(u.find_spec('fuselage').origin).parent\n"
    "spm = str(folder / 'share/fuselage/models/en-de/vocab.spm')\n"
    "p = sentencepiece.SentencePieceProcessor(model_file=spm)\n"
    "assert p.decode(p.encode('Hello, Tom.')) == 'Hello, Tom.'",
    "ctranslate2": "import ctranslate2\nassert ctranslate2.get_supported_compute_types('cpu')",
    "torch": "import torch\nassert float((torch.eye(3) @ torch.ones(3)).sum()) == 3",
}


@pytest.mark.parametrize(
    "libraries",
    [
        *permutations(["fuselage", "sentencepiece", "ctranslate2"]),
        *permutations(["fuselage", "torch"]),
    ],
    ids="-".join,
)
def test_libraries_in_any_order(libraries):
    for library in libraries:
        pytest.importorskip(library)
    program = "\n".join(USES[library] for library in libraries)
    subprocess.run([sys.executable, "-c", program + "\n" + program], check=True)
