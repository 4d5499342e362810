"""Products of the same rows and attention in one step, and the loss in pieces of rows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cases import ARCHITECTURES, for_module, random_inputs
from fuselage.graph import Graph, architecture
from fuselage.structure import Structure
from fuselage.torch import Module
from fuselage.torch.fusion import Attention, Products, fuse
from fuselage.torch.plan import make_plan
from fuselage.train.validation import cross_entropy
from torch.nn import functional


def steps_of(graph: Graph, dropped: str = "") -> list[object]:
    structure = Structure.of(graph)
    plan = make_plan(structure, ["logits"])
    return list(fuse(plan, structure, ["logits"], lambda name: bool(dropped) and dropped in name))


def test_products_of_the_same_rows_are_one() -> None:
    graph, _ = architecture(*ARCHITECTURES["transformer-ssru"])
    steps = steps_of(graph)
    sizes = [len(step.parts) for step in steps if isinstance(step, Products)]
    assert max(sizes) >= 3  # queries, keys and values
    assert not any(getattr(step, "op", "") == "matmul" for step in steps)
    assert any(isinstance(step, Attention) for step in steps)
    assert not any(getattr(step, "op", "") == "head_dot" for step in steps)


def test_values_with_dropout_are_computed_by_themselves() -> None:
    graph, _ = architecture(*ARCHITECTURES["transformer-ssru"])
    ops = [getattr(step, "op", "") for step in steps_of(graph, "segment_softmax")]
    assert "segment_softmax" in ops
    assert not any(isinstance(step, Attention) for step in steps_of(graph, "segment_softmax"))
    module = Module(graph, dropout={"*segment_softmax*": 0.5})
    inputs = for_module(graph, random_inputs(graph), torch.float32)
    first, second = (module(inputs, ["logits"])["logits"].values for _ in range(2))
    assert not torch.equal(first, second)


def test_products_in_bf16_have_the_gradients_of_float32_nearly() -> None:
    graph, weights = architecture(*ARCHITECTURES["transformer-ssru"])
    inputs = for_module(graph, random_inputs(graph), torch.float32)
    gradients = []
    for is_half in (False, True):
        module = Module(graph, weights)
        with torch.autocast("cpu", torch.bfloat16, enabled=is_half):
            scores = module(inputs, ["logits"])["logits"].values
        torch.log_softmax(scores.float(), -1)[..., 1].sum().backward()
        gradients.append({n: p.grad for n, p in module.named_parameters() if p.grad is not None})
    exact, half = gradients
    assert exact.keys() == half.keys()
    for name in exact:
        error = (exact[name] - half[name]).norm() / exact[name].norm().clamp(min=1e-3)
        assert error < 0.1, name


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_cross_entropy_is_torchs(smoothing: float, dtype: torch.dtype) -> None:
    random = np.random.default_rng(3)
    values = torch.from_numpy(random.normal(size=(7, 29, 31))).to(dtype)
    target = torch.from_numpy(random.integers(0, 31, (7, 29)))
    target[torch.from_numpy(random.random((7, 29)) < 0.2)] = -100
    found, expected = (values.clone().requires_grad_() for _ in range(2))
    loss = cross_entropy(found, target, smoothing)
    wide = expected.to(torch.promote_types(dtype, torch.float32))
    reference = functional.cross_entropy(
        wide.reshape(-1, 31), target.reshape(-1), label_smoothing=smoothing, reduction="sum"
    )
    torch.testing.assert_close(loss, reference)
    (loss / 3).backward()
    (reference / 3).backward()
    torch.testing.assert_close(found.grad, expected.grad)
    again = values.clone().requires_grad_()
    third = cross_entropy(again, target, smoothing, 1 / 3)
    torch.testing.assert_close(third, reference / 3)
    third.backward()
    torch.testing.assert_close(again.grad, expected.grad)
