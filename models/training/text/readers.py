"""Pairs in the forms that sources have, one function a form.

A side of a text is a list of places, such as the parts of a set, which are read one after the
other. Most forms have a file for each language; the forms in `ONE_SIDED` have both in one.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from books import read_book
from cleaning import Pair
from lexicon import Lexicon
from pages import read_pages
from repository import Place, SourceError
from sentences import cut
from tokens import joined

Side = tuple[Place, ...]
ReadOne = Callable[[Side], Iterator[Pair]]
ReadTwo = Callable[[Side, Side], Iterator[Pair]]


def read_lines(english: Side, german: Side) -> Iterator[Pair]:
    """Plain text; a line is the translation of the same line of the other side."""
    left, right = ([line for place in side for line in place.lines()] for side in (english, german))
    if len(left) != len(right):
        raise SourceError(
            f"{english[0]}: {len(left)} lines, but {len(right)} in {german[0]}\n"
            "Choose commits at which both are translations line by line."
        )
    for pair in zip(left, right, strict=True):
        yield from cut(*pair)


def read_tokens(english: Side, german: Side) -> Iterator[Pair]:
    """Lines of tokens with spaces between them, put together again, if no quotation is open."""
    left, right = ([line for place in side for line in place.lines()] for side in (english, german))
    for pair in zip(left, right, strict=True):
        if not any(line.count('"') % 2 for line in pair):
            yield joined(pair[0], "en"), joined(pair[1], "de")


def read_android(english: Side, german: Side) -> Iterator[Pair]:
    """Folders of Android's resources (.xml): strings of the same name."""
    for folders in zip(english, german, strict=True):
        left, right = (
            {
                name: re.sub(r"\\n|<!\[CDATA\[|\]\]>", " ", text).replace("\\", "").strip(' "')
                for page in folder.files(".xml").values()
                for name, text in _RESOURCE.findall(page.text())
            }
            for folder in folders
        )
        yield from _by_key(left, right)


def read_json(english: Side, german: Side) -> Iterator[Pair]:
    """Strings of an interface in nested JSON objects, under the same keys."""
    left, right = (
        {key: text for part in _json(side) for key, text in _strings(part)}
        for side in (english, german)
    )
    yield from _by_key(left, right)


def read_woz(english: Side, german: Side) -> Iterator[Pair]:
    """WOZ 2.0 dialogues (Wen et al. 2017): the turns of the user, by dialogue and number."""
    left, right = (
        {
            (dialogue["dialogue_idx"], turn["turn_idx"]): turn["transcript"]
            for part in _json(side)
            for dialogue in part
            for turn in dialogue["dialogue"]
        }
        for side in (english, german)
    )
    for key in sorted(left.keys() & right.keys()):
        yield left[key], right[key]


def read_questions(english: Side, german: Side) -> Iterator[Pair]:
    """SQuAD files: contexts and questions, in the same order on both sides."""
    left, right = (
        [
            text
            for part in _json(side)
            for article in part["data"]
            for paragraph in article["paragraphs"]
            for text in (paragraph["context"], *(asked["question"] for asked in paragraph["qas"]))
        ]
        for side in (english, german)
    )
    if len(left) != len(right):
        raise SourceError(f"{english[0]}: {len(left)} texts, but {len(right)} in {german[0]}")
    for pair in zip(left, right, strict=True):
        yield from cut(*pair)


def read_fluent(english: Side, german: Side) -> Iterator[Pair]:
    """Folders of Fluent files (.ftl): messages of the same name in the same file."""
    for folders in zip(english, german, strict=True):
        left, right = (folder.files(".ftl") for folder in folders)
        for path in left:
            if path in right:
                yield from _by_key(_messages(left[path]), _messages(right[path]))


def read_stories(english: Side, german: Side) -> Iterator[Pair]:
    """Folders of picture books, NUMBER_title.md with a `##` before each page; under CC BY only."""
    for folders in zip(english, german, strict=True):
        left, right = (_by_number(folder) for folder in folders)
        for number in right:
            if number in left:
                yield from _pages(left[number].text(), right[number].text())


def read_po(both: Side) -> Iterator[Pair]:
    """Gettext catalogues whose identifiers are the English text, without fuzzy entries."""
    for place in both:
        for entry in place.text().split("\n\n"):
            found = _PO_ENTRY.search(entry)
            if found and not re.search(r"^#,.*fuzzy", entry, re.MULTILINE):
                english, german = map(_po_text, found.groups())
                if english and german:
                    yield from cut(english, german)


def read_lang(both: Side) -> Iterator[Pair]:
    """Folders of Mozilla's .lang files: a line `;English`, and the translation in the next one."""
    for folder in both:
        for page in folder.files(".lang").values():
            for english, german in re.findall(r"^;(.+)\n([^;#\n].*)", page.text(), re.MULTILINE):
                yield from cut(english, re.sub(r"\s*\{ok\}\s*$", "", german))


def read_chat(both: Side) -> Iterator[Pair]:
    """Chats of a customer who writes German with an agent who writes English, in JSON."""
    for part in _json(both):
        for utterances in part.values():
            for said in utterances:
                pair = said["source"], said["target"]
                yield pair if said["speaker"] == "agent" else pair[::-1]


def read_comments(both: Side) -> Iterator[Pair]:
    """CoNLL files with the comments `# text-en: ` and `# text: `."""
    for place in both:
        english = ""
        for line in place.lines():
            if line.startswith("# text-en:"):
                english = line.split(":", 1)[1].strip()
            elif line.startswith("# text:") and english:
                yield english, line.split(":", 1)[1].strip()
                english = ""


def read_treebank(both: Side) -> Iterator[Pair]:
    """CoNLL-U files with the comments `# text = ` and `# text_en = `."""
    for place in both:
        english = german = ""
        for line in place.lines():
            if line.startswith("# text = "):
                german = line.removeprefix("# text = ")
            elif line.startswith("# text_en = "):
                english = line.removeprefix("# text_en = ")
            elif not line and english and german:
                yield english, german
                english = german = ""


ONE_SIDED: dict[str, ReadOne] = {
    "po": read_po,
    "chat": read_chat,
    "lang": read_lang,
    "comments": read_comments,
    "treebank": read_treebank,
}


def two_sided(lexicon: Lexicon) -> dict[str, ReadTwo]:
    """Return readers of texts with a file for each language; books are aligned by the lexicon."""
    return {
        "lines": read_lines,
        "tokens": read_tokens,
        "android": read_android,
        "json": read_json,
        "woz": read_woz,
        "questions": read_questions,
        "fluent": read_fluent,
        "stories": read_stories,
        "book": functools.partial(read_book, lexicon=lexicon),
        "pages": functools.partial(read_pages, lexicon=lexicon),
    }


def _json(side: Side) -> list[Any]:
    """Return the values of JSON files."""
    values = []
    for place in side:
        try:
            values.append(json.loads(place.text()))
        except json.JSONDecodeError as error:
            raise SourceError(f"{place}: not JSON: {error}") from error
    return values


def _strings(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the strings of nested JSON objects, by their path."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(item, f"{key}|{name}")


def _by_key(english: dict[str, str], german: dict[str, str]) -> Iterator[Pair]:
    """Texts of the same name, cut into sentences."""
    for key in sorted(english.keys() & german.keys()):
        yield from cut(english[key], german[key])


_RESOURCE = re.compile(r'<string name="([^"]+)"[^>]*>(.*?)</string>', re.DOTALL)
_MESSAGE = re.compile(r"^(-?[a-zA-Z][\w-]*) =[ ]*(.*(?:\n(?: .*|(?=\n)))*)", re.MULTILINE)


def _messages(place: Place) -> dict[str, str]:
    """Return the messages of a Fluent file, each on one line."""
    return {name: " ".join(text.split()) for name, text in _MESSAGE.findall(place.text())}


_PO_STRING = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
_PO_ENTRY = re.compile(rf"^msgid {_PO_STRING}msgstr {_PO_STRING}", re.MULTILINE)


def _po_text(literals: str) -> str:
    """Return the text of string literals, with spaces for line feeds."""
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))
    return text.replace(r"\n", " ").replace(r"\"", '"')


_FREE_LICENSE = re.compile(r"License: *\[?CC[- ]BY\]?\s*$", re.MULTILINE)


def _by_number(folder: Place) -> dict[str, Place]:
    """Return the stories of a folder by the four digits that their names start with."""
    names = {PurePosixPath(path).name[:4]: place for path, place in folder.files(".md").items()}
    return {number: place for number, place in names.items() if number.isdigit()}


def _pages(english: str, german: str) -> Iterator[Pair]:
    """Yield the pages of a story, if both sides are free and have as many."""
    if not (_FREE_LICENSE.search(english) and _FREE_LICENSE.search(german)):
        return
    pages = [re.split(r"^##\s*$", text, flags=re.MULTILINE) for text in (english, german)]
    if len(pages[0]) != len(pages[1]):
        return
    for page in zip(*pages, strict=True):
        left, right = (" ".join(side.lstrip("# ").split()) for side in page)
        if not left.startswith("* License"):
            yield from cut(left, right)
