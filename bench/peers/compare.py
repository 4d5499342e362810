"""Translates with Fuselage and with CTranslate2 or Marian, alternately on one processor, after
loading both. The text is lines of words of the vocabulary, else random words, for which a model of
make_transformer.py makes translations of the maximum length. Greedy search computes no scores.
Prints the number of equal translations, words per second, the ratio of the pairs' times (median,
minimum and maximum) and, for a transformer, the operations of matrix products per second. Needs
numpy and pyyaml, and ctranslate2 or pymarian."""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import time

import numpy as np


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="fuselage")
    parser.add_argument("peer", choices=["ctranslate2", "marian"])
    parser.add_argument("model", type=pathlib.Path, help="a Marian .npz file")
    parser.add_argument("vocabulary", type=pathlib.Path, help="of both sides, a .yml file")
    parser.add_argument("--text", type=pathlib.Path, help="for Marian")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="fp32")
    parser.add_argument("--kv-cache", choices=["fp32", "int8"], default="fp32", help="of Fuselage")
    parser.add_argument("--beam-size", type=int, default=1)
    parser.add_argument("--mini-batch", type=int, default=1)
    parser.add_argument("--max-length-factor", type=float, default=1)
    parser.add_argument("--sentences", type=int, default=16)
    parser.add_argument("--length", type=int, default=20, help="of random sentences")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--processor", type=int, default=0, help="the one that both run on")
    options = parser.parse_args()
    if options.peer == "ctranslate2" and (options.text or options.max_length_factor != 1):
        parser.error("CTranslate2 bounds all translations alike: it is for random words")
    if options.peer == "marian" and options.precision != "fp32":
        parser.error("pymarian has float32 alone")
    return options


class Fuselage:
    def __init__(self, options):
        command = [options.program, "translate", "-m", options.model]
        command += ["-v", options.vocabulary, options.vocabulary, "--quiet", "--cpu-threads", 1]
        command += ["--maxi-batch", 1, "--mini-batch", options.mini_batch, "--normalize", 0.6]
        command += ["--precision", options.precision, "--kv-cache", options.kv_cache]
        command += ["--beam-size", options.beam_size]
        command += ["--max-length-factor", options.max_length_factor]
        command += ["--skip-cost"] if options.beam_size == 1 else []
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def translate(self, sentences):
        self.process.stdin.write("".join(" ".join(words) + "\n" for words in sentences))
        self.process.stdin.flush()
        return [self.process.stdout.readline().split() for _ in sentences]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class CTranslate2:
    COMPUTE_TYPES = {"fp32": "float32", "int8": "int8_float32"}

    def __init__(self, options):
        import ctranslate2

        self.name = f"ctranslate2 {ctranslate2.__version__}"
        vocabularies = [str(options.vocabulary)] * 2
        converted = options.model.parent / "ctranslate2"
        if not converted.exists():
            converter = ctranslate2.converters.MarianConverter(str(options.model), vocabularies)
            converter.convert(str(converted))
        self.translator = ctranslate2.Translator(
            str(converted),
            compute_type=self.COMPUTE_TYPES[options.precision],
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


class Marian:
    def __init__(self, options):
        import pymarian

        self.name = f"marian {pymarian.__version__}"
        self.translator = pymarian.Translator(
            models=str(options.model),
            vocabs=[str(options.vocabulary)] * 2,
            beam_size=options.beam_size,
            normalize=0.6,
            mini_batch=options.mini_batch,
            maxi_batch=1,
            max_length_factor=options.max_length_factor,
            skip_cost=options.beam_size == 1,
            cpu_threads=1,
            quiet=True,
            quiet_translation=True,
        )

    def translate(self, sentences):
        lines = [" ".join(words) for words in sentences]
        return [line.split() for line in self.translator.translate(lines)]


def sentences_of(options):
    if options.text:
        lines = options.text.read_text().splitlines()[: options.sentences]
        return [line.split() for line in lines]
    words = [line.rsplit(":", 1)[0] for line in options.vocabulary.read_text().splitlines()[2:]]
    source = random.Random(1)
    return [source.choices(words, k=options.length) for _ in range(options.sentences)]


def operations(model, beam_size):
    """Multiplications and additions of a transformer's products with weights, for a source word and
    a word of each hypothesis (both sides have as many words); None for other models."""
    arrays = np.load(model)
    if "decoder_l1_self_Wq" not in arrays.files:
        return None
    matrices = [name for name in arrays.files if "_W" in name and "_ln_" not in name]
    sizes = {name: arrays[name].size for name in matrices}
    keys = ("context_Wk", "context_Wv")  # and values, of source words
    source = sum(sizes[n] for n in matrices if n.startswith("encoder") or n.endswith(keys))
    target = sum(sizes.values()) - source + arrays["Wemb"].size
    return 2 * (source + beam_size * target)


def seconds_of(engine, sentences):
    start = time.perf_counter()
    engine.translate(sentences)
    return time.perf_counter() - start


def main():
    options = parse_arguments()
    os.sched_setaffinity(0, {options.processor})
    sentences = sentences_of(options)
    ours = Fuselage(options)
    theirs = {"ctranslate2": CTranslate2, "marian": Marian}[options.peer](options)
    results = list(zip(ours.translate(sentences), theirs.translate(sentences)))
    produced = sum(len(result) for result, _ in results)
    if not options.text and produced != sum(len(result) for _, result in results):
        raise SystemExit("the two did not produce as many words")
    same = sum(a == b for a, b in results)
    pairs = [
        (seconds_of(ours, sentences), seconds_of(theirs, sentences)) for _ in range(options.pairs)
    ]
    ours.close()

    ratios = sorted(b / a for a, b in pairs)
    speeds = [produced / statistics.median(times) for times in zip(*pairs)]
    work = operations(options.model, options.beam_size)
    print(
        f"{options.precision}, beam {options.beam_size}, mini-batch {options.mini_batch}: "
        f"{same} of {len(results)} translations are the same, {produced} words"
    )
    for name, speed in zip(("fuselage", theirs.name), speeds):
        rate = f", {speed * work / 1e9:.0f} GOP/s" if work else ""
        print(f"  {name}: {speed:.0f} words/s{rate}")
    print(f"  ratio {statistics.median(ratios):.3f} [{ratios[0]:.3f}, {ratios[-1]:.3f}]")


if __name__ == "__main__":
    main()
