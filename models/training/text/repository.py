"""Files of mirrored git repositories, each at one commit."""

from __future__ import annotations

import functools
import gzip
import io
import re
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

_PLACE = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40}):(?P<path>.*)")


class SourceError(Exception):
    """An error of the user: which thing is wrong, where, and how to mend it."""


class Repository:
    """The files of one commit."""

    def __init__(self, directory: Path, commit: str) -> None:
        self.directory = directory
        self.commit = commit

    @functools.cached_property
    def files(self) -> list[str]:
        """Every path of the commit, in git's order."""
        listing = self._git("ls-tree", "-r", "-z", "--name-only", self.commit)
        return [path.decode("utf-8", "replace") for path in listing.split(b"\0") if path]

    def read(self, path: str) -> bytes:
        """Return the bytes of a file."""
        return self._git("show", f"{self.commit}:{path}")

    def _git(self, *arguments: str) -> bytes:
        command = ["git", f"--git-dir={self.directory}", *arguments]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            why = done.stderr.decode("utf-8", "replace").strip()
            raise SourceError(
                f"{self.directory}: git {' '.join(arguments)} failed: {why}\n"
                f"Fetch the commit: git --git-dir={self.directory} fetch origin {self.commit}"
            )
        return done.stdout


@dataclass(frozen=True)
class Place:
    """A file or a folder of a repository; the path of a folder ends with a slash."""

    repository: Repository
    path: str

    def __str__(self) -> str:
        return f"{self.repository.directory} {self.repository.commit[:8]}:{self.path}"

    def text(self) -> str:
        """Return the text of the file, UTF-8 or else Windows-1252; a name in .gz is unpacked.

        ARCHIVE.tar.gz:NAME is a file of an archive.
        """
        path, _, member = self.path.partition(".tar.gz:")
        data = self.repository.read(f"{path}.tar.gz" if member else path)
        if member:
            data = _member(data, member)
        elif path.endswith(".gz"):
            data = gzip.decompress(data)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("cp1252", "replace")

    def lines(self) -> list[str]:
        """Return the lines of the file; only a line feed ends one."""
        return self.text().replace("\r\n", "\n").rstrip("\n").split("\n")

    def files(self, ending: str) -> dict[str, Place]:
        """Return the files of the folder that have this ending, by their paths within it."""
        found = {
            path.removeprefix(self.path): Place(self.repository, path)
            for path in self.repository.files
            if path.startswith(self.path) and path.endswith(ending)
        }
        if not found:
            raise SourceError(f"{self}: no file *{ending} there; correct the path in sources.yml")
        return found


def _member(archive: bytes, name: str) -> bytes:
    """Return a file of an archive."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        found = files.extractfile(name) if name in files.getnames() else None
        if found is None:
            raise SourceError(f"{name}: no file of its archive; correct the path in sources.yml")
        return found.read()


class Mirror:
    """A folder with a git directory for each repository."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise SourceError(f"{folder}: not a directory; --mirror names that of the repositories")
        self.folder = folder
        self._repositories: dict[tuple[str, str], Repository] = {}

    def place(self, name: str) -> Place:
        """Return the place of OWNER/NAME@COMMIT:PATH."""
        found = _PLACE.fullmatch(name)
        if not found:
            raise SourceError(f"{name}: not of the form OWNER/NAME@COMMIT:PATH (40 hex digits)")
        key = found["name"], found["commit"]
        if key not in self._repositories:
            self._repositories[key] = Repository(self._directory(key[0]), key[1])
        return Place(self._repositories[key], found["path"])

    def _directory(self, name: str) -> Path:
        """Return the git directory of OWNER/NAME, bare or in a work tree."""
        home = self.folder / name.replace("/", "+")
        for directory in (home / "repo" / ".git", home / "repo", home / ".git", home):
            if (directory / "HEAD").is_file():
                return directory
        raise SourceError(
            f"{home}: no git directory there or in its folder repo\n"
            f"Clone it: git clone --bare https://github.com/{name} {home}"
        )
