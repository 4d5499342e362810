"""A graph as a module of PyTorch."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from fuselage import Error
from fuselage.structure import Node, Structure
from fuselage.torch.evaluation import Evaluation
from fuselage.torch.forms import form_of
from fuselage.torch.fusion import Fused, fuse
from fuselage.torch.plan import Step, make_plan
from fuselage.torch.rows import Padded, Rows

if TYPE_CHECKING:
    from fuselage.graph import Graph

Init = Callable[[Tensor], Any]

_BUILT_IN = {"param", "input", "constant", "state", "next", "collect", "history"}


class Module(nn.Module):
    """Executes a graph on padded batches, with teacher forcing, differentiably.

    Parameters have the names of the graph's; a dot in a name becomes a slash. Without weights they
    are drawn at random: matrices and tables by Glorot's uniform distribution, gains of
    normalizations are 1, other vectors 0.
    """

    def __init__(
        self,
        graph: Graph | Structure,
        weights: Mapping[str, np.ndarray] | None = None,
        *,
        dropout: Mapping[str, float] | None = None,
        init: Mapping[str, Init] | None = None,
    ) -> None:
        """Make the module.

        weights: an array for each parameter of the graph.
        dropout: for patterns of names of values, such as "*_embedding", the share of elements that
            are set to 0 in training mode; the first pattern that matches counts.
        init: for patterns of names of parameters, a function that fills a tensor, such as
            torch.nn.init.xavier_normal_.
        Raises Error for weights that do not fit, and for an op without a torch form.
        """
        super().__init__()
        self.structure = graph if isinstance(graph, Structure) else Structure.of(graph)
        self.dropout = dict(dropout or {})
        self._plans: dict[tuple[str, ...], list[Step | Fused]] = {}
        for name, tensor in self._initial(weights, init or {}).items():
            self.register_parameter(_key(name), nn.Parameter(tensor))

    def forward(
        self,
        inputs: Mapping[str, Padded | Tensor | Sequence[Any]],
        outputs: Iterable[str] | None = None,
    ) -> dict[str, Padded | Tensor]:
        """Compute outputs for a batch; all of the graph's by default.

        inputs: for each word map and each declared input its rows: Padded, a tensor for a domain
            with a row for each sentence, or a list with the rows of each sentence. Row t of the
            words of the hypotheses is the word that step t reads, -1 in the first one.
        Outputs of tokens and steps are Padded. Raises Error for inputs that do not fit.
        """
        names = tuple(self.structure.outputs if outputs is None else outputs)
        if names not in self._plans:
            plan = self._checked(make_plan(self.structure, names))
            self._plans[names] = fuse(plan, self.structure, names, self._is_dropped)
        first = next(self.parameters(), None)
        device = torch.device("cpu") if first is None else first.device
        rows = Rows(self.structure, {n: self._padded(each, device) for n, each in inputs.items()})
        evaluation = Evaluation(self.structure, rows, self.parameters_by_name(), self._change)
        evaluation.run(self._plans[names])
        return {name: self._output(evaluation, self.structure.outputs[name]) for name in names}

    def parameters_by_name(self) -> dict[str, nn.Parameter]:
        """Give the parameters by the graph's names."""
        return {_name(key): parameter for key, parameter in self.named_parameters()}

    def weights(self) -> dict[str, np.ndarray]:
        """Give the parameters as float32 arrays, for Graph.compile() and Graph.save()."""
        return {
            name: tensor.detach().float().cpu().numpy()
            for name, tensor in self.parameters_by_name().items()
        }

    # --- Parameters ---

    def _initial(
        self, weights: Mapping[str, np.ndarray] | None, init: Mapping[str, Init]
    ) -> dict[str, Tensor]:
        shapes = self.structure.parameters
        if weights is None:
            gains = self._gains()
            return {
                name: self._drawn(name, shape, name in gains, init)
                for name, shape in shapes.items()
            }
        missing = sorted(shapes.keys() - weights.keys())
        unknown = sorted(weights.keys() - shapes.keys())
        if missing or unknown:
            raise Error(f"torch: weights are missing: {missing}; not of the graph: {unknown}")
        tensors = {}
        for name, shape in shapes.items():
            array = np.asarray(weights[name])
            if tuple(array.shape) != shape:
                raise Error(f"torch: weight '{name}' has the shape {array.shape}, expected {shape}")
            tensors[name] = torch.from_numpy(np.array(array)).to(torch.get_default_dtype())
        return tensors

    @staticmethod
    def _drawn(
        name: str, shape: tuple[int, ...], is_gain: bool, init: Mapping[str, Init]
    ) -> Tensor:
        tensor = torch.empty(shape)
        for pattern, fill in init.items():
            if fnmatch.fnmatchcase(name, pattern):
                fill(tensor)
                return tensor
        if is_gain:
            return tensor.fill_(1)
        is_vector = tensor.dim() < 2 or min(shape) == 1
        return tensor.zero_() if is_vector else nn.init.xavier_uniform_(tensor)

    def _gains(self) -> set[str]:
        """Names of the parameters that are gains of normalizations."""
        gains = set()
        for node in self.structure.nodes:
            if node.op not in ("layer_norm", "rms_norm"):
                continue
            producer = self.structure.producers[node.operands[1]]
            while producer.op in ("reshape", "slice"):
                producer = self.structure.producers[producer.operands[0]]
            if producer.op == "param":
                gains.add(producer.attributes["name"])
        return gains

    # --- Batches ---

    def _padded(self, given: Any, device: torch.device) -> Padded | Tensor:
        if isinstance(given, Padded):
            return Padded(given.values.to(device), given.lengths.to(device))
        if isinstance(given, Tensor):
            return given.to(device)
        parts = [torch.as_tensor(np.asarray(part)) for part in given]
        if all(part.dim() == 0 for part in parts):
            return torch.stack(parts).to(device)
        lengths = torch.tensor([len(part) for part in parts])
        is_word = not parts[0].is_floating_point()
        padded = nn.utils.rnn.pad_sequence(
            parts, batch_first=True, padding_value=-1 if is_word else 0
        )
        if not is_word:
            first = next(self.parameters(), None)
            padded = padded.to(torch.get_default_dtype() if first is None else first.dtype)
        return Padded(padded.to(device), lengths.to(device))

    def _output(self, evaluation: Evaluation, value: int) -> Padded | Tensor:
        domain = self.structure.values[value].domain
        tensor = evaluation.values[value]
        axes = evaluation.rows.axes(domain)
        sizes = tuple(evaluation.rows.size(axis) for axis in axes)
        tensor = tensor.expand(sizes + tuple(tensor.shape[len(axes) :]))
        lengths = evaluation.rows.lengths.get(axes[-1].domain) if len(axes) > 1 else None
        return tensor if lengths is None else Padded(tensor, lengths)

    def _change(self, name: str, tensor: Tensor) -> Tensor:
        if not self.training:
            return tensor
        for pattern, share in self.dropout.items():
            if fnmatch.fnmatchcase(name, pattern):
                return nn.functional.dropout(tensor, share)
        return tensor

    def _is_dropped(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.dropout)

    def _checked(self, plan: list[Step]) -> list[Step]:
        without = []
        for step in plan:
            for node in [step] if isinstance(step, Node) else step.nodes:
                rounds = node.op == "history" and node.attributes.get("to", "f32") != "f32"
                if rounds or (node.op not in _BUILT_IN and form_of(node) is None):
                    without.append(self.structure.describe(node))
        if without:
            raise Error(
                f"torch: ops without a torch form: {', '.join(without)}; give them one with "
                "register_form, or the graph before the passes that made them"
            )
        return plan


def _key(name: str) -> str:
    return name.replace(".", "/")


def _name(key: str) -> str:
    return key.replace("/", ".")
