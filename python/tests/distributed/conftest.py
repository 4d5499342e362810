from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import threading
import time
from collections.abc import Iterator

import fuselage
import pytest

SUBJECTS = ["Tom", "Mary", "My friend", "The teacher", "His father"]
VERBS = ["is", "was", "lives", "works", "sleeps"]
PLACES = ["here", "at home", "in the house", "in Boston", "at school"]


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """20,000 short lines, each with its number."""
    return [
        f"{SUBJECTS[i % 5]} {VERBS[i // 5 % 5]} {PLACES[i // 25 % 5]}, {i}." for i in range(20_000)
    ]


@pytest.fixture(scope="session")
def options() -> dict[str, object]:
    """Fast settings."""
    return {"beam_size": 1, "normalize": 0}


@pytest.fixture(scope="session")
def expected(lines, options) -> dict[str, str]:
    """The translation of each line."""
    return dict(zip(lines, fuselage.Translator(**options).translate(lines), strict=True))


def workers() -> Iterator[int]:
    """Other processes that have loaded the library of this package."""
    folder = str(pathlib.Path(fuselage.__file__).parent)
    for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            pid = int(maps.parent.name)
            if pid != os.getpid() and folder in maps.read_text():
                yield pid


def processor_seconds(pid: int) -> float:
    """The processor time of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class WorkerKiller(threading.Thread):
    """Kills the first worker that has translated for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.killed = 0

    def run(self) -> None:
        first: dict[int, float] = {}
        end = time.monotonic() + 90
        while self.killed == 0 and time.monotonic() < end:
            time.sleep(0.1)
            for pid in workers():
                with contextlib.suppress(OSError):
                    seconds = processor_seconds(pid)
                    if seconds - first.setdefault(pid, seconds) > 1.5:
                        os.kill(pid, signal.SIGKILL)
                        self.killed = pid
                        return


@pytest.fixture
def killer() -> Iterator[WorkerKiller]:
    """Kills a worker meanwhile."""
    thread = WorkerKiller()
    thread.start()
    yield thread
    thread.join()
