"""Translates text with Fuselage and with Marian's browser fork, alternately on one processor:
students, lists and text of make_students.py, greedily or with a beam. The time of a run on the first
line, loading above all, is subtracted. Prints for each case the words per second, the ratio of the
pairs' times per word (median, minimum and maximum; the fork bounds translations by the longest
sentence of a batch, so that it may translate to more words), and what Fuselage needs in operations
of products with weights per second. Random weights rarely end a sentence."""

import argparse
import itertools
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from make_students import SHAPES, VOCABULARY


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path, help="of make_students.py")
    parser.add_argument("--fuselage", type=pathlib.Path, default="build/fuselage")
    parser.add_argument("--fork", type=pathlib.Path, required=True, help="its build directory")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--lists", nargs="+", default=["none", "real", "random"])
    parser.add_argument("--mini-batches", nargs="+", type=int, default=[1, 16, 64])
    parser.add_argument("--beam-sizes", nargs="+", type=int, default=[1])
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--processor", type=int, default=1, help="the one that both run on")
    return parser.parse_args()


class Case:
    """A model, a list, a mini-batch and a beam."""

    def __init__(self, options, shape, words, mini_batch, beam_size):
        self.name = f"{shape}, list {words}, mini-batch {mini_batch}, beam {beam_size}"
        self.shape = SHAPES[shape]
        self.has_list = words != "none"
        model = options.directory / shape
        arguments = ["-m", model / "model.bin", "-v", *[model / "vocab.yml"] * 2, "--quiet"]
        arguments += ["--mini-batch", mini_batch, "--maxi-batch", 100, "--maxi-batch-sort", "src"]
        arguments += ["--beam-size", beam_size, "--max-length-factor", 1, "--cpu-threads", 1]
        arguments += ["--skip-cost"] if beam_size == 1 else ["--normalize", 0.6]
        if self.has_list:
            arguments += ["--shortlist", options.directory / f"{words}.s2t", 50, 50]
        self.commands = {
            "fuselage": [options.fuselage, "translate", *arguments],
            "fork": [options.fork / "marian-decoder", *arguments, "--int8shiftAlphaAll"]
            + ["--quiet-translation", "--workspace", 128],
        }

    def run(self, engine, source):
        """Seconds, and words of the translations."""
        command = [str(part) for part in [*self.commands[engine], "-i", source]]
        start = time.perf_counter()
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return time.perf_counter() - start, len(output.split())

    def operations(self, source_words, words):
        """Multiplications and additions of products with weights; none of a list's words."""
        dim, ffn = self.shape
        source = source_words * (6 * (4 * dim * dim + 2 * dim * ffn) + 2 * 2 * dim * dim)
        target = words * 2 * (4 * dim * dim + 2 * dim * ffn)
        return 2 * (source + target + (0 if self.has_list else words * dim * VOCABULARY))


def compare(case, text, first_line, pairs):
    times, words = [], {}
    for _ in range(pairs):
        pair = []
        for engine in case.commands:
            start, _ = case.run(engine, first_line)
            seconds, words[engine] = case.run(engine, text)
            pair.append(seconds - start)
        times.append(pair)
    ratios = sorted(b / a * words["fuselage"] / words["fork"] for a, b in times)
    ours, theirs = (statistics.median(column) for column in zip(*times))
    work = case.operations(len(text.read_text().split()), words["fuselage"])
    print(
        f"{case.name}: {words['fuselage'] / ours:.0f} words/s, fork {words['fork'] / theirs:.0f}, "
        f"ratio {statistics.median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}], "
        f"{work / ours / 1e9:.0f} GOP/s",
        flush=True,
    )


def main():
    options = parse_arguments()
    os.sched_setaffinity(0, {options.processor})
    lines = (options.directory / "text.pieces").read_text().splitlines()[: options.lines]
    cases = itertools.product(
        options.shapes, options.lists, options.mini_batches, options.beam_sizes
    )
    with tempfile.TemporaryDirectory() as directory:
        text, first_line = (pathlib.Path(directory) / name for name in ("text", "first"))
        text.write_text("\n".join(lines) + "\n")
        first_line.write_text(lines[0] + "\n")
        for case in cases:
            compare(Case(options, *case), text, first_line, options.pairs)


if __name__ == "__main__":
    main()
