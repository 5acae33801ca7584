"""The models against PyG's own layers with the same weights."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, TransformerConv
from torch_geometric.utils import coalesce, remove_self_loops

import teddy
from conftest import LAYERED, small_graph
from teddy.kernels.sparse import SparseMatrix
from teddy.models import MODELS, build_model
from teddy.models.layered import LayeredGNN

NAMES = LAYERED


def test_layered_models_are_known():
    assert [name for name in MODELS if issubclass(MODELS[name], LayeredGNN)] == list(LAYERED)


def simple(data):
    return coalesce(remove_self_loops(data.edge_index)[0])


def assign(module, name, tensor):
    """Let a layer compute with our tensor itself, so that gradients reach it."""
    del module._parameters[name]
    setattr(module, name, tensor)


def pyg_gcn(model, x, edge_index):
    for layer, weight in enumerate(model.weights):
        conv = GCNConv(*weight.shape, bias=False)
        assign(conv.lin, "weight", weight.t())
        x = conv(x, edge_index)
        x = x if layer == model.num_layers - 1 else x.relu()
    return x


def pyg_gin(model, x, edge_index):
    outputs = []
    for layer, weight in enumerate(model.weights):
        linear = nn.Linear(*weight.shape, bias=False)
        conv = GINConv(linear, train_eps=True)
        assign(linear, "weight", weight.t())
        assign(conv, "eps", model.eps[layer : layer + 1])
        x = conv(x, edge_index).relu()
        last = layer == model.num_layers - 1
        outputs.append(x if last else x @ model.readouts[layer])
    return torch.stack(outputs).mean(dim=0)


def pyg_sage(model, x, edge_index):
    pairs = zip(model.self_weights, model.neighbour_weights, strict=True)
    for layer, (own, neighbour) in enumerate(pairs):
        conv = SAGEConv(*own.shape, bias=False)
        assign(conv.lin_l, "weight", neighbour.t())
        assign(conv.lin_r, "weight", own.t())
        x = conv(x, edge_index)
        x = x if layer == model.num_layers - 1 else x.relu()
    return x


def pyg_gat(model, x, edge_index):
    for layer, weight in enumerate(model.weights):
        heads = model.heads[layer]
        conv = GATConv(weight.size(0), weight.size(1) // heads, heads, bias=False)
        assign(conv.lin, "weight", weight.t())
        assign(conv, "att_src", model.source_attention[layer][None])
        assign(conv, "att_dst", model.target_attention[layer][None])
        x = conv(x, edge_index)
        x = x if layer == model.num_layers - 1 else F.elu(x)
    return x


def pyg_unimp(model, x, edge_index):
    for layer, query in enumerate(model.queries):
        last = layer == model.num_layers - 1
        width = query.size(1) // model.heads
        gated = model.options["gated"]
        conv = TransformerConv(query.size(0), width, model.heads, concat=not last, beta=gated)
        size = query.size(1)
        bias = model.biases[layer]
        biases = {
            "queries": bias[:size],
            "values": bias[size : 2 * size],
            "skips": bias[2 * size :],
        }
        names = {"queries": "query", "keys": "key", "values": "value", "skips": "skip"}
        for ours, theirs in names.items():
            linear = getattr(conv, f"lin_{theirs}")
            assign(linear, "weight", getattr(model, ours)[layer].t())
            assign(linear, "bias", biases.get(ours, torch.zeros_like(query[0])))
        if gated:  # PyG's gate is the share of the residual, too
            assign(conv.lin_beta, "weight", model.gates[layer].t())
        x = conv(x, edge_index)
        x = x if last else model.norms[layer](x).relu()
    return x


PYG = {"unimp": pyg_unimp, "gcn": pyg_gcn, "gin": pyg_gin, "sage": pyg_sage, "gat": pyg_gat}


def make(name, data, layers=2, **options):
    torch.manual_seed(0)
    heads = {"heads": 3} if name in ("gat", "unimp") else {}
    model = build_model(
        name, data.x.size(1), 3, hidden_channels=8, num_layers=layers, **heads, **options
    )
    if name == "gin":
        nn.init.normal_(model.eps)
    for parameter in model.parameters():  # what starts at 0 or 1 is to matter
        if parameter.dim() == 1 and name == "unimp":
            nn.init.normal_(parameter)
    return model


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_logits_are_those_of_pygs_layers(name, layers):
    data = small_graph()
    model = make(name, data, layers).eval()
    expected = PYG[name](model, data.x, simple(data))
    sparse = SparseMatrix.from_tensor(data.x)
    for x in (data.x, data.x.to_sparse_csr(), data.x.to_sparse_coo(), sparse):
        torch.testing.assert_close(model(x, data.edge_index), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_directed_graph_flows_from_source_to_target(name):
    data = small_graph()
    edge_index = coalesce(data.edge_index[:, : data.num_edges // 2])
    edge_index = edge_index[:, edge_index[0] != edge_index[1]]
    model = make(name, data).eval()
    expected = PYG[name](model, data.x, edge_index)
    torch.testing.assert_close(model(data.x, edge_index), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_pygs_layers_in_float64(name, sparse):
    data = small_graph()
    model = make(name, data, 3).eval()
    model(data.x.to_sparse_csr() if sparse else data.x, data.edge_index).square().sum().backward()
    double = make(name, data, 3).double().eval()
    PYG[name](double, data.x.double(), simple(data)).square().sum().backward()
    for ours, theirs in zip(model.parameters(), double.parameters(), strict=True):
        scale = float(theirs.grad.abs().max())
        torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=1e-3, atol=1e-5 * scale)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_against_finite_differences(name):
    data = small_graph(nodes=9, features=5)
    model = make(name, data).double().eval()
    x, adjacency = model.prepare(data.x.double().to_sparse_csr(), data.edge_index)
    parameters = dict(model.named_parameters())

    def logits(*values):
        named = dict(zip(parameters, values, strict=True))
        return torch.func.functional_call(model, named, (x, adjacency))

    values = [p.detach().clone().requires_grad_() for p in parameters.values()]
    assert torch.autograd.gradcheck(logits, values, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_removed_edge_has_no_influence(name):
    data = small_graph()
    model = make(name, data, 1).eval()
    edge_index = simple(data)
    node = int(edge_index[1, 0])
    sources = edge_index[0, edge_index[1] == node]
    without = edge_index[:, ~((edge_index[1] == node) & (edge_index[0] == sources[0]))]
    changed = data.x.clone()
    changed[sources[0]] += 5.0
    assert torch.equal(model(changed, without)[node], model(data.x, without)[node])
    assert not torch.equal(model(changed, edge_index)[node], model(data.x, edge_index)[node])


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_without_edges_works(name):
    data = small_graph()
    model = make(name, data)
    logits = model(data.x, torch.empty(2, 0, dtype=torch.long))
    assert logits.shape == (40, 3)
    assert logits.isfinite().all()
    logits.sum().backward()


@pytest.mark.parametrize("name", NAMES)
def test_duplicates_and_self_loops_in_the_input_change_nothing(name):
    data = small_graph()
    model = make(name, data).eval()
    once = simple(data)
    loops = torch.arange(40).expand(2, 40)
    noisy = torch.cat([once, loops, once], dim=1)
    assert torch.equal(model(data.x, noisy), model(data.x, once))


@pytest.mark.parametrize("name", NAMES)
def test_dropout_acts_in_training_only(name):
    data = small_graph()
    model = make(name, data, dropout=0.5)
    torch.manual_seed(1)
    first, second = (model.train()(data.x, data.edge_index) for _ in range(2))
    assert not torch.equal(first, second)
    first, second = (model.eval()(data.x, data.edge_index) for _ in range(2))
    assert torch.equal(first, second)


def test_the_sizes_are_the_papers():
    sizes = {name: build_model(name, 3703, 6) for name in NAMES}
    counts = {name: sum(p.numel() for p in model.parameters()) for name, model in sizes.items()}
    assert counts["gcn"] == 3703 * 512 + 512 * 6
    assert counts["gin"] == 3703 * 512 + 2 * 512 * 6 + 2
    assert counts["gat"] == 3703 * 512 + 512 * 6 + 2 * 512 + 2 * 6
    assert counts["sage"] == 2 * (3703 * 512 + 512 * 6)
    assert repr(sizes["gcn"]) == "GCN(3703, 6, hidden_channels=512, num_layers=2, dropout=0.5)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_layers": 0}, "num_layers is 0, expected a whole number from 1"),
        ({"hidden_channels": 0}, "hidden_channels is 0"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"heads": 2}, "no option 'heads', expected one of: hidden_channels, num_layers, dropout"),
    ],
)
def test_bad_options_raise_a_clear_message(options, message):
    with pytest.raises(teddy.InputError, match=message):
        build_model("gcn", 4, 2, **options)
