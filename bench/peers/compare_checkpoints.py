"""Translates a checkpoint of make_checkpoint.py with Fuselage and in its forms for other engines, in
turn, and prints words a second (median of the rounds) and the ratios of Fuselage's int8 to them: of
processor time with one thread, of wall time with several. All outputs have the same length. Needs the
packages of the engines; those that are not named are left out."""

import argparse
import os
import pathlib
import statistics
import time

WORDS = 30
SETTINGS = {"threads": 1}


def now():
    return time.process_time() if SETTINGS["threads"] == 1 else time.perf_counter()


def division(batch):
    """Threads at work on different batches, and threads at work on one: what serves each engine best."""
    threads = SETTINGS["threads"]
    return (1, threads) if batch == 1 else (threads, 1)


class Fuselage:
    """In a precision. A search has its own translator, which is made before the time is taken."""

    def __init__(self, folder, precision):
        self.model = {"path": folder, "precision": precision}
        self.made = None, None

    def seconds(self, lines, batch, beam):
        import fuselage

        threads, team = division(batch)
        search = {"mini_batch": batch, "beam_size": beam}
        search |= {"threads": threads, "threads_per_sentence": team}
        if self.made[0] != search:
            length = {"max_words": WORDS, "min_length": WORDS - 1}
            self.made = search, fuselage.Translator(**self.model, **search, **length)
        start = now()
        self.made[1].translate(lines)
        return now() - start


class CTranslate2:
    def __init__(self, folder):
        import ctranslate2

        del ctranslate2
        self.folder = str(folder / "ctranslate2")
        self.made = None, None

    def seconds(self, lines, batch, beam):
        import ctranslate2

        threads, team = division(batch)
        if self.made[0] != (threads, team):
            kind = {"compute_type": "int8", "inter_threads": threads, "intra_threads": team}
            self.made = (threads, team), ctranslate2.Translator(self.folder, **kind)
        source = [[f"\u2581{word}" for word in line.split()] + ["</s>"] for line in lines]
        start = now()
        self.made[1].translate_batch(
            source,
            beam_size=beam,
            max_batch_size=batch,
            max_decoding_length=WORDS,
            min_decoding_length=WORDS,
        )
        return now() - start


class Generate:
    """A model with Transformers' generate()."""

    def __init__(self, model):
        self.model = model

    def seconds(self, lines, batch, beam):
        import torch

        config = self.model.config
        start = now()
        for first in range(0, len(lines), batch):
            texts = [
                [int(word[1:]) for word in line.split()] + [config.eos_token_id]
                for line in lines[first : first + batch]
            ]
            longest = max(map(len, texts))
            ids = [text + [config.pad_token_id] * (longest - len(text)) for text in texts]
            mask = [[1] * len(text) + [0] * (longest - len(text)) for text in texts]
            self.model.generate(
                input_ids=torch.tensor(ids),
                attention_mask=torch.tensor(mask),
                num_beams=beam,
                do_sample=False,
                max_new_tokens=WORDS,
                min_new_tokens=WORDS,
            )
        return now() - start


def transformers_model(folder):
    import torch
    from transformers import AutoModelForSeq2SeqLM

    torch.set_num_threads(SETTINGS["threads"])
    return Generate(AutoModelForSeq2SeqLM.from_pretrained(folder).eval())


def onnx_model(folder):
    import onnxruntime
    from optimum.onnxruntime import ORTModelForSeq2SeqLM

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = SETTINGS["threads"]
    settings.inter_op_num_threads = 1
    files = {
        f"{part}_file_name": f"{part}_model_quantized.onnx"
        for part in ("encoder", "decoder", "decoder_with_past")
    }
    folder = folder / "onnx"
    return Generate(ORTModelForSeq2SeqLM.from_pretrained(folder, session_options=settings, **files))


def openvino_model(folder):
    from optimum.intel import OVModelForSeq2SeqLM

    config = {"INFERENCE_NUM_THREADS": SETTINGS["threads"], "NUM_STREAMS": "1"}
    return Generate(OVModelForSeq2SeqLM.from_pretrained(folder / "openvino", ov_config=config))


PEERS = {
    "CTranslate2 int8": CTranslate2,
    "Transformers fp32": transformers_model,
    "ONNX Runtime int8": onnx_model,
    "OpenVINO int8": openvino_model,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="of make_checkpoint.py")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--sentences", type=int, default=32, help="of Fuselage and CTranslate2")
    parser.add_argument("--fewer", type=int, default=16, help="of the others")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16])
    options = parser.parse_args()
    SETTINGS["threads"] = options.threads
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    lines = (options.folder / "input.txt").read_text().splitlines()
    engines = {
        f"Fuselage {precision}": Fuselage(options.folder, precision)
        for precision in ("int8", "fp32")
    }
    for name in options.peers:
        try:
            engines[name] = PEERS[name](options.folder)
        except (ImportError, OSError, RuntimeError) as error:
            print(f"{name} is left out: {error}")
    for batch, beam in ((batch, beam) for batch in options.batches for beam in (1, 4)):
        speeds = {name: [] for name in engines}
        for _ in range(options.rounds):
            for name, engine in engines.items():
                is_fast = name == "CTranslate2 int8" or name.startswith("Fuselage")
                count = options.sentences if is_fast else options.fewer
                count = max(count, batch * (options.threads if is_fast else 1))
                seconds = engine.seconds((lines * count)[:count], batch, beam)
                speeds[name].append(count * WORDS / seconds)
        ours = statistics.median(speeds["Fuselage int8"])
        print(f"{options.folder.name}, {batch} at a time, beam {beam}")
        for name, found in speeds.items():
            print(
                f"  {name:20} {statistics.median(found):7.0f}  {ours / statistics.median(found):6.2f}"
            )


if __name__ == "__main__":
    main()
