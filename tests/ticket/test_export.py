"""What is exported computes what the ticket computes, on any graph."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data

import teddy
from conftest import small_graph
from teddy.graph import Edges
from teddy.ticket import export

MODELS = ("gcn", "gat", "gin", "sage")

GRAPHS = {
    "another graph": (small_graph(seed=5, nodes=23).edge_index, 23),
    "no edges": (torch.empty(2, 0, dtype=torch.long), 6),
    "one edge": (torch.tensor([[1, 3], [3, 1]]), 6),
    "one direction": (torch.tensor([[1], [3]]), 6),
    "one node": (torch.empty(2, 0, dtype=torch.long), 1),
    "self-loops": (torch.tensor([[0, 1, 2, 2], [1, 0, 2, 1]]), 4),
    "a star": (torch.stack([torch.arange(1, 300), torch.zeros(299, dtype=torch.long)]), 300),
}


@pytest.fixture(scope="module", params=MODELS)
def exported(request, tmp_path_factory):
    """A ticket, and both of its files."""
    ticket = teddy.find_ticket(small_graph(), request.param, 0.5, 0.6, epochs=3, hidden_channels=4)
    folder = tmp_path_factory.mktemp("exported")
    for kind in ("onnx", "pt2"):
        ticket.export(folder / f"a.{kind}")
    return ticket, folder


@pytest.fixture(scope="module")
def torch_program(exported):
    return torch.export.load(exported[1] / "a.pt2").module()


@pytest.fixture(scope="module")
def onnx_program(exported):
    return onnx_session(exported[1] / "a.onnx")


def onnx_session(path):
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def run(x, edge_index):
        inputs = {"x": x.numpy(), "edge_index": edge_index.numpy()}
        return torch.from_numpy(session.run(None, inputs)[0])

    run.session = session
    return run


@pytest.mark.parametrize("program", ["torch_program", "onnx_program"])
def test_it_gives_the_tickets_own_logits(exported, program, request):
    ticket, data = exported[0], small_graph()
    found = request.getfixturevalue(program)(data.x, ticket.edge_index(data))
    torch.testing.assert_close(found, ticket.logits(data), rtol=0, atol=1e-4)


@pytest.mark.parametrize("program", ["torch_program", "onnx_program"])
@pytest.mark.parametrize("name", GRAPHS)
def test_it_gives_the_same_on_other_graphs(exported, program, name, request):
    edge_index, num_nodes = GRAPHS[name]
    edge_index = torch.unique(edge_index, dim=1)
    x = torch.randn(num_nodes, 12, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = exported[0].model.eval()(x, edge_index)
    found = request.getfixturevalue(program)(x, edge_index)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_the_onnx_file_names_its_inputs_and_outputs(exported, onnx_program):
    session = onnx_program.session
    inputs = [(i.name, i.shape, i.type) for i in session.get_inputs()]
    assert inputs == [
        ("x", ["nodes", 12], "tensor(float)"),
        ("edge_index", [2, "edges"], "tensor(int64)"),
    ]
    assert [(o.name, o.shape) for o in session.get_outputs()] == [("logits", ["nodes", 3])]


def test_sums_do_not_go_through_an_operation_whose_threads_race(exported):
    """onnxruntime's ScatterND loses additions to one place when it has several threads."""
    import onnx

    nodes = onnx.load(exported[1] / "a.onnx").graph.node
    kinds = {node.op_type for node in nodes}
    assert "ScatterElements" in kinds
    assert "ScatterND" not in kinds


def test_unimp_is_exported_and_leaves_the_model_as_it_was(data, tmp_path):
    ticket = teddy.find_ticket(data, "unimp", 0.5, 0.6, epochs=2, hidden_channels=4)
    before = {name: value.clone() for name, value in ticket.model.state_dict().items()}
    ticket.export(tmp_path / "a.pt2")
    program = torch.export.load(tmp_path / "a.pt2").module()
    found = program(data.x, ticket.edge_index(data))
    torch.testing.assert_close(found, ticket.logits(data), rtol=0, atol=1e-4)
    for name, value in ticket.model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_your_own_module_is_exported_unchanged(data, tmp_path):
    torch.manual_seed(0)
    module = pyg.GraphSAGE(12, 4, num_layers=2, out_channels=3)
    ticket = teddy.find_ticket(data, module, 0.5, 0.6, epochs=2)
    ticket.export(tmp_path / "a.onnx")
    x, edge_index = data.x[:9], torch.tensor([[0, 1, 1, 4], [1, 0, 4, 1]])
    with torch.no_grad():
        expected = ticket.model(x, edge_index)
    found = onnx_session(tmp_path / "a.onnx")(x, edge_index)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


class ByNumber(nn.Module):
    """Knows how many nodes there are."""

    def __init__(self):
        super().__init__()
        self.own, self.linear = nn.Parameter(torch.zeros(40, 3)), nn.Linear(12, 3)

    def forward(self, x, edge_index):
        return self.linear(x) + self.own


class ByEdge(nn.Module):
    """Does something else for each edge."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(12, 3)

    def forward(self, x, edge_index):
        h = self.linear(x)
        return h if int(edge_index.sum()) % 2 else 2 * h


@pytest.mark.filterwarnings("ignore:.*the same logits with half of the edges")
@pytest.mark.parametrize("module", [ByNumber, ByEdge])
def test_a_module_that_cannot_be_exported_raises_a_clear_message(module, data, tmp_path):
    ticket = teddy.find_ticket(data, module(), 0.5, 0.6, epochs=2)
    with pytest.raises(teddy.InputError, match=f"a {module.__name__} can't be exported, expected"):
        ticket.export(tmp_path / "a.pt2")
    assert list(tmp_path.iterdir()) == []


def test_models_without_a_plain_form_raise_a_clear_message(data, tmp_path):
    ticket = teddy.find_ticket(data, "nagphormer", 0.5, 0.6, epochs=2, hidden_channels=8)
    with pytest.raises(teddy.InputError, match="a NAGphormer cannot be exported"):
        ticket.export(tmp_path / "a.onnx")
    assert list(tmp_path.iterdir()) == []


def test_unwritable_files_are_refused_first(ticket, data, tmp_path, monkeypatch):
    with pytest.raises(teddy.InputError, match=r"ends in '.pt', expected .onnx, .pt2 or .parquet"):
        ticket.export(tmp_path / "a.pt")
    with pytest.raises(teddy.InputError, match=r"cannot export to .onnx, expected no data with it"):
        ticket.export(tmp_path / "a.onnx", data)
    with pytest.raises(teddy.InputError, match=r"cannot export to .parquet, expected the ticket"):
        ticket.export(tmp_path / "a.parquet")
    with pytest.raises(teddy.InputError, match="there is no folder"):
        ticket.export(tmp_path / "no" / "a.onnx")
    monkeypatch.setattr(export, "find_spec", lambda name: None if name == "onnx" else name)
    with pytest.raises(teddy.InputError, match=r"needs onnx: pip install 'teddy-glt\[export\]'"):
        ticket.export(tmp_path / "a.onnx")
    assert list(tmp_path.iterdir()) == []


def read_edges(path):
    from pyarrow.parquet import read_table

    return read_table(path).to_pydict()


def test_the_table_has_the_kept_edges(ticket, data, tmp_path):
    ticket.export(tmp_path / "a.parquet", data)
    found = read_edges(tmp_path / "a.parquet")
    graph, _ = Edges.from_columns(data.edge_index, 40)
    assert [found["source"], found["target"]] == graph.pairs[:, ticket.keep].tolist()


def test_the_table_has_names_and_edge_attributes(ticket, data, tmp_path):
    data.node_ids = [f"node {i}" for i in range(40)]
    data.edge_weight = torch.arange(float(data.num_edges))
    data.edge_attr = torch.stack([data.edge_weight, -data.edge_weight], dim=1)
    ticket.export(tmp_path / "a.parquet", data)
    found = read_edges(tmp_path / "a.parquet")
    assert list(found) == ["source", "target", "weight", "edge_attr"]
    columns = data.edge_index.t().tolist()
    for source, target, weight, attributes in zip(*found.values(), strict=True):
        ends = sorted(int(name.split()[1]) for name in (source, target))
        listed = [i for i, column in enumerate(columns) if sorted(column) == ends]
        assert weight == listed[0]
        assert attributes == [weight, -weight]


def test_a_table_without_edges_has_its_columns(data, tmp_path):
    ticket = teddy.find_ticket(data, "gcn", 1.0, 0.6, epochs=2, hidden_channels=4)
    data.node_ids = [f"node {i}" for i in range(40)]
    ticket.export(tmp_path / "a.parquet", data)
    assert read_edges(tmp_path / "a.parquet") == {"source": [], "target": []}


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64, torch.int32])
def test_the_table_has_numbers_of_any_kind(kind, ticket, data, tmp_path):
    data.edge_weight = (data.edge_index.sum(dim=0) / 2).to(kind)
    data.edge_weight.requires_grad_(kind.is_floating_point)
    ticket.export(tmp_path / "a.parquet", data)
    found = read_edges(tmp_path / "a.parquet")
    ends = torch.tensor([found["source"], found["target"]])
    assert found["weight"] == (ends.sum(dim=0) / 2).to(kind).tolist()


def test_complex_numbers_have_no_column(ticket, data, tmp_path):
    data.edge_weight = torch.rand(data.num_edges, dtype=torch.complex64)
    with pytest.raises(teddy.InputError, match="edge_weight is complex64, expected real numbers"):
        ticket.export(tmp_path / "a.parquet", data)
    assert list(tmp_path.iterdir()) == []


def test_another_graph_has_no_table(ticket, tmp_path):
    other = Data(x=torch.ones(3, 12), edge_index=torch.tensor([[0], [1]]))
    with pytest.raises(teddy.InputError, match="the ticket belongs to"):
        ticket.export(tmp_path / "a.parquet", other)
    assert list(tmp_path.iterdir()) == []
