"""Computation graphs: define, evaluate and inspect them.

A graph is written as equations over values with rows ("Define a new architecture" in the
documentation has the same with C++):

    b = Builder("tagger")
    words = b.add_vocabulary("words", 100)
    sentence = b.add_sentences("sentence")
    source = b.add_source("source", sentence)
    word = b.add_word_map("source.word", source, words)
    embeddings = b.param("E", [16], words)
    x = select_rows(embeddings, [word])
    b.output("tags", softmax(dot(x, b.param("W", [16, 4])) + b.param("b", [4])))
    graph = b.build()
"""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np

from fuselage import _core
from fuselage._arguments import all_as_bytes, as_bytes, expect_text, flag, path_text, whole
from fuselage._core import (
    Domain,
    Error,
    Expr,
    Map,
    abs,
    batch_matmul,
    broadcast,
    cast,
    collect,
    concat,
    cos,
    dot,
    dot_transposed,
    equal,
    exp,
    expand,
    gelu,
    greater,
    greater_equal,
    head_dot,
    history,
    joint_attention,
    layer_norm,
    left,
    less,
    less_equal,
    log,
    log_softmax,
    log_sum_exp_rows,
    max,
    max_rows,
    mean_rows,
    min,
    mix,
    not_equal,
    outer,
    permute,
    reduce_max,
    reduce_mean,
    reduce_sum,
    relu,
    reshape,
    right,
    rms_norm,
    rotary,
    select_rows,
    sigmoid,
    sin,
    sinusoid,
    slice,
    softmax,
    softmax_over_right,
    sqrt,
    sum_rows,
    swish,
    tanh,
    where,
)
from fuselage.commands import run_command

__all__ = [
    "Builder",
    "Domain",
    "Expr",
    "Graph",
    "Input",
    "Map",
    "NodeTime",
    "Runner",
    "abs",
    "architecture",
    "batch_matmul",
    "broadcast",
    "cast",
    "collect",
    "concat",
    "cos",
    "dot",
    "dot_transposed",
    "equal",
    "exp",
    "expand",
    "gelu",
    "greater",
    "greater_equal",
    "head_dot",
    "history",
    "joint_attention",
    "layer_norm",
    "left",
    "less",
    "less_equal",
    "load_model",
    "log",
    "log_softmax",
    "log_sum_exp_rows",
    "max",
    "max_rows",
    "mean_rows",
    "min",
    "mix",
    "not_equal",
    "outer",
    "permute",
    "reduce_max",
    "reduce_mean",
    "reduce_sum",
    "relu",
    "reshape",
    "right",
    "rms_norm",
    "rotary",
    "select_rows",
    "sigmoid",
    "sin",
    "sinusoid",
    "slice",
    "softmax",
    "softmax_over_right",
    "sqrt",
    "sum_rows",
    "swish",
    "tanh",
    "where",
]

Path_ = Union[str, "os.PathLike[str]"]
Rows = np.ndarray | Sequence[Any]


class Input(NamedTuple):
    """What a graph reads from its caller.

    kind: "words" (ids of vocabulary entries, -1 for none), "numbers", or "rows" (only the number
        of rows of each sentence).
    needed: false if no output depends on it.
    """

    name: str
    kind: str
    needed: bool


class NodeTime(NamedTuple):
    """The measured time of a node of a program, in all its runs."""

    program: str
    node: str
    seconds: float
    runs: int


def load_model(path: Path_) -> tuple[Graph, dict[str, np.ndarray], list[str]]:
    """Read a model of any format; gives its graph, weights and paths of vocabularies."""
    graph, weights, vocabularies = _core.load_model(os.fspath(path))
    return Graph(graph), weights, vocabularies


def architecture(
    name: str, options: Mapping[str, Any], *, seed: int = 1
) -> tuple[Graph, dict[str, np.ndarray]]:
    """Build a model of an architecture of the tree, such as "transformer", with random weights.

    options: those of a Marian configuration, with all sizes ("dim-vocabs": [8000, 8000]).
    Raises Error for an architecture or an option that is unknown.
    """
    texts = {key: _option_text(value) for key, value in options.items()}
    graph, weights = _core.architecture(name, texts, seed)
    return Graph(graph), weights


def _option_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_option_text(each) for each in value)}]"
    return str(value)


class Builder(_core.Builder):
    """Builds a graph: declare domains and maps, write equations, name outputs."""

    def build(self) -> Graph:
        """Give the graph of all that has been declared so far.

        Raises Error for states without a next value and other contradictions.
        """
        return Graph(super().build())


class Graph:
    """An immutable graph of operators. str() is its text form, which parse() reads."""

    def __init__(self, core: _core.Graph) -> None:
        self._core = core

    @staticmethod
    def parse(text: str) -> Graph:
        """Read a graph in the text form."""
        expect_text("the text form", text)
        return Graph(_core.Graph.parse(text))

    @property
    def name(self) -> str:
        """The name."""
        return self._core.name

    @property
    def inputs(self) -> list[Input]:
        """What it reads from its caller."""
        return [Input(*each) for each in self._core.inputs]

    @property
    def outputs(self) -> list[str]:
        """The names of its results."""
        return self._core.outputs

    @property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The shape of each weight; a table has a row for each entry of its vocabulary."""
        return {name: tuple(shape) for name, shape in self._core.parameters.items()}

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"Graph({self.name!r}, outputs={self.outputs})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph.parse, (str(self),)

    def compile(
        self,
        weights: Mapping[str, np.ndarray] | None = None,
        *,
        device: str = "cpu",
        precision: str = "fp32",
        passes: str = "all",
        exact: bool = False,
        profile: bool = False,
    ) -> Runner:
        """Optimize the graph and lower it to a device.

        weights: an array for each of the parameters, of its shape.
        device: "cpu", "cuda", "cuda:1" …, or "reference", the interpreter.
        precision: of products with weights, as of Translator; "fp64", on the interpreter alone,
            evaluates everything in double.
        passes: optimizer passes: "all", "none", or names; "all,-NAME" leaves one out.
        exact: only rewrites that keep every bit of a result.
        profile: measure the time of nodes, on a CPU.

        Raises Error for a weight that is missing or has another shape than its parameter, with
        both shapes.
        """
        core = _core.Runner(
            self._core,
            _arrays(weights or {}),
            device,
            precision,
            passes,
            flag("exact", exact),
            flag("profile", profile),
        )
        return Runner(core, {each.name: each.kind for each in self.inputs})

    def run(
        self,
        inputs: Mapping[str, Rows],
        weights: Mapping[str, np.ndarray] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Compile the graph with the options of compile() and evaluate it once."""
        return self.compile(weights, **options).run(inputs)

    def save(
        self, directory: Path_, weights: Mapping[str, np.ndarray], vocabularies: Sequence[Path_]
    ) -> None:
        """Write a model directory, which a Translator reads.

        The graph needs an output `logits` or `log_probs`. The vocabularies are of source and target
        (.yml, .json, .spm, or a word a line).
        """
        paths = [path_text("a vocabulary", path) for path in vocabularies]
        where = as_bytes(path_text("the directory", directory))
        self._core.save(where, _arrays(weights), all_as_bytes(paths))

    def dump(self, **options: Any) -> str:
        """Show the graph and what the optimizer makes of it.

        The options are those of `fuselage dump`: stage="planned", summary=True, precision="int8",
        explain="RULE@NODE", format="html" …
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{self.name or 'graph'}.ir"
            path.write_text(str(self), encoding="utf-8")
            return run_command("dump", [path], options)

    def quantized(self, precision: str) -> Graph:
        """Give the graph with products in a precision, "int8", "int4" …, as the engine runs it.

        It has the same parameters in float: weights and rows are quantized by nodes of the graph.
        """
        text = self.dump(
            passes="quantize",
            precision=precision,
            stage="quantize",
            program="whole",
            no_provenance=True,
        )
        return Graph.parse(text)

    def explain(self, question: str, **options: Any) -> str:
        """Tell why an optimizer rule was applied or not: "RULE@NODE", "RULE@*"."""
        return self.dump(explain=question, **options)

    def summary(self, **options: Any) -> str:
        """Give kernels, operations and bytes before and after the optimizer."""
        return self.dump(summary=True, **options)

    def page(self, **options: Any) -> str:
        """Give a page of HTML with the drawing, the passes and their rewrites."""
        return self.dump(format="html", **options)

    def show(self, **options: Any) -> Path:
        """Open the page in a browser; gives the path of its file."""
        with tempfile.NamedTemporaryFile(
            "w", suffix=".html", prefix="fuselage-", delete=False, encoding="utf-8"
        ) as file:
            file.write(self.page(**options))
        webbrowser.open(Path(file.name).as_uri())
        return Path(file.name)

    def _repr_html_(self) -> str:
        """Show the page in a notebook."""
        page = escape(self.page(), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="600" frameborder="0"></iframe>'


class Runner:
    """A compiled graph with its weights. For one thread at a time."""

    def __init__(self, core: _core.Runner, kinds: dict[str, str]) -> None:
        self._core = core
        self._kinds = kinds

    def run(self, inputs: Mapping[str, Rows], *, mini_batch: int = 0) -> dict[str, Any]:
        """Evaluate the outputs.

        inputs: for each input the rows of one sentence, or a list with an array for each sentence;
            for an input of kind "rows" the number of rows of each sentence. Words are whole
            numbers.
        Outputs that have several rows for each sentence are lists with an array for each; others
        are arrays. Steps follow the given words: row t of the words of the hypotheses is the word
        that step t reads, -1 in the first one.
        """
        if not isinstance(inputs, Mapping):
            raise TypeError(f"inputs are a dict of arrays, not {type(inputs).__name__}")
        rows = [self._rows(name, value) for name, value in inputs.items()]
        return {
            name: np.split(values, np.cumsum(lengths)[:-1]) if lengths else values
            for name, values, lengths in self._core.run(rows, whole("mini_batch", mini_batch))
        }

    def profile(self) -> list[NodeTime]:
        """Give the time of each node in all runs, the longest first; needs profile=True."""
        times = (NodeTime(*each) for each in self._core.profile())
        return sorted(times, key=lambda node: -node.seconds)

    def _rows(self, name: str, value: Rows) -> tuple[str, np.ndarray, list[int]]:
        expect_text("the name of an input", name)
        kind = self._kinds.get(name, "numbers")
        what = f"input {name!r}"
        if kind == "rows":
            return name, np.empty(0, np.float32), _lengths(what, value)
        array = _words if kind == "words" else _numbers
        if not isinstance(value, (list, tuple)) or not any(map(_has_rows, value)):
            return name, array(what, value), []
        parts = [array(what, part) for part in value]
        shapes = {part.shape[1:] for part in parts}
        if len(shapes) > 1 or not all(part.ndim for part in parts):
            raise Error(
                f"{what} has sentences with rows of several shapes: "
                + ", ".join(str(part.shape) for part in parts[:10])
            )
        return name, np.concatenate(parts), [len(part) for part in parts]


def _has_rows(part: Any) -> bool:
    return isinstance(part, (list, tuple)) or np.ndim(part) > 0


def _array(what: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value, order="C")
    except (ValueError, TypeError) as error:
        raise Error(f"{what} is no array: {error}") from None


def _numbers(what: str, value: Any) -> np.ndarray:
    """Give an array of f32; texts and objects are no numbers, though numpy converts them."""
    array = _array(what, value)
    if array.dtype.kind not in "fiub":
        raise Error(f"{what} has elements of the type {array.dtype}; give numbers")
    return array.astype(np.float32, order="C", copy=False)


def _words(what: str, value: Any) -> np.ndarray:
    """Give an array of ids. Neither 1.7 nor '1' nor True is the word 1."""
    array = _array(what, value)
    given = array.dtype
    if isinstance(value, (list, tuple)) and any(isinstance(x, (bool, np.bool_)) for x in value):
        given = np.dtype(bool)
    if given.kind not in "iu" and array.size > 0:
        raise Error(f"{what} has elements of the type {given}; words are whole numbers")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    return array.astype(np.int64, order="C", copy=False)


def _lengths(what: str, value: Any) -> list[int]:
    lengths = _words(what, value)
    if lengths.ndim != 1:
        raise Error(
            f"{what} has the shape {lengths.shape}; give a number of rows for each sentence"
        )
    most = np.iinfo(np.int32).max
    if lengths.size > 0 and int(lengths.max()) > most:
        raise Error(
            f"{what} has {lengths.max()} rows of a sentence, but at most {most} are possible"
        )
    return lengths.clip(-1).tolist()


def _arrays(weights: Mapping[str, Any]) -> list[tuple[str, np.ndarray]]:
    if not isinstance(weights, Mapping):
        raise TypeError(f"weights are a dict of arrays, not {type(weights).__name__}")
    for name in weights:
        expect_text("the name of a weight", name)
    return [(name, _numbers(f"weight {name!r}", value)) for name, value in weights.items()]
