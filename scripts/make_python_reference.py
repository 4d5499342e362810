#!/usr/bin/env python3
"""Prints docs/python-api.md: the Python package's classes and functions from their docstrings.

Reads the package that is installed for this Python: make_python_reference.py > docs/python-api.md
"""

import ast
import importlib.util
import pathlib
import re
import textwrap

PARTS = [
    ("fuselage", ["translator.py", "scorer.py", "commands.py"]),
    ("fuselage: results", ["_core.pyi"]),
    ("fuselage.graph", ["graph.py"]),
    ("fuselage.graph: building", ["_core.pyi"]),
    ("fuselage.ctranslate2", ["ctranslate2.py"]),
    ("fuselage.ray", ["ray.py"]),
    ("fuselage.spark", ["spark.py"]),
]

# Of the stub: classes of results, then what fuselage.graph has of it.
RESULTS = ("Hypothesis", "Translation", "Score")
HIDDEN = (*RESULTS, "TranslationJob", "Translator", "Scorer", "Scope", "Runner", "Graph")
ERRORS = ("Error", "InternalError")

Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def signature(node, owner=""):
    arguments = ast.unparse(node.args)
    for first in ("self, /, ", "self, ", "self"):
        arguments = arguments.removeprefix(first) if owner else arguments
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{kind}{owner}{node.name}({arguments}){result}"


def is_(node, decorator):
    return any(ast.unparse(each).endswith(decorator) for each in node.decorator_list)


def listed(paragraph):
    """A paragraph, or a list if each line is "name: explanation", with further lines indented."""
    lines = paragraph.splitlines()
    if not all(re.match(r"\s|[\w, ]+: ", line) for line in lines):
        return paragraph
    return "\n".join(re.sub(r"^([\w, ]+):", r"- `\1`:", line) for line in lines)


def document(node):
    text = ast.get_docstring(node)
    return "\n\n".join(map(listed, text.split("\n\n"))) + "\n" if text else ""


def print_signature(text):
    print("```text\n" + textwrap.fill(text, 100, subsequent_indent="    ") + "\n```\n")


def print_function(node, owner=""):
    if is_(node, "property"):
        result = f": {ast.unparse(node.returns)}" if node.returns else ""
        heading = f"{owner}{node.name}{result}"
    else:
        heading = signature(node, owner)
    print_signature(heading)
    print(document(node))


def print_class(node):
    print(f"### {node.name}\n")
    print(document(node))
    for item in node.body:
        if not isinstance(item, Function) or is_(item, "overload"):
            continue
        if item.name == "__init__" and len(item.args.args + item.args.kwonlyargs) > 1:
            arguments = signature(item, node.name + ".").rsplit(" -> ", 1)[0]
            print_signature(arguments.replace(".__init__", ""))
        elif not item.name.startswith("_") and ast.get_docstring(item):
            print_function(item, f"{node.name}.")


def wanted(title, node):
    if not isinstance(node, (*Function, ast.ClassDef)) or node.name.startswith("_"):
        return False
    if title.endswith(": results"):
        return node.name in RESULTS
    if title.endswith(": building"):
        is_builder = node.name == "find_bundled_model"
        return node.name not in HIDDEN + ERRORS and not is_builder
    return node.name not in ("main", "run_command")


def main():
    spec = importlib.util.find_spec("fuselage")
    folder = pathlib.Path(spec.origin).parent
    print("# Python reference\n")
    print("Generated from the docstrings by `scripts/make_python_reference.py`;")
    print("[python.md](python.md) explains the package with examples.\n")
    for title, files in PARTS:
        print(f"## {title}\n")
        for file in files:
            tree = ast.parse((folder / file).read_text(encoding="utf-8"))
            for node in tree.body:
                if not wanted(title, node):
                    continue
                if isinstance(node, ast.ClassDef):
                    print_class(node)
                elif ast.get_docstring(node):
                    print_function(node)


if __name__ == "__main__":
    main()
