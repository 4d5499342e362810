"""Pages of web sites in two languages: paragraphs without markup, sentences, their alignment.

Markup is HTML, Markdown, or the HTML with directives of Website META Language (.wml).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from alignment import Aligner, Text
from cleaning import Pair
from lexicon import Lexicon, stems
from repository import Place
from sentences import sentences
from tokens import QUOTES

_ENDINGS = (".md", ".html", ".xhtml", ".wml", ".mdx")
_MARK = re.compile(r"[._-](de|en)(?=\.\w+$)")
_BLOCKS = (
    "p|br|hr|li|ul|ol|dl|dt|dd|div|h[1-6]|table|tr|td|th|blockquote|pre|title|section|article|"
    "summary|details|figcaption|caption|define-tag|header|footer|main|body|head|html|center|toc-\\w+"
)
_HIDDEN = re.compile(
    r"\A---\n.*?\n---\s*\n|\A\+\+\+\n.*?\n\+\+\+\s*\n"  # what precedes a page: its title, date
    r"|<!--.*?-->|^```.*?^```|^~~~.*?^~~~|<(script|style|pre)\b.*?</\1>",
    re.DOTALL | re.MULTILINE,
)
_BREAK = re.compile(rf"</?(?:{_BLOCKS})\b[^>]*>", re.IGNORECASE)
_INLINE = (
    "a|abbr|acronym|b|big|cite|code|del|dfn|em|font|i|img|ins|kbd|mark|nobr|q|s|samp|small|span|"
    "strong|sub|sup|tt|u|var"
)
_TAG = re.compile(rf"</?(?:{_INLINE})\b[^<>]*>", re.IGNORECASE)  # others mark a pair as bad
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])")
_LINK_TARGET = re.compile(r"^ *\[[^\]]+\]: .*$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*_])(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*_])", re.DOTALL)
_LINE_START = re.compile(r"^\s*(?:#+ +|[-*+] +|\d+[.)] +|>+ ?)", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:#+ |[-*+] |\d+[.)] |> ))|\|")


def paragraphs(text: str, language: str, directives: bool = False) -> list[str]:
    """Return the paragraphs of a page without markup; directives: lines with # are no text."""
    text = _HIDDEN.sub("\n\n", text.replace("\r\n", "\n"))
    if directives:
        text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", "\n")
    opening, closing = QUOTES[language]
    text = re.sub(r"<q>", opening, re.sub(r"</q>", closing, text, flags=re.IGNORECASE))
    text = _TAG.sub("", _BREAK.sub("\n\n", text))
    text = _LINK.sub(lambda link: "" if link[0].startswith("!") else link[1], text)
    text = _LINK_TARGET.sub("", text)
    found = []
    for paragraph in _PARAGRAPH.split(text):
        plain = _EMPHASIS.sub(r"\2", _LINE_START.sub("", paragraph.strip("\n"))).replace("`", "")
        plain = " ".join(html.unescape(plain).split())
        if plain:
            found.append(plain)
    return found


def read_pages(
    english: tuple[Place, ...], german: tuple[Place, ...], lexicon: Lexicon
) -> Iterator[Pair]:
    """Yield aligned sentences of the pages of folders, or of single pages.

    The pages of two folders belong together by their paths. Within one folder the German page has
    `de` before its ending, as in index_de.md, and the English one `en` or nothing.
    """
    for sides in zip(english, german, strict=True):
        if not sides[0].path.endswith("/"):
            yield from _aligned(*sides, lexicon)
        else:
            left, right = _pages(sides[0], "en"), _pages(sides[1], "de")
            for key in left:
                if key in right and left[key].path != right[key].path:
                    yield from _aligned(left[key], right[key], lexicon)


def _pages(folder: Place, language: str) -> dict[str, Place]:
    """Return the pages of a language by their paths without a mark; marked ones come first."""
    found: dict[str, Place] = {}
    for path, page in folder.files("").items():
        if not path.endswith(_ENDINGS):
            continue
        mark = _MARK.search(path)
        key = _MARK.sub("", path)
        if mark and mark[1] == language:
            found[key] = page
        elif not mark:
            found.setdefault(key, page)
    return found


def _aligned(english: Place, german: Place, lexicon: Lexicon) -> Iterator[Pair]:
    """Yield the aligned sentences of two pages."""
    sides = []
    for page, language in ((english, "en"), (german, "de")):
        directives = PurePosixPath(page.path).suffix == ".wml"
        numbers, texts = [], []
        for number, paragraph in enumerate(paragraphs(page.text(), language, directives)):
            for sentence in sentences(paragraph):
                numbers.append(number)
                texts.append(sentence)
        sides.append(Text(texts, list(map(stems, texts)), numbers))
    if all(side.sentences for side in sides):
        yield from Aligner(*sides, lexicon.translations, same_start=True).pairs()
