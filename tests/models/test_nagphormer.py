"""NAGphormer against its equations in NumPy."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from conftest import edge_lists, small_graph
from models.nagphormer_reference import forms, make, reference
from teddy.kernels.sparse import SparseMatrix
from teddy.models import nagphormer
from teddy.models.macs import count_macs
from teddy.models.nagphormer import Hops, NAGphormer, hop_tokens


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("hops", [0, 1, 3])
@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_logits_are_those_of_the_equations(form, count, hops, layers, heads):
    data = small_graph()
    x = forms(data.x.double())[form]
    model = make(positions=count, hops=hops, num_layers=layers, heads=heads)
    kind = torch.Tensor if form == "dense" else SparseMatrix
    assert isinstance(model.prepare(x, data.edge_index)[0], kind)
    expected = reference(model, x, data.edge_index)
    torch.testing.assert_close(model(x, data.edge_index), expected, rtol=1e-8, atol=1e-8)
    model = model.float()
    single = model(x.float(), data.edge_index)
    torch.testing.assert_close(single.double(), expected, rtol=1e-3, atol=1e-4)


def test_a_directed_graph_flows_from_source_to_target():
    x = torch.rand(3, 12, dtype=torch.float64)
    edge_index, model = torch.tensor([[0, 1], [1, 2]]), make()
    expected = reference(model, x, edge_index)
    torch.testing.assert_close(model(x, edge_index), expected, rtol=1e-8, atol=1e-8)
    changed = x.clone()
    changed[2] += 1.0
    assert torch.equal(model(changed, edge_index)[:2], model(x, edge_index)[:2])


def test_projection_first_is_tokens_first():
    data = small_graph()
    x, model = data.x.double(), make()
    sparse, structure = model.prepare(x.to_sparse_csr(), data.edge_index)
    whole = torch.cat([x, structure.positions], dim=1)
    tokens = hop_tokens(structure.adjacency, whole, 3)
    assert tokens.shape == (40, 4, 15)
    torch.testing.assert_close(
        model.stem(sparse, structure), model.stem(tokens, structure), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_gradient_reaches_every_parameter(form):
    data = small_graph()
    model = make(num_layers=2).train()
    model(forms(data.x.double())[form], data.edge_index).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.abs().max() > 0, name
    alone = make(hops=0)
    alone(data.x.double(), data.edge_index).square().sum().backward()
    assert all(parameter.grad is not None for parameter in alone.parameters())


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_gradients_against_finite_differences(form):
    data = small_graph(nodes=6, features=4)
    model = make(4, hidden_channels=4)
    x, structure = model.prepare(forms(data.x.double())[form], data.edge_index)
    parameters = dict(model.named_parameters())

    def logits(*values):
        named = dict(zip(parameters, values, strict=True))
        return torch.func.functional_call(model, named, (x, structure))

    values = [p.detach().clone().requires_grad_() for p in parameters.values()]
    assert torch.autograd.gradcheck(logits, values, atol=1e-6)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_removed_edge_has_no_influence(form):
    path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    without = path[:, [0, 1, 4, 5]]
    x = torch.eye(4, 12, dtype=torch.float64)
    changed = x.clone()
    changed[2] *= 5.0
    x, changed, model = forms(x)[form], forms(changed)[form], make()
    assert torch.equal(model(changed, without)[:2], model(x, without)[:2])
    assert not torch.allclose(model(changed, path)[:2], model(x, path)[:2])


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_node_without_edges_keeps_its_features_in_every_token(form):
    x = forms(torch.eye(3, dtype=torch.float64))[form]
    model = make(3, positions=9)
    prepared, structure = model.prepare(x, torch.tensor([[0, 1], [1, 0]]))
    tokens = model.stem(prepared, structure)[2]
    torch.testing.assert_close(tokens, tokens[:1].expand(4, 8))


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(
    ("nodes", "edges"),
    [(1, []), (2, [(0, 1)]), (5, []), (3, [(0, 1), (1, 2)])],
    ids=["a lone node", "one edge", "no edges", "a path"],
)
def test_graphs_smaller_than_hops_and_positions(nodes, edges, form):
    edge_index = torch.tensor([*edges, *[(b, a) for a, b in edges]], dtype=torch.long)
    edge_index = edge_index.reshape(-1, 2).t()
    x = forms(torch.eye(nodes, 12, dtype=torch.float64))[form]
    model = make(hops=6, positions=7)
    logits = model(x, edge_index)
    expected = reference(model, x, edge_index)
    torch.testing.assert_close(logits, expected, rtol=1e-8, atol=1e-8)
    logits.sum().backward()


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_rows_of_some_nodes_are_those_of_all(form):
    data = small_graph()
    model, nodes = make(num_layers=2), torch.tensor([7, 3, 39, 3])
    x, structure = model.prepare(forms(data.x.double())[form], data.edge_index)
    whole = model.head(model.stem(x, structure), structure)
    some = model.head(model.stem(x, structure, nodes), structure)
    torch.testing.assert_close(some, whole[nodes], rtol=1e-12, atol=1e-12)


def test_chunks_are_the_whole(monkeypatch):
    data = small_graph()
    model, sizes = make(), []
    whole = model(data.x.double(), data.edge_index)
    model.norm.register_forward_hook(lambda _, inputs, output: sizes.append(len(output)))
    monkeypatch.setattr(nagphormer, "_CHUNK", 16)
    with torch.no_grad():
        chunks = model(data.x.double(), data.edge_index)
    torch.testing.assert_close(chunks, whole, rtol=1e-12, atol=1e-12)
    assert sizes == [16, 16, 8]


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_prepared_features_pass_through(form):
    data = small_graph()
    model = make()
    x, structure = model.prepare(forms(data.x.double())[form], data.edge_index)
    again = model.prepare(x, structure)
    assert again[0] is x
    assert again[1] is structure
    assert torch.equal(model(x, structure), model(*again))
    # Tokens of few non-zeros, of features that became dense, stay tokens.
    zeros = torch.zeros(40, 4, 15, dtype=torch.float64)
    assert model.prepare(zeros, structure)[0] is zeros


def test_tokens_by_hand():
    model = NAGphormer(1, 2, hidden_channels=2, heads=1, hops=2, positions=0)
    x, structure = model.prepare(torch.tensor([[1.0], [3.0]]), torch.tensor([[0, 1], [1, 0]]))
    torch.testing.assert_close(x[:, :, 0], torch.tensor([[1.0, 2.0, 2.0], [3.0, 2.0, 2.0]]))
    assert isinstance(structure, Hops)
    assert structure.positions.shape == (2, 0)


def test_tokens_that_dont_fit_are_refused(monkeypatch):
    data = small_graph()
    # 40 nodes, 12 features and 3 positions, 4 tokens and two products
    need = 6 * 40 * 15 * 8
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=need))
    make(positions=0)(data.x.double() + 1, data.edge_index)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=need - 1))
    x, adjacency = torch.ones(40, 15).double(), SparseMatrix.from_tensor(torch.eye(40).double())
    expected = r"^the tokens of 40 nodes and 3 hops need 0\.0 GiB of memory, .* use fewer hops$"
    with pytest.raises(teddy.InputError, match=expected):
        hop_tokens(adjacency, x, 3)
    hop_tokens(adjacency, x, 2)


def test_dropout_acts_in_training_only():
    data = small_graph()
    model = make().train()
    first, second = (model(data.x.double(), data.edge_index) for _ in range(2))
    assert not torch.equal(first, second)
    model.eval()
    first, second = (model(data.x.double(), data.edge_index) for _ in range(2))
    assert torch.equal(first, second)
    for x in (data.x.double(), data.x.double().to_sparse_csr()):  # of tokens, and of features
        x, structure = model.train().prepare(x, data.edge_index)
        assert not torch.equal(model.stem(x, structure), model.stem(x, structure))


def test_a_seed_gives_the_same_weights():
    models = []
    for _ in range(2):
        torch.manual_seed(3)
        models.append(NAGphormer(5, 2))
    torch.manual_seed(3)
    models[0].reset_parameters()
    torch.manual_seed(3)
    models[1].reset_parameters()
    for a, b in zip(*(model.parameters() for model in models), strict=True):
        assert torch.equal(a, b)
    assert "hops=7, positions=0" in repr(models[0])


def test_multiply_accumulates_by_hand():
    # Three nodes on a path (7 entries with loops), 3 stored features; 2 hops: 9 tokens.
    x = torch.tensor([[1.0, 0, 0, 2], [0, 0, 0, 0], [0, 3.0, 0, 0]])
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    model = NAGphormer(4, 2, hidden_channels=6, heads=2, hops=2, positions=1, num_layers=2)
    layer = 9 * (6 * 18 + 6 * 6 + 2 * 6 * 12) + 2 * 9 * 3 * 6
    readout = 3 * 6 + 6 * 6 + 6 * 6 + 3 * (6 * 3 + 3 * 2)
    sparse = 3 * 6 + 3 * 6 + 2 * 7 * 6
    assert count_macs(model, x.to_sparse_csr(), edges) == [sparse, layer, layer, readout]
    tokens = 9 * 5 * 6 + 2 * 7 * 5
    assert count_macs(model, x + 1, edges) == [tokens, layer, layer, readout]
    with torch.no_grad():
        model.project.weight[:, 0] = 0  # meets one entry of X
        model.layers[0].merge.weight[0] = 0
        model.attention.weight[0, 6:] = 0
        model.classify.weight[0] = 0
    expected = [sparse - 6, layer - 9 * 6, layer, readout - 6 * 6 - 3 * 3]
    assert count_macs(model, x.to_sparse_csr(), edges) == expected
    assert len(count_macs(NAGphormer(4, 2, hops=0), x, edges)) == 3


@given(edge_lists(), st.integers(0, 2**32 - 1), st.booleans())
def test_a_permutation_of_nodes_permutes_the_logits(graph, seed, sparse):
    edge_index, nodes = graph
    draw = torch.Generator().manual_seed(seed)
    x = torch.rand(nodes, 4, dtype=torch.float64, generator=draw)
    order = torch.randperm(nodes, generator=draw)
    place = torch.argsort(order)
    model = make(4, positions=0)
    moved, stayed = (h.to_sparse_csr() if sparse else h for h in (x[order], x))
    logits = model(moved, place[edge_index])
    torch.testing.assert_close(logits, model(stayed, edge_index)[order], rtol=1e-9, atol=1e-9)


@given(edge_lists(), st.integers(0, 6))
def test_any_graph_gives_finite_logits(graph, hops):
    edge_index, nodes = graph
    logits = make(4, hops=hops, positions=5)(torch.ones(nodes, 4).double(), edge_index)
    assert logits.shape == (nodes, 3)
    assert logits.isfinite().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"hidden_channels": 10, "heads": 4},
            "hidden_channels is 10, expected a multiple of heads, 4",
        ),
        ({"heads": 0}, "heads is 0, expected a whole number from 1"),
        ({"num_layers": 0}, "num_layers is 0, expected a whole number from 1"),
        ({"hops": -1}, "hops is -1, expected a whole number from 0"),
        ({"positions": 0.5}, "positions is 0.5, expected a whole number from 0"),
        ({"dropout": 1.0}, "dropout is 1.0, expected 0 or more and below 1"),
    ],
)
def test_bad_options_raise_a_clear_message(options, message):
    with pytest.raises(teddy.InputError, match=message) as error:
        NAGphormer(4, 2, **options)
    assert "\n" not in str(error.value)
