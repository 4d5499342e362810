"""The examples of the documentation and of docstrings."""

from __future__ import annotations

import doctest
import subprocess
import sys

import fuselage
import nbclient
import nbformat
from conftest import ROOT


def test_examples_of_the_page():
    path = ROOT / "docs" / "python.md"
    lines = path.read_text().splitlines()
    text = "\n".join("" if line.startswith("```") else line for line in lines)
    examples = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    assert len(examples.examples) > 15
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)
    assert results.failed == 0


def test_the_reference_is_that_of_the_docstrings():
    script = ROOT / "scripts" / "make_python_reference.py"
    made = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    # If it fails: scripts/make_python_reference.py > docs/python-api.md
    assert made.stdout == (ROOT / "docs" / "python-api.md").read_text()


def test_the_notebook_runs():
    notebook = nbformat.read(ROOT / "docs" / "tutorial.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert "Tom ist mein Freund." in str(outputs)
    assert any("text/html" in output.get("data", {}) for output in outputs)


def test_examples_of_the_package():
    assert doctest.testmod(fuselage).failed == 0
