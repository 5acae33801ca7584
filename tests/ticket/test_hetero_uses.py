"""Tickets of heterogeneous graphs: compiled, saved, exported and timed."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from pyarrow.parquet import read_table
from torch import nn
from torch_geometric import transforms as T
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

import teddy
from cli.command import run_here
from hetero_graphs import CITES, REV, WRITES, hetero_module, library
from methods.test_hetero import ByHand
from teddy.cli.bench import _epoch_times
from teddy.errors import TeddyWarning
from teddy.methods import make_problem
from teddy.settings import Settings
from teddy.ticket import CompiledTicket
from teddy.ticket.speed import measure
from teddy.weights import Part, Units
from ticket.test_compiled import same
from ticket.test_compiled_file import roundtrip

SETTINGS = {"graph_sparsity": 0.5, "weight_sparsity": 0.6, "epochs": 4, "target": "paper"}


class Declared(nn.Module):
    """Two layers of relations that declare their hidden units."""

    HIDDEN = 16

    def __init__(self):
        super().__init__()
        size, hidden = {"author": 4, "paper": 6}, self.HIDDEN
        inputs = {kind: (size[kind[0]], size[kind[2]]) for kind in (WRITES, CITES, REV)}
        self.first = HeteroConv({kind: SAGEConv(own, hidden) for kind, own in inputs.items()})
        self.last = HeteroConv({kind: SAGEConv((hidden, hidden), 3) for kind in (WRITES, CITES)})

    def forward(self, x_dict, edge_index_dict):
        x_dict = {name: h.relu() for name, h in self.first(x_dict, edge_index_dict).items()}
        return self.last(x_dict, edge_index_dict)

    def units(self):
        first, last = self.first.convs, self.last.convs
        return [
            Units(
                first[into[0]].lin_l.weight.size(0),
                tuple(
                    Part(tensor, 0)
                    for kind in into
                    for tensor in (first[kind].lin_l.weight, first[kind].lin_l.bias,
                                   first[kind].lin_r.weight)
                ),
                outgoing,
            )
            for into, outgoing in (
                ([WRITES, CITES], (
                    Part(last[CITES].lin_l.weight, 1), Part(last[CITES].lin_r.weight, 1),
                    Part(last[WRITES].lin_r.weight, 1),
                )),
                ([REV], (Part(last[WRITES].lin_l.weight, 1),)),
            )
        ]  # fmt: skip


class Fixed(Declared):
    """Counts on its number of units."""

    def forward(self, x_dict, edge_index_dict):
        found = self.first(x_dict, edge_index_dict)
        x_dict = {name: h.relu().view(-1, self.HIDDEN) for name, h in found.items()}
        return self.last(x_dict, edge_index_dict)


def find(data, module, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TeddyWarning)  # weights that never reach the output
        return teddy.find_ticket(data, module, **{**SETTINGS, **settings})


def made(kind):
    torch.manual_seed(0)
    return kind()


@pytest.fixture(scope="module")
def data():
    return library()


@pytest.fixture(scope="module")
def ticket(data):
    return find(data, hetero_module(data))


def test_a_compiled_ticket_gives_the_same_logits(data, ticket, tmp_path):
    compiled = ticket.compile(data)
    same(compiled(), ticket.logits(data))
    same(ticket.compile(ticket.apply(data))(), ticket.logits(data))
    with pytest.raises(teddy.InputError, match=r"expected that module: CompiledTicket\.load"):
        roundtrip(compiled, tmp_path / "a")
    again = roundtrip(compiled, tmp_path / "a", model=lambda: copy.deepcopy(ticket.model))
    other = copy.deepcopy(data)
    other["paper"].x, other["author"].x = data["paper"].x * 2, data["author"].x + 1
    for one in (compiled, again):
        same(one(other.x_dict), ticket.logits(other))
        only = {"author": other["author"].x}
        same(one({**only, "paper": other["paper"].x}), ticket.logits(other))
        other_papers = copy.deepcopy(data)
        other_papers["paper"].x = other["paper"].x
        same(one(other["paper"].x), ticket.logits(other_papers))
        same(one(), ticket.logits(data))


def test_features_that_dont_fit_are_refused(data, ticket):
    compiled = ticket.compile(data)
    with pytest.raises(
        teddy.InputError, match="features are of node type 'editor', expected one of: au"
    ):
        compiled({"editor": torch.ones(1, 1)})
    for wrong in (data["paper"].x[1:], {"author": data["author"].x[:, 1:]}):
        with pytest.raises(teddy.InputError, match="as compiled"):
            compiled(wrong)


def test_dead_units_that_are_declared_are_removed(data, tmp_path):
    ticket = find(data, made(Declared), structure="neurons", weight_sparsity=0.7)
    compiled = ticket.compile(data)
    same(compiled(), ticket.logits(data))
    convs = compiled.model.first.convs
    assert convs[WRITES].out_channels == convs[CITES].out_channels < 16
    assert convs[REV].out_channels < 16
    assert compiled.num_weights < 0.5 * ticket.info.weights.total
    roundtrip(compiled, tmp_path / "a", model=Declared)


def test_a_module_that_cant_be_smaller_runs_as_it_is(data):
    ticket = find(data, made(Fixed), structure="neurons", weight_sparsity=0.7)
    with pytest.warns(TeddyWarning, match="dead units are not removed: a Fixed without its dead"):
        compiled = ticket.compile(data)
    same(compiled(), ticket.logits(data))
    assert compiled.num_weights == sum(p.numel() for p in ticket.model.parameters())


def test_weights_of_edges_are_kept(tmp_path):
    data = library()
    for kind in (WRITES, CITES):
        source, target = data[kind].edge_index
        data[kind].edge_weight = 0.5 + (source + 2 * target) % 5
    data[REV].edge_weight = 0.5 + (data[REV].edge_index[1] + 2 * data[REV].edge_index[0]) % 5
    ticket = find(data, made(ByHand))
    compiled = ticket.compile(data)
    same(compiled(), ticket.logits(data))
    roundtrip(compiled, tmp_path / "a", model=ByHand)
    for kind in ("onnx", "pt2"):
        with pytest.raises(
            teddy.InputError, match="was found with edge_weight, expected a ticket with"
        ):
            ticket.export(tmp_path / f"b.{kind}")
    ticket.export(tmp_path / "b.parquet", data)
    rows = read_table(tmp_path / "b.parquet").to_pylist()
    for row in rows:
        source, target = row["source"], row["target"]
        author, paper = (target, source) if "rev" in row["relation"] else (source, target)
        expected = None if "venue" in row["relation"] else 0.5 + (author + 2 * paper) % 5
        assert row["weight"] == expected


def test_passes_are_timed_per_variant(data, ticket):
    dense, graph, weights, compiled = measure(ticket, data, seconds=0.0)
    assert dense.macs == sum(ticket.info.macs.dense) > graph.macs
    assert weights.macs == sum(ticket.info.macs.ticket) == compiled.macs
    with pytest.raises(teddy.InputError, match="already pruned by this ticket"):
        measure(ticket, ticket.apply(data), seconds=0.0)


def inputs_of(ticket, data):
    sparse = ticket.apply(data)
    found = {f"x_{name}": sparse[name].x for name in sparse.node_types}
    found |= {f"edge_index_{'__'.join(k)}": sparse[k].edge_index for k in sparse.edge_types}
    return found


@pytest.mark.parametrize("make", [pytest.param(None, marks=pytest.mark.slow), Declared])
def test_programs_take_any_graph_of_these_types(data, ticket, make, tmp_path):
    import onnxruntime

    if make is not None:
        data = copy.deepcopy(data)
        del data["venue"], data["paper", "at", "venue"], data["venue", "rev_at", "paper"]
        ticket = find(data, made(make), structure="neurons", weight_sparsity=0.7)
    ticket.export(tmp_path / "a.onnx")
    ticket.export(tmp_path / "a.pt2")
    session = onnxruntime.InferenceSession(tmp_path / "a.onnx", providers=["CPUExecutionProvider"])
    program = torch.export.load(tmp_path / "a.pt2").module()
    own = inputs_of(ticket, data)
    shapes = {given.name: given.shape for given in session.get_inputs()}
    assert set(shapes) == set(own)
    assert shapes["x_paper"] == ["nodes_paper", 6]
    assert shapes["edge_index_author__writes__paper"] == [2, "edges_author__writes__paper"]
    assert [o.shape for o in session.get_outputs()] == [["nodes_paper", 3]]
    other = library(seed=4, papers=22)
    others = {name: other[name].x for name in ("author", "paper", "venue")}
    edges = {kind: other[kind].edge_index for kind in other.edge_types}
    edges[CITES] = edges[CITES][:, :0]
    with torch.no_grad():
        expected = ticket.model(others, edges)["paper"]
    new = {f"x_{name}": x for name, x in others.items()}
    new |= {f"edge_index_{'__'.join(kind)}": index for kind, index in edges.items()}
    for given, logits in ((own, ticket.logits(data)), (new, expected)):
        given = {name: given[name] for name in shapes}
        found = torch.from_numpy(session.run(None, {n: v.numpy() for n, v in given.items()})[0])
        torch.testing.assert_close(found, logits, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(program(given), logits, rtol=1e-4, atol=1e-4)
    if make is not None:
        stored = torch.export.load(tmp_path / "a.pt2").state_dict.values()
        assert sum(value.numel() for value in stored) < 0.5 * ticket.info.weights.total


def test_the_command_line_exports_the_network(data, ticket, tmp_path):
    ticket.save(tmp_path / "a.ticket")
    (tmp_path / "mine.py").write_text(
        "from hetero_graphs import hetero_module, library\n"
        "def make(): return hetero_module(library())\n"
    )
    done = run_here("export", "a.ticket", "a.pt2", "--module", "mine.py:make", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a.pt2: logits(x_author, x_paper, x_venue, edge_index_author__writes__pa" in done.stdout


def test_the_table_names_the_relation(tmp_path):
    """Two authors and four papers, by hand."""
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.eye(4), torch.eye(2)
    data["paper"].y, part = torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 2])
    for number, mask in enumerate(("train_mask", "val_mask", "test_mask")):
        data["paper"][mask] = part == number
    data[WRITES].edge_index = torch.tensor([[1, 0, 0], [1, 1, 0]])
    data[CITES].edge_index = torch.tensor([[2], [0]])
    data[CITES].year = torch.tensor([1999])
    data[WRITES].edge_attr = torch.arange(6.0).view(3, 2)
    data = T.ToUndirected(merge=False)(data)
    ticket = find(data, lambda: Tiny(data), graph_sparsity=0.0)
    ticket.export(tmp_path / "a.parquet", data)
    rows = read_table(tmp_path / "a.parquet").to_pylist()
    back = [(r["relation"], r["source"], r["target"], r["edge_attr"], r["year"]) for r in rows]
    writes = [(0, 0, [4.0, 5.0], None), (0, 1, [2.0, 3.0], None), (1, 1, [0.0, 1.0], None)]
    turned = [(0, 0, [4.0, 5.0], None), (1, 0, [2.0, 3.0], None), (1, 1, [0.0, 1.0], None)]
    assert back == [
        *(("author__writes__paper", *row) for row in writes),
        ("paper__cites__paper", 2, 0, None, 1999),
        ("paper__rev_cites__paper", 0, 2, None, 1999),
        *(("paper__rev_writes__author", *row) for row in turned),
    ]
    named = copy.deepcopy(data)
    named["author"].node_ids = ["ann", "bob"]
    ticket.export(tmp_path / "b.parquet", named)
    rows = read_table(tmp_path / "b.parquet").to_pylist()
    assert [(r["source"], r["target"]) for r in rows[:3]] == [
        ("ann", "0"), ("ann", "1"), ("bob", "1")
    ]  # fmt: skip


class Tiny(nn.Module):
    def __init__(self, data):
        super().__init__()
        size = {name: data[name].num_nodes for name in data.node_types}
        self.conv = HeteroConv({k: SAGEConv((size[k[0]], size[k[2]]), 2) for k in data.edge_types})

    def forward(self, x_dict, edge_index_dict):
        return self.conv(x_dict, edge_index_dict)


def test_an_epoch_of_relations_is_timed(data):
    settings = Settings.from_dict({"epochs": 3, "target": "paper"})
    problem = make_problem(data, made(ByHand), settings)
    assert len(_epoch_times(problem)) == 2


def test_another_graph_is_an_error(data, ticket, tmp_path):
    for use in (ticket.compile, lambda other: ticket.export(tmp_path / "a.parquet", other)):
        with pytest.raises(teddy.InputError, match="the ticket belongs to"):
            use(library(seed=3))
    assert list(tmp_path.iterdir()) == []


def test_a_compiled_file_needs_no_ticket(data, tmp_path):
    ticket = find(data, hetero_module(data))
    ticket.compile(data).save(tmp_path / "a")
    again = CompiledTicket.load(tmp_path / "a", model=copy.deepcopy(ticket.model))
    assert repr(again).startswith("CompiledTicket(GraphModule, nodes=60, features=6")
