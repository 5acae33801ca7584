"""The graph that ``apply`` returns is the one that the network runs on."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, GraphSAGE, global_mean_pool

import teddy
from conftest import small_graph
from graph_sets import rings_and_trees
from hetero_graphs import CITES, hetero_module, library
from methods.test_hetero import ByHand
from methods.test_own import Edged, own_graph
from teddy.data.checks import MASKS
from teddy.graph import Edges
from teddy.tasks.heads import LinkHead, Readout
from ticket.test_pruned import without_an_edge
from training.modules import Own

LISTINGS = ("as it is", "once", "both", "duplicates", "self-loops", "shuffled")
TINY = {"epochs": 2, "hidden_channels": 8}


def columns_of(edge_index, how, directed):
    """Columns that list the same graph in another way, and which are to be turned round."""
    columns = torch.arange(edge_index.size(1))
    keep = torch.zeros_like(columns)
    if how == "once" and not directed:
        columns = columns[edge_index[0] <= edge_index[1]]
    elif how == "both" and not directed:
        keep = torch.cat([keep, keep + 1])
        columns = columns.repeat(2)
    elif how == "duplicates":
        columns = torch.cat([columns, columns[::3], columns])
    elif how == "shuffled":
        columns = columns[torch.randperm(columns.numel(), generator=torch.manual_seed(3))]
    turned = keep.bool() if keep.numel() == columns.numel() else torch.zeros_like(columns).bool()
    return columns, turned


def listed(data, how, directed=False):
    """The same graph, listed in another way, with what belongs to its edges."""
    again = copy.copy(data)
    columns, turned = columns_of(data.edge_index, how, directed)
    edge_index = data.edge_index[:, columns]
    again.edge_index = torch.where(turned, edge_index.flip(0), edge_index)
    for name in ("edge_weight", "edge_attr", "edge_time"):
        if name in data:
            again[name] = data[name][columns]
    if how == "self-loops":  # which models of ours don't take
        loops = torch.arange(data.num_nodes)[::2].repeat(2, 1)
        again.edge_index = torch.cat([again.edge_index, loops], dim=1)
        for name in ("edge_weight", "edge_attr", "edge_time"):
            if name in data:
                again[name] = torch.cat([again[name], again[name][: loops.size(1)] + 1])
    return again


def timed(data):
    """With a value of each edge that no model takes."""
    source, target = data.edge_index
    data.edge_time = 100 * torch.minimum(source, target) + torch.maximum(source, target)
    return data


def run(ticket, sparse):
    """The network on what ``apply`` returned, by hand."""
    names = ticket.info.graph["edge_inputs"]
    model = ticket.model.eval()
    with torch.no_grad():
        outputs = model(sparse.x, sparse.edge_index, **{name: sparse[name] for name in names})
    return outputs if ticket.info.links is None else LinkHead(sparse.edge_label_index)(outputs)


def check(ticket, data, path, model=None):
    """The network on the applied graph, and the ticket on the whole and on that, are one."""
    expected, sparse = ticket.logits(data), ticket.apply(data)
    torch.testing.assert_close(run(ticket, sparse), expected, rtol=1e-4, atol=1e-5)
    ticket.save(path)
    for used in (ticket, teddy.Ticket.load(path, model)):
        assert torch.equal(used.logits(sparse), expected)
        assert torch.equal(used.predict(sparse), used.predict(data))
        torch.testing.assert_close(used.compile(sparse)(), expected, rtol=1e-4, atol=1e-5)
        for name, value in used.fields(data).items():
            assert torch.equal(value, used.fields(sparse)[name])
            assert torch.equal(value, sparse[name])
        assert torch.equal(used.edge_index(sparse), sparse.edge_index)
        again = used.apply(sparse)
        assert torch.equal(again.edge_index, sparse.edge_index)
        if "y" in data or ticket.info.links is not None:
            assert used.evaluate(sparse) == used.evaluate(data)
    assert sparse.num_nodes == data.num_nodes
    for key in ("x", "y", *MASKS):
        if key in data and ticket.info.links is None:
            assert sparse[key] is data[key]
    if "edge_time" in data:
        low, high = sparse.edge_index.sort(dim=0).values
        loop = low == high
        assert torch.equal(sparse.edge_time[~loop], (100 * low + high)[~loop])
    return sparse


@pytest.mark.parametrize("how", LISTINGS)
@pytest.mark.parametrize("kind", ["gcn", "gat", "weighted", "directed", "nagphormer"])
def test_apply_returns_the_input_of_a_built_in_model(kind, how, tmp_path):
    directed = kind == "directed"
    data = timed(own_graph(directed, "edge_weight" if kind in ("weighted", "directed") else "none"))
    name = kind if kind in ("gat", "nagphormer") else "gcn"
    ticket = teddy.find_ticket(data, name, 0.4, 0.5, **TINY, directed=directed)
    sparse = check(ticket, listed(data, how, directed), tmp_path / "a.ticket")
    graph, _ = Edges.from_columns(sparse.edge_index, 40)
    assert graph.num_edges == ticket.info.edges.kept
    if not directed:
        assert sparse.num_edges == 2 * graph.num_edges


@pytest.mark.parametrize("how", [how for how in LISTINGS if how != "self-loops"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("loops", [False, True])
def test_apply_returns_the_input_of_your_own_module(directed, loops, how, tmp_path):
    data = timed(own_graph(directed, "both"))
    if loops:
        data = listed(data, "self-loops")
    ticket = teddy.find_ticket(data, Edged(), 0.4, 0.5, epochs=2, directed=directed)
    sparse = check(ticket, listed(data, how, directed), tmp_path / "a.ticket", Edged())
    assert ticket.info.edges.total == Edges.from_columns(data.edge_index, 40)[0].num_edges
    assert int((sparse.edge_index[0] == sparse.edge_index[1]).sum()) == (20 if loops else 0)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("how", LISTINGS)
def test_apply_returns_the_input_of_link_prediction(how, own, tmp_path):
    links = teddy.split_links(small_graph(nodes=60), 0.2, 0.2, seed=4)
    model, options = (Own(), {}) if own else ("gcn", {"hidden_channels": 8, "dimensions": 6})
    ticket = teddy.find_ticket(links, model, 0.3, 0.3, epochs=2, task="link-prediction", **options)
    again = links if own and how == "self-loops" else listed(links, how)
    sparse = check(ticket, again, tmp_path / "a.ticket", Own() if own else None)
    for key in ("edge_label_index", "edge_label", *MASKS):
        assert torch.equal(sparse[key], links[key])


@pytest.mark.parametrize("rule", ["scored", "training", "none"])
@pytest.mark.parametrize("how", LISTINGS)
def test_apply_returns_the_input_of_an_inductive_ticket(how, rule, tmp_path):
    data = small_graph(nodes=60)
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, **TINY, inductive=True, inference=rule)
    check(ticket, listed(data, how), tmp_path / "a.ticket")
    grown = copy.copy(data)
    grown.edge_index = torch.cat([data.edge_index, torch.tensor([[60, 60], [0, 7]])], dim=1)
    for key in ("x", "y", *MASKS):
        grown[key] = torch.cat([data[key], data[key][:1] if key in "xy" else torch.tensor([False])])
    check(ticket, listed(grown, how), tmp_path / "a.ticket")


def test_columns_are_where_the_network_expects_them():
    data = small_graph()
    data.feature_names = [f"f{i}" for i in range(12)]
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, **TINY)
    turned = copy.copy(data)
    turned.x, turned.feature_names = data.x.flip(1), data.feature_names[::-1]
    sparse = ticket.apply(turned)
    torch.testing.assert_close(run(ticket, sparse), ticket.logits(data))
    assert torch.equal(ticket.logits(sparse), ticket.logits(data))


def test_sparse_features_stay_sparse(citeseer):
    ticket = teddy.find_ticket(citeseer, "gcn", 0.5, 0.5, **TINY)
    sparse = ticket.apply(citeseer)
    assert sparse.x is citeseer.x
    torch.testing.assert_close(run(ticket, sparse), ticket.logits(citeseer), rtol=1e-4, atol=1e-5)


def test_features_are_as_your_own_module_takes_them(citeseer):
    torch.manual_seed(0)
    ticket = teddy.find_ticket(
        citeseer, GraphSAGE(3703, 4, num_layers=2, out_channels=6), 0.5, 0.5, epochs=1
    )
    assert citeseer.x.layout != torch.strided  # which PyG's SAGE can't take
    torch.testing.assert_close(run(ticket, ticket.apply(citeseer)), ticket.logits(citeseer))
    data = own_graph(kind="both")
    double = teddy.find_ticket(data, Edged().double(), 0.5, 0.5, epochs=1)
    sparse = double.apply(data)
    assert sparse.x.dtype == sparse.edge_weight.dtype == sparse.edge_attr.dtype == torch.float64
    torch.testing.assert_close(run(double, sparse), double.logits(data))


def relisted(data, how):
    """A heterogeneous graph, its relations listed in another way."""
    again = copy.copy(data)
    for kind in data.edge_types:
        columns = torch.arange(data[kind].num_edges)
        if how == "duplicates":
            columns = torch.cat([columns, columns[::2]])
        elif how == "shuffled":
            columns = columns[torch.randperm(columns.numel(), generator=torch.manual_seed(3))]
        for name in ("edge_index", "edge_weight", "edge_time"):
            if name in data[kind]:
                value = data[kind][name]
                again[kind][name] = value[..., columns]
    return again


@pytest.mark.parametrize("how", ["as it is", "duplicates", "shuffled"])
@pytest.mark.parametrize("weighted", [False, True])
def test_apply_returns_the_input_of_a_heterogeneous_module(weighted, how, tmp_path):
    data = library()
    loops = torch.tensor([[3, 8], [3, 8]])
    data[CITES].edge_index = torch.cat([data[CITES].edge_index, loops], dim=1)
    for kind in data.edge_types:
        source, target = data[kind].edge_index
        data[kind].edge_time = 100 * source + target
        if weighted:
            data[kind].edge_weight = 1.0 + (source + target) % 7
    torch.manual_seed(0)
    module = ByHand() if weighted else hetero_module(data)
    ticket = teddy.find_ticket(data, module, 0.5, 0.5, epochs=2, target="paper")
    again = relisted(data, how)
    expected, sparse = ticket.logits(data), ticket.apply(again)
    weights = {"edge_weight_dict": sparse.edge_weight_dict} if weighted else {}
    with torch.no_grad():
        outputs = ticket.model(sparse.x_dict, sparse.edge_index_dict, **weights)
    outputs = outputs if weighted else outputs["paper"]
    torch.testing.assert_close(outputs, expected, rtol=1e-4, atol=1e-5)
    ticket.save(tmp_path / "a.ticket")
    for used in (ticket, teddy.Ticket.load(tmp_path / "a.ticket", module)):
        assert torch.equal(used.logits(sparse), expected)
        assert used.evaluate(sparse) == used.evaluate(data)
        twice = used.apply(sparse)
        assert all(twice[k].edge_index.equal(sparse[k].edge_index) for k in data.edge_types)
    for kind in data.edge_types:
        source, target = sparse[kind].edge_index
        assert torch.equal(sparse[kind].edge_time, 100 * source + target)
    assert {(3, 3), (8, 8)} <= {tuple(edge) for edge in sparse[CITES].edge_index.t().tolist()}
    changed = copy.copy(sparse)
    changed[CITES].edge_index = sparse[CITES].edge_index[:, 1:]
    if weighted:
        changed[CITES].edge_weight = sparse[CITES].edge_weight[1:]
    with pytest.raises(teddy.InputError, match="pruned by another ticket, or has changed"):
        ticket.logits(changed)


class OfGraphs(nn.Module):
    """Logits of graphs; self-loops are seen."""

    def __init__(self):
        super().__init__()
        self.conv = GCNConv(4, 2, add_self_loops=False)

    def forward(self, x, edge_index, batch):
        return global_mean_pool(self.conv(x, edge_index), batch)


def graphs_with_loops(seed=0):
    graphs = rings_and_trees(seed=seed)
    for graph in graphs:
        graph.edge_index = torch.cat([graph.edge_index, torch.tensor([[1, 1], [1, 1]])], dim=1)
        graph.edge_time = torch.arange(graph.edge_index.size(1))
    return graphs


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("new", [False, True])
def test_apply_returns_the_input_of_graph_classification(own, new, tmp_path):
    graphs = graphs_with_loops()
    torch.manual_seed(0)
    ticket = teddy.find_ticket(
        graphs, OfGraphs() if own else "gcn", 0.5, 0.5, epochs=2, task="graph-classification"
    )
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", OfGraphs() if own else None)
    asked = graphs_with_loops(seed=5) if new else graphs
    expected, sparse = ticket.logits(asked), ticket.apply(asked)
    with torch.no_grad():
        if own:
            outputs = ticket.model(sparse.x, sparse.edge_index, sparse.batch)
        else:
            outputs = Readout("mean")(ticket.model(sparse.x, sparse.edge_index), sparse.batch)
    torch.testing.assert_close(outputs, expected, rtol=1e-4, atol=1e-5)
    loops = sparse.edge_index[0] == sparse.edge_index[1]
    assert int(loops.sum()) == (40 + count_other_loops(asked) if own else 0)
    parts = sparse.to_data_list()
    anew = Batch.from_data_list(parts)
    (loaded,) = DataLoader(parts, batch_size=40)
    for used in (ticket, again):
        for pruned in (sparse, parts, anew, loaded):
            assert torch.equal(used.logits(pruned), expected)
            assert torch.equal(used.apply(pruned).edge_index, sparse.edge_index)
        torch.testing.assert_close(used.logits(parts[3]), expected[3:4])
        torch.testing.assert_close(used.logits(parts[5:9]), expected[5:9])
        assert used.evaluate(sparse) == used.evaluate(asked)
    mixed = [parts[0], asked[1]]
    with pytest.raises(teddy.InputError, match=r"graphs\[1\]: pruned_by is missing"):
        ticket.predict(mixed)
    parts[2] = without_an_edge(parts[2])
    with pytest.raises(teddy.InputError, match="or has changed since"):
        ticket.predict(parts[:3])


def count_other_loops(graphs):
    loops = (graph.edge_index[:, graph.edge_index[0] == graph.edge_index[1]] for graph in graphs)
    return sum(len(set(own[0].tolist()) - {1}) for own in loops)


def test_a_batch_keeps_values_of_edges():
    batch = Batch.from_data_list(graphs_with_loops())
    ticket = teddy.find_ticket(batch, "gcn", 0.5, 0.5, **TINY, task="graph-classification")
    for graph, pruned in zip(batch.to_data_list(), ticket.apply(batch).to_data_list(), strict=True):
        assert torch.equal(graph.edge_index[:, pruned.edge_time], pruned.edge_index)
