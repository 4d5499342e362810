from __future__ import annotations

import fuselage
import numpy as np
import pytest
import torch
from cases import ARCHITECTURES, for_module, random_inputs
from conftest import ROOT
from fuselage.graph import Graph, architecture
from fuselage.structure import Structure
from fuselage.torch import Module, Padded, linear_scan, register_form

LANGUAGE = sorted((ROOT / "tests" / "data" / "language").glob("*.ir"))


def difference(graph: Graph, weights: dict[str, np.ndarray], dtype: torch.dtype) -> float:
    """The largest difference between a module and the interpreter, in any row of any output."""
    inputs = random_inputs(graph)
    precision = "fp64" if dtype == torch.float64 else "fp32"
    expected = graph.run(inputs, weights, device="reference", precision=precision)
    structure = Structure.of(graph)
    module = Module(graph, weights).to(dtype).eval()
    found = module(for_module(graph, inputs, dtype))
    assert found.keys() == expected.keys()
    largest = 0.0
    for name, reference in expected.items():
        output = found[name]
        domain = structure.domains[structure.values[structure.outputs[name]].domain]
        for sentence, rows in enumerate(reference if isinstance(reference, list) else [reference]):
            if not isinstance(reference, list):
                own = output.values if isinstance(output, Padded) else output
            elif domain.kind == "pairs":
                own = pairs_of(structure, domain, output, sentence, inputs)
            else:
                own = output.values[sentence, : len(rows)]
            error = np.abs(own.detach().numpy().reshape(rows.shape) - rows)
            largest = max(largest, float(error.max(initial=0)))
    return largest


def pairs_of(structure, domain, output, sentence, inputs) -> torch.Tensor:
    """The pairs of a sentence that exist, by left member, then by right member."""
    from fuselage.torch.rows import Rows

    module = Module(Graph.parse('fuselage.graph 1\ngraph "x"\n'))
    rows = Rows(structure, {n: module._padded(v, torch.device("cpu")) for n, v in inputs.items()})
    number = structure.domains.index(domain)
    mask = rows.mask(number)
    left = rows.mask(domain.left)
    values = output.values if isinstance(output, Padded) else output
    axes = len(rows.axes(number))
    mask = mask.expand(values.shape[:axes])
    if left is not None:
        mask = mask & left.reshape(left.shape + (1,) * (axes - left.dim()))
    return values[sentence][mask[sentence]]


def random_weights(graph: Graph) -> dict[str, np.ndarray]:
    random = np.random.default_rng(2)
    shapes = graph.parameters.items()
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_architecture_gives_the_interpreters_numbers(name: str) -> None:
    graph, weights = architecture(*ARCHITECTURES[name])
    assert difference(graph, weights, torch.float32) < 1e-4
    assert difference(graph, weights, torch.float64) < 1e-9


@pytest.mark.parametrize("path", LANGUAGE, ids=lambda path: path.stem)
def test_graph_of_no_architecture_gives_the_interpreters_numbers(path) -> None:
    graph = Graph.parse(path.read_text())
    weights = random_weights(graph)
    assert difference(graph, weights, torch.float32) < 1e-4
    assert difference(graph, weights, torch.float64) < 1e-9


def expect_gradients_of_finite_differences(graph: Graph, weights: dict[str, np.ndarray]) -> None:
    """Compare each parameter's gradient, in a random direction, with a difference of losses."""
    module = Module(graph, weights).double().eval()
    inputs = for_module(graph, random_inputs(graph), torch.float64)

    def loss() -> torch.Tensor:
        generator = torch.Generator().manual_seed(3)
        total = torch.zeros((), dtype=torch.float64)
        for output in module(inputs).values():
            values = output.values if isinstance(output, Padded) else output
            if isinstance(output, Padded):
                exists = torch.arange(values.shape[1]) < output.lengths[:, None]
                values = values[exists]
            factors = torch.rand(values.shape, dtype=torch.float64, generator=generator)
            total = total + (factors * values).sum()
        return total

    loss().backward()
    torch.manual_seed(4)
    step = 1e-6
    for name, parameter in module.named_parameters():
        direction = torch.randn_like(parameter)
        with torch.no_grad():
            parameter += step * direction
            above = loss()
            parameter -= 2 * step * direction
            below = loss()
            parameter += step * direction
        slope = float((above - below) / (2 * step))
        assert float((parameter.grad * direction).sum()) == pytest.approx(
            slope, abs=1e-5, rel=1e-4
        ), name


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_has_the_gradients_of_finite_differences(name: str) -> None:
    expect_gradients_of_finite_differences(*architecture(*ARCHITECTURES[name]))


@pytest.mark.parametrize("path", LANGUAGE, ids=lambda path: path.stem)
def test_a_graph_of_no_architecture_has_the_gradients_of_finite_differences(path) -> None:
    graph = Graph.parse(path.read_text())
    expect_gradients_of_finite_differences(graph, random_weights(graph))


def test_linear_scan_has_the_gradient_of_its_recurrence() -> None:
    torch.manual_seed(1)
    a, b = (torch.rand(2, 5, 3, dtype=torch.double, requires_grad=True) for _ in range(2))
    first = torch.rand(2, 1, 3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(linear_scan, (a, b, first))


def test_both_ways_to_solve_a_recurrence_agree() -> None:
    from fuselage.torch.scan import _solve_by_doubling, _solve_by_steps

    torch.manual_seed(1)
    for steps in range(1, 10):
        a, b = torch.rand(2, 2, steps, 3, dtype=torch.double)
        first = torch.rand(2, 1, 3, dtype=torch.double)
        assert torch.allclose(
            _solve_by_doubling(a, b, first), _solve_by_steps(a, b, first), rtol=1e-12
        )


def test_a_recurrence_is_solved_at_once_and_a_cell_by_steps() -> None:
    from fuselage.torch.plan import Loop, make_plan

    kinds = {}
    for name in ("transformer-ssru", "s2s"):
        structure = Structure.of(architecture(*ARCHITECTURES[name])[0])
        loops = [s for s in make_plan(structure, ["logits"]) if isinstance(s, Loop)]
        kinds[name] = [loop.is_affine(structure) for loop in loops]
    assert kinds["transformer-ssru"] == [True, True]
    assert kinds["s2s"] and not any(kinds["s2s"])


def test_torch_compile_works_without_loops() -> None:
    graph, weights = architecture(*ARCHITECTURES["transformer"])
    module = Module(graph, weights).eval()
    inputs = for_module(graph, random_inputs(graph), torch.float32)
    prepared = {name: module._padded(each, torch.device("cpu")) for name, each in inputs.items()}
    compiled = torch.compile(module)
    with torch.no_grad():
        a = module(prepared, ["logits"])["logits"].values
        b = compiled(prepared, ["logits"])["logits"].values
    assert torch.allclose(a, b, atol=1e-5)


def test_random_weights_have_gains_of_one_and_biases_of_zero() -> None:
    graph, _ = architecture(*ARCHITECTURES["transformer"])
    module = Module(graph, init={"*_Wq": torch.nn.init.ones_})
    weights = module.weights()
    assert np.all(weights["encoder_l1_self_Wo_ln_scale"] == 1)
    assert np.all(weights["encoder_l1_self_bo"] == 0)
    assert np.all(weights["encoder_l1_self_Wq"] == 1)
    assert weights["encoder_l1_self_Wk"].std() > 0.1


def test_dropout_is_for_named_values_in_training_alone() -> None:
    graph, weights = architecture(*ARCHITECTURES["transformer"])
    inputs = for_module(graph, random_inputs(graph), torch.float32)
    module = Module(graph, weights, dropout={"source_embedding": 0.5})

    def scores() -> torch.Tensor:
        return module(inputs, ["logits"])["logits"].values

    assert not torch.equal(scores(), scores())
    module.eval()
    assert torch.equal(scores(), scores())


def test_what_does_not_fit_is_an_error_that_names_it() -> None:
    graph, weights = architecture(*ARCHITECTURES["s2s"])
    with pytest.raises(fuselage.Error, match="no output 'scores'; it has alignment, logits"):
        Module(graph, weights)({}, ["scores"])
    name = next(iter(weights))
    with pytest.raises(fuselage.Error, match=f"'{name}' has the shape"):
        Module(graph, {**weights, name: weights[name][:1]})
    with pytest.raises(fuselage.Error, match=f"missing: .'{name}'"):
        Module(graph, {key: each for key, each in weights.items() if key != name})
    with pytest.raises(fuselage.Error, match="the op 'add' has a form already"):
        register_form("add", lambda context, node, operands: operands[0])
    ranked = Graph.parse(
        'fuselage.graph 1\ngraph "ranked"\n%w = param() {name = "w", dims = [4]}\n'
        "%a, %b = k_best(%w) {k = 2}\nreturn best = %a\n"
    )
    with pytest.raises(fuselage.Error, match="without a torch form: k_best"):
        Module(ranked)({})
