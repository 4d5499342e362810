"""Translates random words by Fuselage and by CTranslate2, turn and turn about on one processor, with a
model of make_transformer.py. Both are loaded before, and both translate to the longest length that is
allowed. Prints how many translations are the same, words a second, the ratio of the pairs' times (the
median, the least and the greatest), and how many operations of matrix products a second that takes.
Needs ctranslate2, numpy and pyyaml."""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import time

import ctranslate2
import numpy as np

COMPUTE_TYPES = {"fp32": "float32", "int8": "int8_float32"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="fuselage")
    parser.add_argument("model", type=pathlib.Path, help="what make_transformer.py wrote")
    parser.add_argument("--precision", choices=COMPUTE_TYPES, default="fp32")
    parser.add_argument("--beam-size", type=int, default=1)
    parser.add_argument("--mini-batch", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=16)
    parser.add_argument("--length", type=int, default=20, help="words of a sentence")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--processor", type=int, default=0, help="the one that both run on")
    return parser.parse_args()


class Fuselage:
    def __init__(self, options):
        vocabulary = options.model / "vocab.yml"
        command = [options.program, "translate", "-m", options.model / "model.npz", "-v", vocabulary]
        command += [vocabulary, "--quiet", "--cpu-threads", "1", "--maxi-batch", "1"]
        command += ["--precision", options.precision, "--beam-size", options.beam_size]
        command += ["--mini-batch", options.mini_batch, "--max-length-factor", "1"]
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def translate(self, sentences):
        self.process.stdin.write("".join(" ".join(words) + "\n" for words in sentences))
        self.process.stdin.flush()
        return [self.process.stdout.readline().split() for _ in sentences]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class CTranslate2:
    def __init__(self, options):
        vocabulary = str(options.model / "vocab.yml")
        converted = options.model / "ctranslate2"
        if not converted.exists():
            converter = ctranslate2.converters.MarianConverter(
                str(options.model / "model.npz"), [vocabulary, vocabulary]
            )
            converter.convert(str(converted))
        self.translator = ctranslate2.Translator(
            str(converted),
            compute_type=COMPUTE_TYPES[options.precision],
            inter_threads=1,
            intra_threads=1,
        )
        self.options = options

    def translate(self, sentences):
        results = self.translator.translate_batch(
            sentences,
            beam_size=self.options.beam_size,
            max_batch_size=self.options.mini_batch,
            max_decoding_length=len(sentences[0]) + 1,
        )
        return [result.hypotheses[0] for result in results]


def operations(model, beam_size):
    """Multiplications and additions of the products with weights, for a source word and a word of
    each hypothesis (both sides have as many words)."""
    arrays = np.load(model / "model.npz")
    sizes = {name: arrays[name].size for name in arrays.files if "_W" in name and "_ln_" not in name}
    of_source = [n for n in sizes if n.startswith("encoder") or n.endswith(("context_Wk", "context_Wv"))]
    source = sum(sizes[name] for name in of_source)
    target = sum(sizes.values()) - source + arrays["Wemb"].size
    return 2 * (source + beam_size * target)


def seconds_of(engine, sentences):
    start = time.perf_counter()
    engine.translate(sentences)
    return time.perf_counter() - start


def main():
    options = parse_arguments()
    os.sched_setaffinity(0, {options.processor})
    words = list(map(str.strip, open(options.model / "vocab.yml")))[2:]
    words = [entry.split(":")[0] for entry in words]
    source = random.Random(1)
    sentences = [source.choices(words, k=options.length) for _ in range(options.sentences)]

    ours, theirs = Fuselage(options), CTranslate2(options)
    results = list(zip(ours.translate(sentences), theirs.translate(sentences)))
    produced = sum(len(result) for result, _ in results)
    if produced != sum(len(result) for _, result in results):
        raise SystemExit("the two did not produce as many words")
    same = sum(a == b for a, b in results)
    pairs = [(seconds_of(ours, sentences), seconds_of(theirs, sentences)) for _ in range(options.pairs)]
    ours.close()

    ratios = sorted(b / a for a, b in pairs)
    speeds = [produced / statistics.median(times) for times in zip(*pairs)]
    work = operations(options.model, options.beam_size)
    print(
        f"{options.precision}, beam {options.beam_size}, mini-batch {options.mini_batch}: "
        f"{same} of {len(results)} translations are the same, {produced} words"
    )
    for name, speed in zip(("fuselage", f"ctranslate2 {ctranslate2.__version__}"), speeds):
        print(f"  {name}: {speed:.0f} words/s, {speed * work / 1e9:.0f} GOP/s")
    print(f"  ratio {statistics.median(ratios):.3f} [{ratios[0]:.3f}, {ratios[-1]:.3f}]")


if __name__ == "__main__":
    main()
