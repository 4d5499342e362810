"""Make English-German training texts from git repositories.

Each source of sources.yml is read at its commit from a git directory of the mirror,
DIR/OWNER+NAME, cleaned, and written to a file of the output, a pair a line between tabs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from cleaning import Pair, good_pairs
from held_out import held_out_keys
from lexicon import Lexicon
from pair_file import write_pairs
from readers import ONE_SIDED, two_sided
from repository import Mirror, SourceError
from sources import Source, read_sources
from table import table


def raw_pairs(source: Source, mirror: Mirror, lexicon: Lexicon) -> Iterator[Pair]:
    """Yield the pairs of a source as its reader gives them."""
    paired = two_sided(lexicon)
    known = [*ONE_SIDED, *paired]
    if source.reader not in known:
        raise SourceError(f"{source.name}: no reader {source.reader}; one of {', '.join(known)}")
    for text in source.texts:
        sides = [tuple(map(mirror.place, side)) for side in text]
        if source.reader in ONE_SIDED and len(sides) == 1:
            yield from ONE_SIDED[source.reader](sides[0])
        elif source.reader in paired and len(sides) == 2:
            yield from paired[source.reader](sides[0], sides[1])
        else:
            keys = "both" if source.reader in ONE_SIDED else "english and german"
            raise SourceError(f"{source.name}: texts of the reader {source.reader} need {keys}")


def gather(given: argparse.Namespace) -> None:
    """Make the named sources, or all, and say how many pairs each has."""
    table_of_sources = read_sources(given.sources)
    known = table_of_sources.sources
    unknown = [name for name in given.names if name not in known]
    if unknown:
        raise SourceError(f"{unknown[0]}: no source of {given.sources}; it has {', '.join(known)}")
    mirror = Mirror(given.mirror)
    held_out = held_out_keys(table_of_sources.held_out, given.held_out, mirror)
    lexicon = Lexicon(given.lexicon or given.held_out / "tatoeba-en-de")
    for source in (known[name] for name in given.names or known):
        pairs = sorted(good_pairs(raw_pairs(source, mirror, lexicon), held_out))
        write_pairs(pairs, given.output / source.path)
        words = sum(len(english.split()) for english, _ in pairs)
        stated = (source.pairs, source.english_words)
        note = "" if (len(pairs), words) == stated else f" (stated: {stated[0]}, {stated[1]})"
        print(f"{source.name}: {len(pairs)} pairs, {words} English words{note}", flush=True)


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(
        prog="gather.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = made.add_argument
    add("names", nargs="*", metavar="NAME", help="sources to make (all)")
    add("--mirror", type=Path, metavar="DIR", help="git directories, OWNER+NAME or OWNER+NAME/repo")
    add("--held-out", type=Path, metavar="DIR", help="test sets, whose lines are left out")
    add("--output", type=Path, metavar="DIR", help="folder for NAME.tsv.gz")
    add(
        "--lexicon",
        type=Path,
        metavar="DIR",
        help="train.en.gz and train.de.gz, by whose words books are aligned "
        "(tatoeba-en-de in the folder of --held-out)",
    )
    default = Path(__file__).parent / "sources.yml"
    add("--sources", type=Path, metavar="FILE", default=default, help="the table (sources.yml)")
    add("--table", action="store_true", help="print the table of README.md")
    add("--repositories", action="store_true", help="print all repositories and their commits")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 after an error of the user."""
    command = parser()
    given = command.parse_args(arguments)
    try:
        if given.table:
            print(table(read_sources(given.sources).sources.values()), end="")
        elif given.repositories:
            print_repositories(given.sources)
        elif not (given.mirror and given.held_out and given.output):
            command.error("--mirror, --held-out and --output are needed")
        else:
            gather(given)
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def print_repositories(path: Path) -> None:
    """Print OWNER/NAME COMMIT of each repository that some source or the held-out texts need."""
    content = read_sources(path)
    names = [place.partition(":")[0] for place in content.held_out.places]
    names += [name for source in content.sources.values() for name in source.repositories]
    for name in dict.fromkeys(names):
        print(name.replace("@", " "))


if __name__ == "__main__":
    sys.exit(main())
