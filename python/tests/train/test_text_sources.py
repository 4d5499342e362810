from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from alignment import Aligner, Text
from cleaning import good, good_pairs, key_of
from gather import main
from lexicon import Lexicon, stems
from readers import ONE_SIDED, read_lines, two_sided
from repository import Mirror, SourceError
from sentences import cut, sentences
from sources import read_sources
from spelling import modern
from table import table

FOLDER = Path(__file__).parents[3] / "models" / "training" / "text"
SOURCES = read_sources(FOLDER / "sources.yml").sources


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("The house is old.", "Das Haus ist alt."),
        ("Yes.", "Ja."),
        ("The bread costs 3.50 euros.", "Das Brot kostet 3,50 Euro."),
        ("He has two sons.", "Er hat 2 Söhne."),
    ],
)
def test_good_pairs_are_kept(english: str, german: str) -> None:
    assert good(english, german)


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("Frankfurt Airport!", "Frankfurt airport"),
        ("Click <b>here</b> now.", "Klicken Sie jetzt hier."),
        ("Hello {name}, how are you?", "Hallo, wie geht es dir?"),
        ("See www.example.org for more.", "Mehr steht dort."),
        ("The bread costs 3.50 euros.", "Das Brot kostet 3,60 Euro."),
        (
            "The house is old.",
            "Das Haus ist alt, und niemand hat darin seit vielen Jahren gewohnt.",
        ),
        ("The house is old and nobody has lived there for years.", "Alt."),
        ("Das ist nicht die Frage, sagte er.", "Das ist nicht seine Frage."),
        ("The house is old.", "The old house it is."),
        ("+49 30 1234-5678 (a)", "+49 30 1234-5678 (b)"),
        ("the " * 81, "der " * 81),
    ],
)
def test_bad_pairs_are_left_out(english: str, german: str) -> None:
    assert not good(english, german)


def test_pairs_are_cleaned_and_used_once() -> None:
    raw = [
        ("The  house\u200b is old .", "Das Haus&nbsp;ist alt."),
        ("The house is old!", "Das Haus ist alt!"),
        ("The dog is here.", "Der Hund ist hier."),
        ("The cat is here.", "Die Katze ist hier."),
    ]
    held_out = frozenset([key_of("the dog is here"), key_of("Die Katze ist hier?")])
    assert list(good_pairs(raw, held_out)) == [("The house is old.", "Das Haus ist alt.")]


def test_sentences_end_at_no_abbreviation() -> None:
    assert sentences("Mr. Smith came on 3. May. He left. “Why?” No one knew.") == [
        "Mr. Smith came on 3. May.",
        "He left.",
        "“Why?”",
        "No one knew.",
    ]


def test_paragraphs_are_cut_where_both_have_as_many_sentences() -> None:
    assert list(cut("One. Two.", "Eins. Zwei.")) == [("One.", "Eins."), ("Two.", "Zwei.")]
    assert list(cut("One. Two.", "Eins und zwei.")) == [("One. Two.", "Eins und zwei.")]


STORY = [
    ("The old king lived alone in a castle.", "Der alte König lebte allein in einem Schloss."),
    ("His daughter played often in the garden.", "Seine Tochter spielte oft im Garten."),
    ("One morning she found a golden ring.", "Eines Morgens fand sie einen goldenen Ring."),
    ("The ring belonged to a poor shepherd.", "Der Ring gehörte einem armen Hirten."),
    ("The king gave him a white horse.", "Der König gab ihm ein weißes Pferd."),
    ("They all celebrated until the next winter.", "Sie feierten alle bis zum nächsten Winter."),
]


@pytest.fixture
def lexicon(tmp_path: Path) -> Lexicon:
    folder = tmp_path / "lexicon"
    folder.mkdir()
    for side, language in enumerate(("en", "de")):
        lines = "".join(f"{pair[side]}\n" for pair in STORY for _ in range(4))
        (folder / f"train.{language}.gz").write_bytes(gzip.compress(lines.encode()))
    return Lexicon(folder)


def test_book_is_aligned(lexicon: Lexicon) -> None:
    english = [pair[0] for pair in STORY]
    english.insert(2, "Nothing else happened for a week.")  # not translated
    german = [pair[1] for pair in STORY]
    german[3:5] = [f"{german[3]} {german[4]}"]  # two sentences in one
    sides = [Text(side, list(map(stems, side))) for side in (english, german)]
    assert list(Aligner(*sides, lexicon.translations).pairs()) == [
        *STORY[:3],
        (f"{STORY[3][0]} {STORY[4][0]}", german[3]),
        STORY[5],
    ]


def test_old_spelling_is_made_modern(lexicon: Lexicon) -> None:
    assert modern("Ein Schloß und ein Thurm", lexicon.forms) == "Ein Schloss und ein Turm"


def git(directory: Path, *arguments: str) -> str:
    names = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    command = ["git", "-C", str(directory), *names, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A mirror with one repository, held-out lines, and a table of two sources."""
    repository = tmp_path / "mirror" / "owner+name"
    repository.mkdir(parents=True)
    git(repository, "init", "--quiet")
    files = {
        "1.en": "The house is old. It is big.\nThe dog is here.\n",
        "1.de": "Das Haus ist alt. Es ist groß.\nDer Hund ist hier.\n",
        "2.en": "The house is old.\n",
        "2.de": "Das Haus ist sehr alt.\n",
        "en.json": json.dumps({"a": {"b": "Save the file"}, "c": "Only in English"}),
        "de.json": json.dumps({"a": {"b": "Speichern Sie die Datei"}}),
        "uneven.de": "Eins\n",
    }
    for name, text in files.items():
        (repository / name).write_text(text, "utf-8")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=texts")
    held_out = tmp_path / "held-out"
    held_out.mkdir()
    (held_out / "dev.de").write_text("der Hund ist hier\n", "utf-8")
    facts = "licence: CC0, quote: LICENSE, pairs: 3, english-words: 11, quality: good"
    origin = f"repository: owner/name, commit: {git(repository, 'rev-parse', 'HEAD')}"
    table_of_sources = f"""
held-out: {{files: [dev.*], texts: []}}
sources:
  plain:
    {{{origin}, reader: lines, {facts},
     texts: [{{english: "{{n}}.en", german: "{{n}}.de", each: {{n: [1, 2]}}}}]}}
  strings:
    {{{origin}, reader: json, {facts},
     share-alike: true, texts: [{{english: en.json, german: de.json}}]}}
"""
    (tmp_path / "sources.yml").write_text(table_of_sources, "utf-8")
    return tmp_path


def gather(tree: Path, *names: str) -> int:
    folders = {"mirror": "mirror", "held-out": "held-out", "output": "output"}
    options = [f"--{option}={tree / folder}" for option, folder in folders.items()]
    return main([*options, f"--sources={tree / 'sources.yml'}", *names])


def test_texts_are_made_of_a_repository(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gather(tree) == 0
    assert gzip.decompress((tree / "output" / "plain.tsv.gz").read_bytes()).decode() == (
        "It is big.\tEs ist groß.\n"
        "The house is old.\tDas Haus ist alt.\n"
        "The house is old.\tDas Haus ist sehr alt.\n"
    )
    strings = (tree / "output" / "share-alike" / "strings.tsv.gz").read_bytes()
    assert gzip.decompress(strings).decode() == "Save the file\tSpeichern Sie die Datei\n"
    assert capsys.readouterr().out.splitlines() == [
        "plain: 3 pairs, 11 English words",
        "strings: 1 pairs, 3 English words (stated: 3, 11)",
    ]


def test_errors_say_where_and_how_to_mend(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def error(*names: str) -> str:
        assert gather(tree, *names) == 1
        return capsys.readouterr().err

    assert "other: no source of" in error("other")
    (tree / "held-out" / "dev.de").unlink()
    assert "no file dev.*" in error()
    (tree / "held-out" / "dev.de").touch()
    table_of_sources = tree / "sources.yml"
    correct = table_of_sources.read_text("utf-8")
    for old, new, expected in (
        ("reader: lines", "reader: verse", "plain: no reader verse; one of po, chat"),
        ("reader: lines", "reader: po", "plain: texts of the reader po need both"),
        ("owner/name", "owner/gone", "git clone --bare https://github.com/owner/gone"),
        ("en.json", "none.json", "does not exist"),
        ("licence: CC0, ", "", "missing 1 required positional argument: 'licence'"),
    ):
        table_of_sources.write_text(correct.replace(old, new), "utf-8")
        assert expected in error()


def test_sides_have_as_many_lines(tree: Path) -> None:
    commit = git(tree / "mirror" / "owner+name", "rev-parse", "HEAD")
    mirror = Mirror(tree / "mirror")
    sides = [(mirror.place(f"owner/name@{commit}:{path}"),) for path in ("1.en", "uneven.de")]
    with pytest.raises(SourceError, match="2 lines, but 1 in"):
        list(read_lines(*sides))


@pytest.mark.parametrize("name", SOURCES)
def test_source_has_a_reader_and_a_licence(name: str, tmp_path: Path) -> None:
    source = SOURCES[name]
    sides = 1 if source.reader in ONE_SIDED else 2
    assert source.reader in {*ONE_SIDED, *two_sided(Lexicon(tmp_path))}
    assert source.texts and all(len(text) == sides for text in source.texts)
    assert source.licence and source.quote and source.quality
    assert source.share_alike == any(word in source.licence for word in ("-SA", "Sharing"))
    assert source.research_only == source.licence.startswith("WMT")


def test_readme_has_the_table() -> None:
    assert table(SOURCES.values()) in (FOLDER / "README.md").read_text("utf-8"), (
        "Run gather.py --table and paste its output."
    )
