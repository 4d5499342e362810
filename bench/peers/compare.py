"""Translates with Fuselage and with CTranslate2, Marian or transformers, in turn on one processor
or GPU, after loading both. The text is lines of words of the vocabulary, else random words, for
which a model of make_transformer.py makes translations of the maximum length. Greedy search has no
scores. Prints the number of equal translations, words per second, the ratio of the pairs' times
(median, minimum and maximum) and, for a transformer, the operations of matrix products per second.
Needs numpy and pyyaml, and ctranslate2, pymarian, or torch and transformers."""

import argparse
import functools
import itertools
import os
import pathlib
import random
import re
import statistics
import subprocess
import threading
import time

import numpy as np

PRECISIONS = ["fp32", "fp16", "bf16", "int8"]


def device_name(text):
    if not re.fullmatch(r"cpu|cuda(:\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text} is not cpu, cuda or cuda:N")
    return text


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="fuselage")
    parser.add_argument("peer", choices=["ctranslate2", "marian", "transformers"])
    parser.add_argument("model", type=pathlib.Path, help="a Marian .npz file")
    parser.add_argument("vocabulary", type=pathlib.Path, help="of both sides, a .yml file")
    parser.add_argument("--text", type=pathlib.Path, help="for Marian and transformers")
    parser.add_argument("--device", type=device_name, default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32")
    parser.add_argument("--peer-precision", choices=PRECISIONS, help="default: as --precision")
    parser.add_argument("--kv-cache", choices=["fp32", "int8"], default="fp32", help="of Fuselage")
    parser.add_argument("--beam-size", type=int, default=1)
    parser.add_argument("--mini-batch", type=int, default=1)
    parser.add_argument("--max-length-factor", type=float, default=1)
    parser.add_argument("--sentences", type=int, default=16)
    parser.add_argument("--length", type=int, default=20, help="of random sentences")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument(
        "--processor", type=int, help="the one that both run on; default: 0, and any with a GPU"
    )
    options = parser.parse_args()
    options.gpu = options.device != "cpu"
    options.peer_precision = options.peer_precision or options.precision
    if options.processor is None and not options.gpu:
        options.processor = 0
    check(parser, options)
    return options


def check(parser, options):
    peer = options.peer
    if peer == "ctranslate2" and (options.text or options.max_length_factor != 1):
        parser.error("CTranslate2 bounds all translations alike: it is for random words")
    if peer == "marian" and (options.gpu or options.peer_precision != "fp32"):
        parser.error("pymarian has float32 alone, on the CPU")
    if peer == "transformers" and options.peer_precision == "int8":
        parser.error("transformers has no int8 here: give it another --peer-precision")
    if options.precision == "fp16" and not options.gpu:
        parser.error("Fuselage has fp16 on a GPU alone")
    if options.kv_cache != "fp32" and options.gpu:
        parser.error("--kv-cache is for the CPU")


class Fuselage:
    def __init__(self, options):
        command = [options.program, "translate", "-m", options.model]
        command += ["-v", options.vocabulary, options.vocabulary, "--quiet", "--cpu-threads", 1]
        command += ["--maxi-batch", 1, "--mini-batch", options.mini_batch, "--normalize", 0.6]
        command += ["--device", options.device, "--precision", options.precision]
        command += ["--kv-cache", options.kv_cache]
        command += ["--beam-size", options.beam_size]
        command += ["--max-length-factor", options.max_length_factor]
        command += ["--skip-cost"] if options.beam_size == 1 else []
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, text):
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # translate() reads no line then

    def translate(self, sentences):
        """Text is sent by a thread, since pipes do not hold all of a large one."""
        text = "".join(" ".join(words) + "\n" for words in sentences)
        sender = threading.Thread(target=self.send, args=[text])
        sender.start()
        lines = [self.process.stdout.readline() for _ in sentences]
        sender.join()
        if not all(lines):
            raise SystemExit("fuselage ended early")
        return [line.split() for line in lines]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class CTranslate2:
    def __init__(self, options):
        self.options = options
        try:
            self.load()
            if options.gpu:
                self.translate([["</s>"]])  # loads cuBLAS
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            where = "this GPU" if options.gpu else "this CPU"
            reason = " ".join(str(error).split())
            raise SystemExit(f"CTranslate2 does not load on {where}: {reason}") from error

    def load(self):
        import ctranslate2

        options = self.options
        self.name = f"ctranslate2 {ctranslate2.__version__}"
        vocabularies = [str(options.vocabulary)] * 2
        converted = options.model.parent / "ctranslate2"
        if not converted.exists():
            converter = ctranslate2.converters.MarianConverter(str(options.model), vocabularies)
            converter.convert(str(converted))
        device, _, index = options.device.partition(":")
        self.translator = ctranslate2.Translator(
            str(converted),
            device=device,
            device_index=int(index or 0),
            compute_type=self.compute_type(),
            inter_threads=1,
            intra_threads=1,
        )

    def compute_type(self):
        types = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
        types["int8"] = "int8_float16" if self.options.gpu else "int8_float32"
        return types[self.options.peer_precision]

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


class Transformers:
    """MarianMTModel with the weights of the Marian file."""

    def __init__(self, options):
        import torch
        import transformers
        import yaml
        from marian_to_transformers import model_of

        if not options.gpu:
            torch.set_num_threads(1)
        elif not torch.cuda.is_available():
            raise SystemExit("torch finds no GPU")
        self.name = f"transformers {transformers.__version__}"
        ids = yaml.load(options.vocabulary.read_text(), Loader=yaml.CBaseLoader)
        self.ids = {word: int(index) for word, index in ids.items()}
        self.words = {index: word for word, index in self.ids.items()}
        types = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
        dtype = types[options.peer_precision]
        self.model = model_of(options.model).to(options.device, dtype)
        self.tensor = functools.partial(torch.tensor, device=options.device)
        self.options = options

    def translate(self, sentences):
        size = self.options.mini_batch
        batches = [sentences[i : i + size] for i in range(0, len(sentences), size)]
        return [words for batch in batches for words in self.translate_batch(batch)]

    def translate_batch(self, sentences):
        """The list of ids is on the host, so that the GPU has finished when it is made."""
        end, pad = self.model.config.eos_token_id, self.model.config.pad_token_id
        rows = [[self.ids.get(word, 1) for word in words] + [end] for words in sentences]
        length = max(len(row) for row in rows)
        padding = [[0] * (length - len(row)) for row in rows]
        inputs = [row + [pad] * len(rest) for row, rest in zip(rows, padding)]
        masks = [[1] * len(row) + rest for row, rest in zip(rows, padding)]
        results = self.model.generate(
            self.tensor(inputs),
            attention_mask=self.tensor(masks),
            max_new_tokens=int(self.options.max_length_factor * length),
            **self.search(),
        )
        return [self.words_of(result, {end, pad}) for result in results.tolist()]

    def search(self):
        """As Marian's: a beam ends when all its hypotheses have, and scores are divided by lengths
        to the power of 0.6."""
        options = {"do_sample": False, "num_beams": self.options.beam_size, "use_cache": True}
        if self.options.beam_size > 1:
            options |= {"length_penalty": 0.6, "early_stopping": True}
        return options

    def words_of(self, ids, ends):
        """The first id is the start."""
        return [self.words[i] for i in itertools.takewhile(lambda i: i not in ends, ids[1:])]


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


def report(options, names, results, pairs):
    produced = sum(len(result) for result, _ in results)
    same = sum(a == b for a, b in results)
    ratios = sorted(b / a for a, b in pairs)
    speeds = [produced / statistics.median(times) for times in zip(*pairs)]
    work = operations(options.model, options.beam_size)
    precisions = [options.precision, options.peer_precision]
    print(
        f"{options.device}, beam {options.beam_size}, mini-batch {options.mini_batch}: "
        f"{same} of {len(results)} translations are the same, {produced} words"
    )
    for name, precision, speed in zip(names, precisions, speeds):
        rate = f", {speed * work / 1e9:.0f} GOP/s" if work else ""
        print(f"  {name}, {precision}: {speed:.0f} words/s{rate}")
    print(
        f"  ratio on {options.device}, {' beside '.join(precisions)}: "
        f"{statistics.median(ratios):.3f} [{ratios[0]:.3f}, {ratios[-1]:.3f}]"
    )


def main():
    options = parse_arguments()
    if options.processor is not None:
        os.sched_setaffinity(0, {options.processor})
    sentences = sentences_of(options)
    ours = Fuselage(options)
    peers = {"ctranslate2": CTranslate2, "marian": Marian, "transformers": Transformers}
    theirs = peers[options.peer](options)
    for _ in range(3 if options.gpu else 1):  # on a GPU the first runs allocate and capture
        results = list(zip(ours.translate(sentences), theirs.translate(sentences)))
    produced, expected = (sum(len(result) for result in side) for side in zip(*results))
    if not options.text and produced != expected:
        raise SystemExit("the two did not produce as many words")
    pairs = [
        (seconds_of(ours, sentences), seconds_of(theirs, sentences)) for _ in range(options.pairs)
    ]
    ours.close()
    report(options, ["fuselage", theirs.name], results, pairs)


if __name__ == "__main__":
    main()
