"""The table of sources, sources.yml."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from repository import SourceError

Names = tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """One file of pairs: where it comes from, and what is known of it.

    texts: the sides of each text, one that has both languages, or English and German; a side is
        its files or folders, OWNER/NAME@COMMIT:PATH.
    """

    name: str
    reader: str
    texts: tuple[tuple[Names, ...], ...]
    licence: str
    quote: str
    pairs: int
    english_words: int
    quality: str
    share_alike: bool = False
    research_only: bool = False

    @property
    def path(self) -> Path:
        """The file of the source below the output folder."""
        folder = Path("share-alike") if self.share_alike else Path()
        return folder / f"{self.name}.tsv.gz"

    @property
    def repositories(self) -> list[str]:
        """OWNER/NAME@COMMIT of all files, each once."""
        places = itertools.chain(*itertools.chain(*self.texts))
        return list(dict.fromkeys(place.partition(":")[0] for place in places))


@dataclass(frozen=True)
class HeldOut:
    """Texts whose lines are in no pair: patterns below a folder, and files of repositories."""

    files: Names
    places: Names


@dataclass(frozen=True)
class Sources:
    """All of sources.yml."""

    held_out: HeldOut
    sources: dict[str, Source]


def read_sources(path: Path) -> Sources:
    """Read and check sources.yml."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from error
    try:
        held_out = content["held-out"]
        places = [name for text in _texts(held_out) for side in text for name in side]
        sources = {name: _source(name, entry) for name, entry in content["sources"].items()}
        return Sources(HeldOut(tuple(held_out["files"]), tuple(places)), sources)
    except KeyError as error:
        raise SourceError(f"{path}: no key {error} where one is needed") from error
    except TypeError as error:
        raise SourceError(f"{path}: {error}; the keys are explained at its top") from error


def _source(name: str, entry: dict[str, Any]) -> Source:
    """Return a source from its entry, whose keys are those of the class."""
    texts = _texts(entry)
    rest = {key: value for key, value in entry.items() if key not in ("repository", "commit")}
    values = {key.replace("-", "_"): value for key, value in rest.items()}
    return Source(**{**values, "name": name, "texts": texts})


def _texts(entry: dict[str, Any]) -> tuple[tuple[Names, ...], ...]:
    """Return the texts of an entry, one for each combination of the values under `each`."""
    found = []
    for text in entry["texts"]:
        each = text.get("each", {})
        sides = [text["both"]] if "both" in text else [text["english"], text["german"]]
        for values in itertools.product(*each.values()):
            named = dict(zip(each, values, strict=True))
            found.append(tuple(_places(entry, side, named) for side in sides))
    return tuple(found)


def _places(entry: dict[str, Any], side: str | list[str], named: dict[str, Any]) -> Names:
    """Return a side's files as OWNER/NAME@COMMIT:PATH, by default in the entry's repository."""
    paths = [path.format(**named) for path in ([side] if isinstance(side, str) else side)]
    return tuple(
        path if "@" in path else f"{entry['repository']}@{entry['commit']}:{path}" for path in paths
    )
