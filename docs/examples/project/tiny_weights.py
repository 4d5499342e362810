"""Writes random weights for the tiny translator, as a training script writes its own."""

import sys

import numpy
from safetensors.numpy import save_file


def main(words: int, size: int, path: str) -> None:
    square = (size, size)
    gates = [f"{side}_{name}" for side in ("encoder", "decoder") for name in ("Wf", "Uf", "Wh", "Uh")]
    biases = [f"{side}_{name}" for side in ("encoder", "decoder") for name in ("bf", "bh")]
    others = ["start_W", "attention_U", "attention_W", "output_W"]
    shapes = {"E": (words, size), "attention_v": (size, 1)}
    shapes |= {name: square for name in gates + others} | {name: (size,) for name in biases}
    random = numpy.random.default_rng(seed=1)
    save_file({name: random.normal(size=shape).astype(numpy.float32) for name, shape in shapes.items()}, path)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
