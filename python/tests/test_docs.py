"""The examples of the documentation and of docstrings."""

from __future__ import annotations

import doctest

import fuselage
from conftest import ROOT


def test_examples_of_the_page():
    path = ROOT / "docs" / "python.md"
    lines = path.read_text().splitlines()
    text = "\n".join("" if line.startswith("```") else line for line in lines)
    examples = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    assert len(examples.examples) > 15
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)
    assert results.failed == 0


def test_examples_of_the_package():
    assert doctest.testmod(fuselage).failed == 0
