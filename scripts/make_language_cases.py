#!/usr/bin/env python3
"""make_language_cases.py: writes tests/data/language/*.npz, the expected results of the graphs there.

Each file has the weights (weight:NAME), inputs (input:NAME and input:NAME.lengths) and results (output:NAME) of
the graph with its name. Results are computed here with numpy in float64, from the equations and without
Fuselage. Needs numpy.
"""

import math
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).parent.parent / "tests" / "data" / "language"
RANDOM = np.random.default_rng(3)
LENGTHS = [3, 5, 1, 4]  # of the source sentences
HEADS, WIDTH = 2, 3
HEAD_COLUMNS = [slice(WIDTH * h, WIDTH * (h + 1)) for h in range(HEADS)]


def weight(*shape, scale=1.0):
    """Random numbers that are exact in float32."""
    return (RANDOM.normal(size=shape) * scale).astype(np.float32).astype(np.float64)


def sentences(lengths):
    """The first row of each sentence, and one past its last."""
    ends = np.cumsum(lengths)
    return list(zip(ends - lengths, ends))


def softmax(scores):
    shares = np.exp(scores - np.max(scores))
    return shares / shares.sum()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def write(name, weights, inputs, outputs):
    arrays = {f"weight:{key}": value.astype(np.float32) for key, value in weights.items()}
    for key, (rows, lengths) in inputs.items():
        floats = np.issubdtype(rows.dtype, np.floating)
        arrays[f"input:{key}"] = rows.astype(np.float32 if floats else np.int32)
        arrays[f"input:{key}.lengths"] = np.array(lengths, np.int32)
    arrays |= {f"output:{key}": np.asarray(value, np.float32) for key, value in outputs.items()}
    np.savez(FOLDER / f"{name}.npz", **arrays)


WORDS = RANDOM.integers(0, 7, sum(LENGTHS))
E = weight(7, 6)
X = E[WORDS]
PRODUCTS = {name: weight(6, 6, scale=0.5) for name in ("Wq", "Wk", "Wv")}
Q, K, V = (X @ PRODUCTS[name] for name in ("Wq", "Wk", "Wv"))
SOURCE = {"src.word": (WORDS, LENGTHS)}


def convolution():
    frames, kernels = weight(sum(LENGTHS), 4), [weight(4, 5) for _ in range(3)]
    y = np.zeros((sum(LENGTHS), 5))
    for begin, end in sentences(LENGTHS):
        for t in range(begin, end):
            for kernel, at in zip(kernels, (t - 1, t, t + 1)):
                if begin <= at < end:
                    y[t] += frames[at] @ kernel
    write("convolution", {f"w{i}": kernel for i, kernel in enumerate(kernels)}, {"frames": (frames, LENGTHS)}, {"y": y})


def t5_bucket(distance, buckets=8, farthest=16):
    half = buckets // 2
    exact, steps = half // 2, abs(distance)
    if steps >= exact:
        steps = min(half - 1, exact + int(np.log(steps / exact) / np.log(farthest / exact) * (half - exact)))
    return steps + (half if distance > 0 else 0)


def attention():
    """Trained positions; T5's bias over all tokens; ALiBi over a window of the last three."""
    places, bias, slopes = weight(4, 6), weight(8, HEADS), np.array([0.5, 0.25])
    everywhere, recent = np.zeros_like(X), np.zeros_like(X)
    for begin, end in sentences(LENGTHS):
        x = X[begin:end] + places[np.minimum(np.arange(end - begin), 3)]
        q, k, v = (x @ PRODUCTS[name] for name in ("Wq", "Wk", "Wv"))
        for t in range(end - begin):
            window = range(max(0, t - 2), t + 1)
            for h, columns in enumerate(HEAD_COLUMNS):
                score = lambda j: q[t, columns] @ k[j, columns] / np.sqrt(WIDTH)
                weights = softmax([score(j) + bias[t5_bucket(j - t), h] for j in range(end - begin)])
                everywhere[begin + t, columns] = weights @ v[:, columns]
                weights = softmax([score(j) + slopes[h] * (j - t) for j in window])
                recent[begin + t, columns] = weights @ v[window, columns]
    write("attention", {"E": E, "P": places, "B": bias, **PRODUCTS}, SOURCE, {"o": everywhere, "c": recent})


def reductions():
    by_sentence = lambda f: np.stack([f(X[begin:end]) for begin, end in sentences(LENGTHS)])
    larger = np.where(np.cos(X) > np.sin(X), np.cos(X), np.sin(X))
    outputs = {
        "rs": X.sum(1, keepdims=True),
        "rm": X.max(1, keepdims=True),
        "ra": X.mean(1, keepdims=True),
        "s": by_sentence(lambda x: x.sum(0)),
        "m": by_sentence(lambda x: x.max(0)),
        "a": by_sentence(lambda x: x.mean(0)),
        "l": by_sentence(lambda x: np.log(np.exp(x).sum(0))),
        "w": larger,
        "le": X <= larger,
        "t": X.reshape(-1, 2, 3).transpose(0, 2, 1),
    }
    write("reductions", {"E": E}, SOURCE, outputs)


def linear_attention():
    decay_weight = weight(6, 6, scale=0.4)
    decay, y = sigmoid(X @ decay_weight), np.zeros_like(X)
    for begin, end in sentences(LENGTHS):
        for columns in HEAD_COLUMNS:
            state = np.zeros((WIDTH, WIDTH))
            for t in range(begin, end):
                state = decay[t, columns][:, None] * state + np.outer(K[t, columns], V[t, columns])
                y[t, columns] = Q[t, columns] @ state
    write("linear_attention", {"E": E, "Wd": decay_weight, **PRODUCTS}, SOURCE, {"o": y})


def texts():
    """Two source texts, the first with a factor, and a language for each sentence."""
    lengths = [2, 1, 3, 2]
    context, cases = RANDOM.integers(0, 7, sum(lengths)), RANDOM.integers(0, 3, sum(LENGTHS))
    languages, factor = np.array([1, 4, 6, 0]), weight(3, 6)
    y = [
        (X[a:b] + factor[cases[a:b]]).mean(0) + E[context[c:d]].max(0) * E[language]
        for (a, b), (c, d), language in zip(sentences(LENGTHS), sentences(lengths), languages)
    ]
    inputs = {"src.case": (cases, LENGTHS), "b.word": (context, lengths), "language": (languages, [1] * 4)}
    write("texts", {"E": E, "F": factor}, SOURCE | inputs, {"y": y})


def decoder():
    """The word two before; attention to the last two words with a bias; to source and prefix together."""
    steps = [4, 2, 3, 5]
    words = RANDOM.integers(0, 7, sum(steps))
    places, bias = weight(4, 6), weight(3, HEADS)
    before, recent, joint = (np.zeros((sum(steps), 6)) for _ in range(3))
    for (first, last), (begin, end) in zip(sentences(steps), sentences(LENGTHS)):
        words[first] = -1  # no word yet
        x = np.where(words[first:last, None] < 0, 0, E[words[first:last]])
        x = x + places[np.clip(np.arange(last - first) - 1, 0, 3)]
        q, k, v = (x @ PRODUCTS[name] for name in ("Wq", "Wk", "Wv"))
        for t in range(last - first):
            if t >= 2:
                before[first + t] = x[t - 2]
            window = range(max(0, t - 1), t + 1)
            for h, columns in enumerate(HEAD_COLUMNS):
                weights = softmax([q[t, columns] @ k[j, columns] + bias[t - j, h] for j in window])
                recent[first + t, columns] = weights @ v[window, columns]
                keys = np.concatenate([K[begin:end, columns], k[: t + 1, columns]])
                values = np.concatenate([V[begin:end, columns], v[: t + 1, columns]])
                joint[first + t, columns] = softmax(keys @ q[t, columns]) @ values
    outputs = {"nb": before, "o": recent, "j": joint}
    write("decoder", {"E": E, "P": places, "B": bias, **PRODUCTS}, SOURCE | {"hyp.word": (words, steps)}, outputs)


def rms_norm(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain


def rotary_language_model():
    """docs/examples/rotary_language_model.cpp with 2 layers, 4 heads of 4 and 2 key heads."""
    heads, key_heads, width, inner, steps = 4, 2, 4, 12, [5, 1, 3]
    size, words = heads * width, RANDOM.integers(0, 9, 9)
    embedding, gain = weight(9, size), 1 + weight(size, scale=0.1)
    weights = {"E": embedding, "norm": gain}
    shapes = {"Wq": (size, size), "Wk": (size, key_heads * width), "Wv": (size, key_heads * width)}
    shapes |= {"Wo": (size, size), "Wg": (size, inner), "Wu": (size, inner), "Wd": (inner, size)}
    for layer in (1, 2):
        weights |= {f"l{layer}_{name}": weight(*shape, scale=0.3) for name, shape in shapes.items()}
        weights |= {f"l{layer}_{name}": 1 + weight(size, scale=0.1) for name in ("norm1", "norm2")}
    frequencies = 10000.0 ** (-2 * np.arange(width // 2) / width)

    def rotate(x, count):
        angles = np.arange(len(x))[:, None, None] * frequencies
        a, b = np.split(x.reshape(len(x), count, width), 2, axis=2)
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], 2)

    logits = np.zeros((sum(steps), 9))
    for first, last in sentences(steps):
        words[first] = -1
        x = np.where(words[first:last, None] < 0, 0, embedding[words[first:last]])
        for layer in (1, 2):
            w = {name: weights[f"l{layer}_{name}"] for name in [*shapes, "norm1", "norm2"]}
            y = rms_norm(x, w["norm1"])
            q, k = rotate(y @ w["Wq"], heads), rotate(y @ w["Wk"], key_heads)
            v = (y @ w["Wv"]).reshape(-1, key_heads, width)
            mixed = np.zeros((last - first, heads, width))
            for t in range(last - first):
                for h in range(heads):
                    shares = softmax(k[: t + 1, h // 2] @ q[t, h] / np.sqrt(width))
                    mixed[t, h] = shares @ v[: t + 1, h // 2]
            x = x + mixed.reshape(-1, size) @ w["Wo"]
            z = rms_norm(x, w["norm2"])
            gate = z @ w["Wg"]
            x = x + (gate * sigmoid(gate) * (z @ w["Wu"])) @ w["Wd"]
        logits[first:last] = rms_norm(x, gain) @ embedding.T
    write("rotary_language_model", weights, {"hyp.word": (words, steps)}, {"logits": logits})


def sequence_labels():
    """docs/examples/sequence_labels.cpp: 7 words, size 6, 3 classes, 5 tags."""
    weights = {f"{name}_{m}": weight(6, 6, scale=0.5) for name in ("forward", "backward") for m in "WU"}
    class_weight, tag_weight = weight(24, 3, scale=0.5), weight(12, 5, scale=0.5)
    classes, tags = [], []
    for begin, end in sentences(LENGTHS):
        states = np.zeros((end - begin, 12))
        for name, order, columns in (
            ("forward", range(end - begin), slice(0, 6)),
            ("backward", reversed(range(end - begin)), slice(6, 12)),
        ):
            state = np.zeros(6)
            for t in order:
                state = np.tanh(X[begin + t] @ weights[f"{name}_W"] + state @ weights[f"{name}_U"])
                states[t, columns] = state
        summary = np.concatenate([states.max(0), states.mean(0)])
        classes.append(softmax(summary @ class_weight))
        tags += [softmax(state @ tag_weight) for state in states]
    weights |= {"E": E, "class_W": class_weight, "tag_W": tag_weight}
    write("sequence_labels", weights, {"token.word": SOURCE["src.word"]}, {"class": classes, "tags": tags})


def frame_encoder():
    """docs/examples/frame_encoder.cpp: 4 features, size 6, 2 layers."""
    frames, weights = weight(sum(LENGTHS), 4), {"project": weight(4, 6)}
    for layer in (1, 2):
        weights |= {f"conv{layer}_{name}": weight(6, 6, scale=0.4) for name in ("before", "here", "after")}
        weights[f"conv{layer}_bias"] = weight(6)
    y = []
    for begin, end in sentences(LENGTHS):
        x = frames[begin:end] @ weights["project"]
        for layer in (1, 2):
            w = {name: weights[f"conv{layer}_{name}"] for name in ("before", "here", "after", "bias")}
            padded = np.pad(x, ((1, 1), (0, 0)))
            total = padded[:-2] @ w["before"] + x @ w["here"] + padded[2:] @ w["after"] + w["bias"]
            erf = np.vectorize(math.erf)
            x = x + total * (1 + erf(total / np.sqrt(2))) / 2
        y.append(x)
    write("frame_encoder", weights, {"frames": (frames, LENGTHS)}, {"states": np.concatenate(y)})


def recurrent_mixing():
    """docs/examples/recurrent_mixing.cpp: 9 words, size 6, 2 layers. Sums without the exponent apart."""
    steps, size = [6, 2, 4], 6
    words, embedding = RANDOM.integers(0, 9, sum(steps)), weight(9, size)
    weights = {"E": embedding, "norm": 1 + weight(size, scale=0.1)}
    shapes = {name: (size, size) for name in ("Wk", "Wv", "Wr", "Wo", "Wg")}
    shapes |= {"Wi": (size, 2 * size), "Wd": (2 * size, size)}
    for layer in (1, 2):
        weights |= {f"l{layer}_{name}": weight(*shape, scale=0.5) for name, shape in shapes.items()}
        weights |= {f"l{layer}_{name}": weight(size, scale=0.5) for name in ("bonus", "decay")}
        weights |= {f"l{layer}_norm{i}": 1 + weight(size, scale=0.1) for i in (1, 2)}
        weights |= {f"l{layer}_mix_{name}": sigmoid(weight(size)) for name in "kvrig"}
    weights = {name: w.astype(np.float32).astype(np.float64) for name, w in weights.items()}
    norm = lambda x, gain: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * gain

    def mixed(y, share):
        return y * share + np.pad(y, ((1, 0), (0, 0)))[:-1] * (1 - share)

    logits = []
    for first, last in sentences(steps):
        words[first] = -1
        x = np.where(words[first:last, None] < 0, 0, embedding[words[first:last]])
        for layer in (1, 2):
            w = lambda name: weights[f"l{layer}_{name}"]
            y = norm(x, w("norm1"))
            k, v, r = (mixed(y, w(f"mix_{name}")) @ w(f"W{name}") for name in "kvr")
            decay, wkv = np.exp(w("decay")), np.zeros_like(k)
            for t in range(last - first):
                shares = np.array([np.exp(k[j] - (t - 1 - j) * decay) for j in range(t)] + [np.exp(k[t] + w("bonus"))])
                wkv[t] = (shares * v[: t + 1]).sum(0) / shares.sum(0)
            x = x + (sigmoid(r) * wkv) @ w("Wo")
            y = norm(x, w("norm2"))
            inner = np.maximum(mixed(y, w("mix_i")) @ w("Wi"), 0)
            x = x + sigmoid(mixed(y, w("mix_g")) @ w("Wg")) * (inner**2 @ w("Wd"))
        logits.append(norm(x, weights["norm"]) @ embedding.T)
    write("recurrent_mixing", weights, {"hyp.word": (words, steps)}, {"logits": np.concatenate(logits)})


def tiny_translator():
    """docs/examples/tiny_translator.cpp: 7 words, size 6."""
    steps = [3, 2, 4, 1]
    words = RANDOM.integers(0, 7, sum(steps))
    names = [f"{side}_{name}" for side in ("encoder", "decoder") for name in ("Wf", "Uf", "Wh", "Uh")]
    names += ["start_W", "attention_U", "attention_W", "output_W"]
    weights = {"E": E, "attention_v": weight(6, 1)} | {name: weight(6, 6, scale=0.5) for name in names}
    weights |= {f"{side}_{name}": weight(6) for side in ("encoder", "decoder") for name in ("bf", "bh")}

    def unit(side, x, s):
        w = lambda name: weights[f"{side}_{name}"]
        f = sigmoid(x @ w("Wf") + s @ w("Uf") + w("bf"))
        return (1 - f) * s + f * np.tanh(x @ w("Wh") + (f * s) @ w("Uh") + w("bh"))

    logits, alignment = [], []
    for (first, last), (begin, end) in zip(sentences(steps), sentences(LENGTHS)):
        words[first] = -1
        context, s = [], np.zeros(6)
        for x in X[begin:end]:
            s = unit("encoder", x, s)
            context.append(s)
        context = np.array(context)
        keys, s = context @ weights["attention_U"], np.tanh(context.mean(0) @ weights["start_W"])
        for word in words[first:last]:
            s = unit("decoder", np.zeros(6) if word < 0 else E[word], s)
            shares = softmax(np.tanh(keys + s @ weights["attention_W"]) @ weights["attention_v"][:, 0])
            logits.append(np.tanh(s @ weights["output_W"] + shares @ context) @ E.T)
            alignment += [[share] for share in shares]
    inputs = {"source.word": SOURCE["src.word"], "hyp.word": (words, steps)}
    write("tiny_translator", weights, inputs, {"logits": logits, "alignment": alignment})


def ends():
    """The last, first, second and last token but two of each text; a decoder that starts with a symbol."""
    steps = [2, 3, 1, 2]
    words = RANDOM.integers(0, 7, sum(steps))
    bias, missing, start = weight(6), weight(6), weight(6)
    states, logits = np.zeros_like(X), []
    firsts, seconds, thirds = ([] for _ in range(3))
    for (first, last), (begin, end) in zip(sentences(steps), sentences(LENGTHS)):
        words[first] = -1  # no word yet
        state = np.zeros(6)
        for t in range(begin, end):
            state = np.tanh(X[t] + state @ PRODUCTS["Wq"])
            states[t] = state
        firsts.append(states[begin] - states[end - 1])
        seconds.append((states[begin + 1] if end - begin > 1 else missing) @ PRODUCTS["Wk"] + bias)
        thirds.append(states[end - 3] if end - begin > 2 else np.zeros(6))
        for word in words[first:last]:
            state = np.tanh((start if word < 0 else E[word]) @ PRODUCTS["Wv"] + bias + state)
            logits.append((state + states[end - 1]) @ E.T)
    differences = [states[t] - states[end - 1] for begin, end in sentences(LENGTHS) for t in range(begin, end)]
    outputs = {"f": firsts, "s": seconds, "t": thirds, "d": differences, "logits": logits}
    weights = {"E": E, "bias": bias, "missing": missing, "start": start, **PRODUCTS}
    write("ends", weights, SOURCE | {"hyp.word": (words, steps)}, outputs)


CASES = [convolution, attention, reductions, linear_attention, texts, decoder, rotary_language_model]
CASES += [sequence_labels, frame_encoder, recurrent_mixing, tiny_translator, ends]

if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__.strip())
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    for case in CASES:
        case()
