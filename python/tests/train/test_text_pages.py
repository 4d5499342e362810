from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from alignment import Aligner, Text
from lexicon import Lexicon, stems
from pages import paragraphs, read_pages
from readers import ONE_SIDED, two_sided
from repository import Place, Repository, SourceError
from tokens import joined

WORDS = [("The dog sleeps in the garden", "Der Hund schläft im Garten")] * 4
WORDS += [("A cat eats fish today", "Eine Katze isst heute Fisch")] * 4


class Files(Repository):
    """A commit with these files."""

    def __init__(self, texts: dict[str, bytes]) -> None:
        super().__init__(Path("memory"), "0" * 40)
        self.texts = texts
        self.files = list(texts)

    def read(self, path: str) -> bytes:
        return self.texts[path]


@pytest.fixture
def lexicon(tmp_path: Path) -> Lexicon:
    for language, side in (("en", 0), ("de", 1)):
        text = "".join(f"{pair[side]}\n" for pair in WORDS)
        (tmp_path / f"train.{language}.gz").write_bytes(gzip.compress(text.encode()))
    return Lexicon(tmp_path)


def pairs(lexicon: Lexicon, texts: dict[str, str], *folders: str) -> list[tuple[str, str]]:
    files = Files({path: text.encode() for path, text in texts.items()})
    english, german = ((Place(files, folder),) for folder in folders)
    return list(read_pages(english, german, lexicon))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "---\ntitle: A\n---\n# Head\nOne\nline.\n\n* item\n* more",
            ["Head One line.", "item", "more"],
        ),
        ("See [the *page*](http://a.b) and ![image](c.png).", ["See the page and ."]),
        ("<p>A <a\nhref='x'>link</a>.</p><ul><li>B &amp; C", ["A link.", "B & C"]),
        ("Before\n```\ncode\n```\nafter `name`", ["Before", "after name"]),
        ("<q>Yes</q>, **he** said_so", ["“Yes”, he said_so"]),
        ("A <release-name> remains.", ["A <release-name> remains."]),
    ],
)
def test_paragraphs_have_no_markup(text: str, found: list[str]) -> None:
    assert paragraphs(text, "en") == found


def test_directives_are_no_text_and_no_end_of_a_paragraph() -> None:
    assert paragraphs("one\n# note\ntwo\\\n three <q>x</q>", "de", True) == ["one two three „x“"]


def test_pages_of_two_folders_belong_together_by_path(lexicon: Lexicon) -> None:
    texts = {
        "en/a/x.md": "The dog sleeps.\n\nA cat eats fish.",
        "de/a/x.md": "Der Hund schläft.\n\nEine Katze isst Fisch.",
        "en/b/x.md": "Only here.",
        "de/a/x.png": "no page",
    }
    assert pairs(lexicon, texts, "en/", "de/") == [
        ("The dog sleeps.", "Der Hund schläft."),
        ("A cat eats fish.", "Eine Katze isst Fisch."),
    ]


def test_within_one_folder_the_german_page_is_marked(lexicon: Lexicon) -> None:
    texts = {
        "news/1/index.md": "The dog sleeps.",
        "news/1/index_de.md": "Der Hund schläft.",
        "news/2/index.md": "A cat eats fish.",
    }
    assert pairs(lexicon, texts, "news/", "news/") == [("The dog sleeps.", "Der Hund schläft.")]


def test_two_single_pages_are_aligned(lexicon: Lexicon) -> None:
    texts = {"README.md": "The dog sleeps.", "i18n/LIESMICH.md": "Der Hund schläft."}
    assert len(pairs(lexicon, texts, "README.md", "i18n/LIESMICH.md")) == 1


@pytest.mark.parametrize(("numbers", "count"), [([0, 0], 1), (None, 1), ([0, 1], 0)])
def test_sentences_of_two_paragraphs_are_not_joined(
    lexicon: Lexicon, numbers: list[int] | None, count: int
) -> None:
    left, right = ["The dog sleeps", "in the garden"], ["Der Hund schläft im Garten"]
    english = Text(left, list(map(stems, left)), numbers)
    german = Text(right, list(map(stems, right)))
    found = list(Aligner(english, german, lexicon.translations, same_start=True).pairs())
    assert sum(pair == (" ".join(left), right[0]) for pair in found) == count


@pytest.mark.parametrize(
    ("tokens", "language", "text"),
    [
        ("However , he ( the king ) didn 't sleep .", "en", "However, he (the king) didn't sleep."),
        ('He said " no " .', "en", "He said “no”."),
        ('Er sagte : " Nein . "', "de", "Er sagte: „Nein.“"),
        ("the boys ' club in 1959 .", "en", "the boys' club in 1959."),
        ("Pi is 3.14 ... or so", "en", "Pi is 3.14... or so"),
    ],
)
def test_tokens_are_put_together(tokens: str, language: str, text: str) -> None:
    assert joined(tokens, language) == text


def test_lines_of_tokens_with_an_open_quotation_are_left_out() -> None:
    texts = {"en": b'A " b .\nC , d .\n', "de": b'A " b " .\nC , d .\n'}
    sides = ((Place(Files(texts), side),) for side in texts)
    assert list(two_sided(Lexicon(Path("none")))["tokens"](*sides)) == [("C, d.", "C, d.")]


def test_android_strings_are_joined_by_name() -> None:
    texts = {
        "values/a.xml": b'<string name="x">"It\\\'s late"</string><string name="y">No</string>',
        "values-de/b.xml": '<string name="x" translatable="true">Es ist spät</string>'.encode(),
    }
    sides = ((Place(Files(texts), side),) for side in ("values/", "values-de/"))
    assert list(two_sided(Lexicon(Path("none")))["android"](*sides)) == [
        ("It's late", "Es ist spät")
    ]


def test_lang_files_have_the_translation_below() -> None:
    texts = {"de/a.lang": b"## tag ##\n;Search\nSuche\n\n;Mail\nMail {ok}\n\n;Open\n;Shut\nZu\n"}
    found = list(ONE_SIDED["lang"]((Place(Files(texts), "de/"),)))
    assert found == [("Search", "Suche"), ("Mail", "Mail"), ("Shut", "Zu")]


def test_a_place_can_be_a_file_of_an_archive() -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        entry = tarfile.TarInfo("set/a.de")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"Ja\n"))
        archive.addfile(tarfile.TarInfo("set/none"))
        folder = tarfile.TarInfo("set")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
    files = Files({"x.tar.gz": data.getvalue()})
    assert Place(files, "x.tar.gz:set/a.de").lines() == ["Ja"]
    for name in ("set", "other"):
        with pytest.raises(SourceError, match="no file of its archive"):
            Place(files, f"x.tar.gz:{name}").text()
