"""Progress for people, CSV for programs, and a plot."""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

_COLUMNS = ["update", "epoch", "words", "seconds", "train_loss", "valid_loss", "bleu", "rate"]


class Log:
    """Lines of progress on standard error and rows of `log.csv`."""

    def __init__(self, folder: Path, updates: int, done: int) -> None:
        self.path = folder / "log.csv"
        self.updates = updates
        self.first = done
        self.started = time.monotonic()
        self._drop_later_rows(done)

    def row(self, **values: float) -> None:
        """Add a row; columns that are not given stay empty."""
        is_new = not self.path.exists()
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _COLUMNS)
            if is_new:
                writer.writeheader()
            writer.writerow({key: f"{value:.6g}" for key, value in values.items()})

    def progress(self, update: int, loss: float, words_per_second: float) -> None:
        """Show one line with the share that is done and the time that is left."""
        elapsed = time.monotonic() - self.started
        left = elapsed / max(update - self.first, 1) * (self.updates - update)
        self.say(
            f"{100 * update / self.updates:5.1f} %  update {update}  loss {loss:.4f} a word  "
            f"{words_per_second:,.0f} words/s  {_duration(left)} left"
        )

    @staticmethod
    def say(line: str) -> None:
        """Write a line to standard error."""
        print(line, file=sys.stderr, flush=True)

    def plot(self, path: Path) -> None:
        """Draw the losses over updates; without matplotlib nothing is drawn."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            return
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        axes = (figure := Figure(figsize=(8, 5))).subplots()
        for column in ("train_loss", "valid_loss"):
            points = [(int(row["update"]), float(row[column])) for row in rows if row[column]]
            if points:
                axes.plot(*zip(*points, strict=True), label=column.replace("_", " "))
        axes.set_xlabel("update")
        axes.set_ylabel("cross entropy a word")
        axes.legend()
        figure.savefig(path)

    def _drop_later_rows(self, done: int) -> None:
        """Rows behind the checkpoint are computed again."""
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if int(row["update"]) <= done]
        with self.path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, _COLUMNS)
            writer.writeheader()
            writer.writerows(rows)


def _duration(seconds: float) -> str:
    minutes = int(seconds) // 60
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
