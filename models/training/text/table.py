"""The table of sources, for README.md."""

from __future__ import annotations

from collections.abc import Iterable

from sources import Source

_KINDS = ("free or attribution", "for research only", "share-alike")


def table(sources: Iterable[Source]) -> str:
    """Two tables in Markdown: sums by kind of licence, and a row for each source."""
    listed = list(sources)
    rows = ["| licence | texts | pairs | English words |", "|---|---:|---:|---:|"]
    for kind in _KINDS:
        of_kind = [source for source in listed if _kind(source) == kind]
        pairs = sum(source.pairs for source in of_kind)
        words = sum(source.english_words for source in of_kind)
        rows.append(f"| {kind} | {len(of_kind)} | {pairs:,} | {words:,} |")
    rows += ["", "| text | pairs | English words | licence | from | quality |"]
    rows += ["|---|---:|---:|---|---|---|"]
    for source in listed:
        path = str(source.path).removesuffix(".tsv.gz")
        rows.append(
            f"| `{path}` | {source.pairs:,} | {source.english_words:,} | {source.licence} "
            f"| {_origin(source)} | {source.quality} |"
        )
    return "\n".join(rows) + "\n"


def _kind(source: Source) -> str:
    return _KINDS[2 if source.share_alike else 1 if source.research_only else 0]


def _origin(source: Source) -> str:
    """Return the repositories of a source, or their owner where there are many."""
    names = list(dict.fromkeys(name.partition("@")[0] for name in source.repositories))
    if len(names) <= 2:
        return ", ".join(names)
    owners = dict.fromkeys(name.partition("/")[0] for name in names)
    return ", ".join(f"{owner} ({len(names)} repositories)" for owner in owners)
