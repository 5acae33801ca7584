"""Tickets of sets of graphs: compiled, saved, exported and timed."""

from __future__ import annotations

import pytest
import torch
from pyarrow.parquet import read_table
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.data import Batch, Data

import teddy
from conftest import LAYERED
from graph_sets import rings_and_trees
from teddy.store.tensors import read_entry
from teddy.ticket import CompiledTicket
from teddy.ticket.speed import measure
from ticket.test_compiled import same
from ticket.test_compiled_file import roundtrip
from weights.test_declared_units import TwoGCN

TASK = "graph-classification"
SETTINGS = {"graph_sparsity": 0.5, "weight_sparsity": 0.6, "epochs": 4}


class Pooled(TwoGCN):
    """Reads graphs out itself."""

    def __init__(self):
        super().__init__(4, 16, 2)

    def forward(self, x, edge_index, batch):
        return pyg.global_mean_pool(super().forward(x, edge_index), batch)


class PooledByLayer(TwoGCN):
    """The same by a layer, and the batch between the others."""

    def __init__(self):
        super().__init__(4, 16, 2)
        self.pool = pyg.MaxAggregation()

    def forward(self, x, batch, edge_index, edge_weight=None):
        h = self.first(x, edge_index, edge_weight).relu()
        return self.pool(self.last(h, edge_index, edge_weight), batch)


class OfNodes(TwoGCN):
    """Gives outputs of nodes."""

    def __init__(self):
        super().__init__(4, 16, 2)


def find(graphs, model="gcn", readout="mean", **settings):
    task = TASK if readout is None else f"{TASK}:readout={readout}"
    options = {"hidden_channels": 8} if isinstance(model, str) else {}
    torch.manual_seed(0)
    model = model if isinstance(model, str) else model()
    return teddy.find_ticket(graphs, model, **{**SETTINGS, **options, "task": task, **settings})


def weighted(graphs):
    for graph in graphs:
        low, high = graph.edge_index.sort(dim=0).values
        graph.edge_weight = 0.5 + (3 * low + high) % 5
    return graphs


@pytest.fixture(scope="module")
def graphs():
    return rings_and_trees()


@pytest.fixture(scope="module")
def new():
    """Graphs that the ticket wasn't found on, fewer of them, one without an edge."""
    graphs = rings_and_trees(count=7, seed=9)
    return [*graphs, Data(x=torch.ones(3, 4), edge_index=torch.empty(2, 0, dtype=torch.long))]


def without_labels(graphs):
    keys = "x", "edge_index", "edge_weight"
    return [Data(**{key: graph[key] for key in keys if key in graph}) for graph in graphs]


@pytest.mark.parametrize("readout", ["mean", "sum", "max"])
@pytest.mark.parametrize("model", LAYERED)
def test_a_compiled_ticket_gives_the_same_logits(graphs, new, model, readout, tmp_path):
    ticket = find(graphs, model, readout)
    for number, some in enumerate((graphs, without_labels(new), new[0])):
        compiled = ticket.compile(some)
        expected = ticket.logits(some)
        same(compiled(), expected)
        batch = some if isinstance(some, Data) else Batch.from_data_list(some)
        same(compiled(batch.x), expected)
        again = roundtrip(compiled, tmp_path / str(number))
        assert torch.equal(again(batch.x + 1), compiled(batch.x + 1))
        other = batch.clone()
        other.x = batch.x + 1
        same(compiled(other.x), ticket.logits(other))


@pytest.mark.parametrize("make", [Pooled, PooledByLayer, OfNodes])
def test_your_own_module_loses_its_dead_units(graphs, new, make, tmp_path):
    ticket = find(graphs, make, "max" if make is OfNodes else None, structure="neurons")
    compiled = ticket.compile(graphs)
    same(compiled(), ticket.logits(graphs))
    assert compiled.model.first.out_channels < 16
    assert compiled.num_weights < ticket.info.weights.total
    roundtrip(compiled, tmp_path / "a", model=make)
    same(ticket.compile(without_labels(new))(), ticket.logits(without_labels(new)))


def test_compiled_tickets_keep_edge_weights(tmp_path):
    graphs = weighted(rings_and_trees())
    for model in ("gcn", PooledByLayer):
        ticket = find(graphs, model, None)
        compiled = ticket.compile(graphs)
        same(compiled(), ticket.logits(graphs))
        named = {} if model == "gcn" else {"model": model}
        roundtrip(compiled, tmp_path / "a", **named)


def test_old_files_keep_their_format(graphs, tmp_path):
    find(graphs).compile(graphs).save(tmp_path / "graphs")
    assert read_entry(tmp_path / "graphs").metadata["format"] == 2
    path = torch.tensor([[0, 1], [1, 0]])
    CompiledTicket(teddy.models.GCN(3, 2), torch.ones(2, 3), path).save(tmp_path / "nodes")
    metadata = read_entry(tmp_path / "nodes").metadata
    assert metadata["format"] == 1
    assert not {"readout", "target", "graph_of_node"} & set(metadata)


def test_other_nodes_are_refused(graphs):
    compiled = find(graphs).compile(graphs)
    with pytest.raises(teddy.InputError, match="as compiled"):
        compiled(torch.ones(3, 4))
    with pytest.raises(teddy.InputError, match="features are a dict, expected a tensor"):
        compiled({"paper": torch.ones(3, 4)})


@pytest.mark.parametrize("make", ["gcn", Pooled])
def test_passes_are_timed_per_variant(graphs, make):
    ticket = find(graphs, make, None)
    dense, fewer, weights, compiled = measure(ticket, graphs, seconds=0.0)
    assert dense.macs == sum(ticket.info.macs.dense)
    assert weights.macs == sum(ticket.info.macs.ticket)
    assert dense.macs > fewer.macs > weights.macs >= compiled.macs
    with pytest.raises(teddy.InputError, match="already pruned by this ticket"):
        measure(ticket, ticket.apply(graphs), seconds=0.0)


def test_kept_edges_of_a_set(graphs):
    ticket = find(graphs)
    sparse = ticket.apply(graphs)
    assert torch.equal(ticket.edge_index(graphs), sparse.edge_index)
    assert torch.equal(ticket.fields(graphs)["edge_index"], sparse.edge_index)
    graph, keep = ticket.prune(graphs)
    assert torch.equal(graph.subset(keep).edge_index, sparse.edge_index)


def onnx_session(path):
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def run(*inputs):
        names = [given.name for given in session.get_inputs()]
        named = {name: value.numpy() for name, value in zip(names, inputs, strict=True)}
        return torch.from_numpy(session.run(None, named)[0])

    run.session = session
    return run


def check_programs(ticket, several, folder):
    """Both programs give the ticket's logits on all of these sets of graphs."""
    ticket.export(folder / "a.onnx")
    ticket.export(folder / "a.pt2")
    onnx = onnx_session(folder / "a.onnx")
    for program in (onnx, torch.export.load(folder / "a.pt2").module()):
        for some in several:
            sparse = ticket.apply(some)
            inputs = sparse.x, sparse.edge_index, sparse.batch
            weights = (sparse.edge_weight,) if "edge_weight" in sparse else ()
            found = program(*inputs, *weights)
            torch.testing.assert_close(found, ticket.logits(some), rtol=1e-4, atol=1e-4)
    return onnx.session


@pytest.mark.parametrize(
    ("model", "readout"),
    [
        ("gin", "sum"),
        ("gat", "max"),
        pytest.param("gcn", "mean", marks=pytest.mark.slow),
        pytest.param("sage", "max", marks=pytest.mark.slow),
    ],
)
def test_programs_take_any_graphs(graphs, new, model, readout, tmp_path):
    ticket = find(graphs, model, readout, structure="neurons", hidden_channels=16)
    session = check_programs(ticket, [graphs, without_labels(new), new[:1]], tmp_path)
    assert [(i.name, i.shape) for i in session.get_inputs()] == [
        ("x", ["nodes", 4]), ("edge_index", [2, "edges"]), ("batch", ["nodes"])
    ]  # fmt: skip
    assert [(o.name, o.shape) for o in session.get_outputs()] == [("logits", ["graphs", 2])]
    stored = torch.export.load(tmp_path / "a.pt2").state_dict.values()
    assert sum(value.numel() for value in stored) < ticket.info.weights.total


@pytest.mark.parametrize(
    "make",
    [Pooled, *(pytest.param(make, marks=pytest.mark.slow) for make in (PooledByLayer, OfNodes))],
)
def test_programs_of_your_own_module(graphs, new, make, tmp_path):
    ticket = find(graphs, make, None, structure="neurons")
    check_programs(ticket, [graphs, without_labels(new), new[:1]], tmp_path)


@pytest.mark.parametrize("model", ["gcn", pytest.param(PooledByLayer, marks=pytest.mark.slow)])
def test_programs_with_weights(model, tmp_path):
    graphs, new = (weighted(rings_and_trees(seed=seed)) for seed in (0, 5))
    session = check_programs(find(graphs, model, None), [graphs, new[:9]], tmp_path)
    names = [given.name for given in session.get_inputs()]
    assert names == ["x", "edge_index", "batch", "edge_weight"]


def test_unsupported_modules_raise_a_clear_message(graphs, tmp_path):
    class Branching(Pooled):
        """Does something else for each set of graphs."""

        def forward(self, x, edge_index, batch):
            found = super().forward(x, edge_index, batch)
            return found if int(batch.sum()) % 2 else 2 * found

    ticket = find(graphs, Branching, None)
    with pytest.raises(teddy.InputError, match="a Branching can't be exported, expected one"):
        ticket.export(tmp_path / "a.onnx")
    bonds = [graph.clone() for graph in graphs]
    for graph in bonds:
        graph.edge_attr = torch.ones(graph.num_edges, 1)
    ticket = find(bonds, Bonded, None)
    with pytest.raises(
        teddy.InputError, match=r"found with edge_attr, expected a ticket without it for"
    ):
        ticket.export(tmp_path / "a.pt2")
    assert list(tmp_path.iterdir()) == []


class Bonded(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = pyg.GATConv(4, 2, edge_dim=1)

    def forward(self, x, edge_index, edge_attr):
        return self.conv(x, edge_index, edge_attr)


def test_the_table_names_the_graph(tmp_path):
    """A triangle with a tail, and a path, by hand."""
    tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
    path = torch.tensor([[2, 1], [1, 0]])
    graphs = [
        Data(x=torch.eye(4), edge_index=tail, y=0, edge_attr=torch.arange(4.0).view(4, 1)),
        Data(x=torch.eye(4)[:3], edge_index=path, y=1, edge_attr=torch.arange(4.0, 6).view(2, 1)),
    ]
    split = list(range(12)), list(range(12, 16)), list(range(16, 20))
    data = teddy.graph_set(graphs * 10, split=split)
    ticket = find(data, "gcn", graph_sparsity=0.5, hidden_channels=4)
    ticket.export(tmp_path / "a.parquet", graphs)
    # Scores are highest between nodes of low degree; hashes decide between equal ones.
    kept = [graph.edge_index for graph in teddy.SparsifyEdges(0.5)(graphs)]
    found = read_table(tmp_path / "a.parquet").to_pydict()
    assert list(found) == ["graph", "source", "target", "edge_attr"]
    rows = list(zip(found["graph"], found["source"], found["target"], strict=True))
    expected = [
        (number, *sorted(edge)) for number, some in enumerate(kept) for edge in some.t().tolist()
    ]
    assert rows == sorted(expected)
    assert len(rows) == 3
    values = {(0, 0, 1): 0, (0, 0, 2): 1, (0, 1, 2): 2, (0, 2, 3): 3, (1, 1, 2): 4, (1, 0, 1): 5}
    assert found["edge_attr"] == [[float(values[row])] for row in rows]
    bare = [Data(x=torch.eye(4), edge_index=torch.empty(2, 0, dtype=torch.long))]
    ticket.export(tmp_path / "b.parquet", bare)
    empty = read_table(tmp_path / "b.parquet")
    assert empty.num_rows == 0
    assert {str(kind) for kind in empty.schema.types} == {"int64"}
