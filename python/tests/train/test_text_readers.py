from __future__ import annotations

import json
from pathlib import Path

import pytest

from lexicon import Lexicon
from readers import ONE_SIDED, two_sided
from repository import Place, Repository

STORY = "# {}\n##\n{}\n##\n* License: [{}]\n"


class Files(Repository):
    """A commit with these files."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__(Path("memory"), "0" * 40)
        self.texts = texts
        self.files = list(texts)

    def read(self, path: str) -> bytes:
        return self.texts[path].encode()


def read(reader: str, texts: dict[str, str], *sides: str) -> list[tuple[str, str]]:
    files = Files(texts)
    readers = ONE_SIDED | two_sided(Lexicon(Path("none")))
    return list(readers[reader](*((Place(files, side),) for side in sides)))


def test_json_strings_are_joined_by_key() -> None:
    texts = {
        "en": json.dumps({"menu": {"save": "Save", "open": "Open"}, "list": ["no string"]}),
        "de": json.dumps({"menu": {"open": "Öffnen", "save": "Speichern"}}),
    }
    assert read("json", texts, "en", "de") == [("Open", "Öffnen"), ("Save", "Speichern")]


def test_woz_turns_are_joined_by_number() -> None:
    def dialogues(*turns: tuple[int, str]) -> str:
        dialogue = [{"turn_idx": number, "transcript": said} for number, said in turns]
        return json.dumps([{"dialogue_idx": 7, "dialogue": dialogue}])

    texts = {"en": dialogues((0, "Hello"), (1, "Bye")), "de": dialogues((1, "Tschüss"))}
    assert read("woz", texts, "en", "de") == [("Bye", "Tschüss")]


def test_questions_follow_their_context() -> None:
    def articles(context: str, question: str) -> str:
        paragraph = {"context": context, "qas": [{"question": question}]}
        return json.dumps({"data": [{"paragraphs": [paragraph]}]})

    texts = {"en": articles("It rains.", "Why?"), "de": articles("Es regnet.", "Warum?")}
    assert read("questions", texts, "en", "de") == [("It rains.", "Es regnet."), ("Why?", "Warum?")]


def test_fluent_messages_are_joined_by_name() -> None:
    texts = {
        "en/a.ftl": "# note\nlong = Two\n    lines\nshort = One\n",
        "de/a.ftl": "short = Eine\nlong =\n    Zwei Zeilen\n",
        "en/b.ftl": "short = Not translated\n",
    }
    assert read("fluent", texts, "en/", "de/") == [("Two lines", "Zwei Zeilen"), ("One", "Eine")]


@pytest.mark.parametrize(("licence", "kept"), [("CC-BY", True), ("CC-BY-NC", False)])
def test_stories_under_a_free_licence_are_read(licence: str, kept: bool) -> None:
    texts = {
        "en/0001_sun.md": STORY.format("The sun", "It shines.", "CC-BY"),
        "de/0001_sonne.md": STORY.format("Die Sonne", "Sie scheint.", licence),
        "de/0002_mond.md": STORY.format("Der Mond", "Er scheint.", "CC-BY"),
    }
    pairs = [("The sun", "Die Sonne"), ("It shines.", "Sie scheint.")]
    assert read("stories", texts, "en/", "de/") == (pairs if kept else [])


def test_po_entries_are_read_unless_fuzzy_or_empty() -> None:
    text = (
        'msgid ""\nmsgstr "Language: de"\n\n'
        'msgid "Say \\"yes\\"\\n"\n"now"\nmsgstr "Jetzt \\"ja\\" sagen"\n\n'
        '#, fuzzy\nmsgid "Guess"\nmsgstr "Vielleicht"\n\n'
        'msgid "Later"\nmsgstr ""\n'
    )
    assert read("po", {"po": text}, "po") == [('Say "yes" now', 'Jetzt "ja" sagen')]


def test_chat_has_the_agent_in_english() -> None:
    said = [
        {"speaker": "agent", "source": "Hello", "target": "Hallo"},
        {"speaker": "customer", "source": "Guten Tag", "target": "Good day"},
    ]
    expected = [("Hello", "Hallo"), ("Good day", "Guten Tag")]
    assert read("chat", {"chat": json.dumps({"1": said})}, "chat") == expected


def test_comments_of_treebanks_are_read() -> None:
    conll = "# text-en: Play it\n# text: Spiel es\n1\tSpiel\n\n# text: Allein\n\n"
    assert read("comments", {"conll": conll}, "conll") == [("Play it", "Spiel es")]
    conllu = "# text = Spiel es\n# text_en = Play it\n1\tSpiel\n\n# text = Allein\n\n"
    assert read("treebank", {"conllu": conllu}, "conllu") == [("Play it", "Spiel es")]
