"""A ticket recognises a graph that it has pruned: whole or pruned, nothing is pruned twice."""

from __future__ import annotations

import copy
import json

import pytest
import torch
from torch_geometric.data import Data

import teddy
from cli.command import refused, run_here
from conftest import small_graph
from graph_sets import rings_and_trees
from teddy.errors import TeddyWarning
from teddy.graph import Edges
from training.modules import Own

TINY = {"epochs": 2, "hidden_channels": 8}


def test_the_graph_it_was_tested_on_needs_no_mark():
    data = small_graph(nodes=60)
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, **TINY, inductive=True)
    bare = Data(x=data.x, edge_index=ticket.apply(data).edge_index)
    assert torch.equal(ticket.logits(bare), ticket.logits(data))


def grown_graph(data):
    """With one more edge."""
    more = copy.copy(data)
    more.edge_index = torch.cat([data.edge_index, torch.tensor([[0], [59]])], dim=1)
    return more


def without_an_edge(data):
    """With one edge less."""
    source, target = data.edge_index
    first = int((source < target).nonzero()[0])
    ends = source[first], target[first]
    gone = ((source == ends[0]) & (target == ends[1])) | ((source == ends[1]) & (target == ends[0]))
    less = copy.copy(data)
    less.edge_index = data.edge_index[:, ~gone]
    return less


def test_an_inductive_ticket_never_prunes_twice():
    data = small_graph(nodes=60)
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, **TINY, inductive=True)
    other = teddy.find_ticket(data, "gcn", 0.3, 0.5, **TINY, inductive=True)
    sparse = ticket.apply(grown_graph(data))
    message = "pruned by another ticket, or has changed since"
    changed = without_an_edge(sparse)
    for used, graph in ((ticket, changed), (other, sparse), (other, ticket.apply(data))):
        for use in (used.predict, used.apply, used.compile, used.edge_index):
            with pytest.raises(teddy.InputError, match=message):
                use(graph)
    # A ticket that is found on a pruned graph takes it.
    second = teddy.find_ticket(ticket.apply(data), "gcn", 0.5, 0.5, **TINY, inductive=True)
    assert second.evaluate(ticket.apply(data))["test"] == second.info.ticket.test


def test_a_pruned_graph_is_not_transferred():
    data = small_graph(nodes=60)
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, **TINY)
    sparse = ticket.apply(data)
    bare = Data(x=data.x, edge_index=sparse.edge_index)
    for rule in ("scored", "training", "none"):
        original = data if rule == "training" else None
        for pruned in (sparse, bare):
            with pytest.raises(teddy.InputError, match="expected the whole graph, or no transfer"):
                ticket.transfer(pruned, rule, original)
    # Of a pruned graph that has changed, the ticket would prune the kept edges again.
    changed = grown_graph(sparse)
    with pytest.raises(teddy.InputError, match="or has changed since"):
        ticket.predict(changed)
    with pytest.raises(teddy.InputError, match="or has changed since"):
        ticket.transfer(changed)
    there = ticket.transfer(changed, "none")
    assert there.info.edges.kept == ticket.info.edges.kept + 1
    assert there.predict(changed).shape == (60,)
    # Removed edges would be taken for new ones.
    with pytest.raises(teddy.InputError, match="expected the whole graph"):
        ticket.transfer(grown_graph(data), "training", original=sparse)
    there = ticket.transfer(grown_graph(data))
    assert torch.equal(
        there.logits(there.apply(grown_graph(data))), there.logits(grown_graph(data))
    )


def test_a_file_of_before_needs_the_whole_graph(tmp_path):
    data, without = small_graph(), small_graph()
    without.edge_index = data.edge_index[:, data.edge_index[0] != data.edge_index[1]]
    ticket = teddy.find_ticket(without, Own(), 0.5, 0.5, epochs=2)
    bare = Data(x=data.x, edge_index=ticket.apply(without).edge_index)
    assert torch.equal(ticket.logits(bare), ticket.logits(without))
    with pytest.raises(teddy.InputError, match=r"got another graph .* edges and 8 self-loops"):
        ticket.logits(data)
    for key in ("kept_fingerprint", "self_loops"):
        del ticket.info.graph[key]
    ticket.save(tmp_path / "a.ticket")
    old = teddy.Ticket.load(tmp_path / "a.ticket", Own())
    with pytest.raises(teddy.InputError, match="got another graph"):
        old.logits(bare)
    assert torch.equal(old.logits(data), old.logits(without))
    assert torch.equal(old.apply(data).edge_index, old.apply(without).edge_index)


@pytest.mark.parametrize("inductive", [False, True])
def test_the_command_line_takes_the_pruned_graph(inductive, tmp_path):
    data = small_graph(nodes=60)
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, **TINY, inductive=inductive)
    ticket.save(tmp_path / "a.ticket")
    whole = grown_graph(data) if inductive else data
    torch.save(whole, tmp_path / "whole.pt")
    torch.save(ticket.apply(whole), tmp_path / "pruned.pt")
    found = {}
    for name in ("whole", "pruned"):
        output = run_here("predict", "a.ticket", f"{name}.pt", "--json", cwd=tmp_path)
        found[name] = json.loads(output.stdout)
    assert found["pruned"] == found["whole"]
    if inductive:
        return
    words = "predict", "a.ticket", "pruned.pt", "--changed", "scored"
    assert "expected the whole graph, or no transfer" in refused(run_here(*words, cwd=tmp_path))
    for command in ("inspect", "bench"):
        done = run_here(command, "a.ticket", "pruned.pt", cwd=tmp_path)
        assert "expected the whole graph" in refused(done)


def test_the_command_line_distinguishes_pruned_graphs(tmp_path):
    graphs = rings_and_trees()
    ticket = teddy.find_ticket(graphs, "gcn", 0.5, 0.5, **TINY, task="graph-classification")
    ticket.save(tmp_path / "a.ticket")
    found = {}
    for name, asked in {"whole": graphs, "pruned": ticket.apply(graphs).to_data_list()}.items():
        torch.save(asked, tmp_path / f"{name}.pt")
        done = run_here("predict", "a.ticket", f"{name}.pt", "--json", cwd=tmp_path)
        found[name] = json.loads(done.stdout)
    assert found["pruned"] == found["whole"]
    done = run_here("inspect", "a.ticket", "pruned.pt", cwd=tmp_path)
    assert "expected the whole graph" in refused(done)


OWN_FILE = """
from torch import nn
from torch_geometric.nn import GCNConv
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GCNConv(12, 3, normalize=False, add_self_loops=False)
    def forward(self, x, edge_index):
        return self.conv(x, edge_index)
"""


def test_the_command_line_keeps_self_loops_for_a_module(tmp_path):
    (tmp_path / "own.py").write_text(OWN_FILE)
    data, names = small_graph(), {}
    exec(OWN_FILE, names)
    ticket = teddy.find_ticket(data, names["Own"](), 0.5, 0.5, epochs=2)
    ticket.save(tmp_path / "a.ticket")
    torch.save(data, tmp_path / "whole.pt")
    torch.save(ticket.apply(data), tmp_path / "pruned.pt")
    for name in ("whole", "pruned"):
        words = "predict", "a.ticket", f"{name}.pt", "--module", "own.py:Own", "--json"
        found = json.loads(run_here(*words, cwd=tmp_path).stdout)
        assert [int(row[1]) for row in found["predictions"]] == ticket.predict(data).tolist()


def test_a_piece_of_a_graph_is_warned_of(recwarn):
    data = small_graph(nodes=60)
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, **TINY, inductive=True)
    recwarn.clear()
    ticket.predict(data)
    ticket.predict(ticket.apply(data))
    ticket.predict(grown_graph(data))
    assert not recwarn.list
    piece = data.subgraph(torch.arange(50))
    with pytest.warns(TeddyWarning, match="have 50 nodes, the ticket was tested on 60"):
        ticket.predict(piece)
    sampled = grown_graph(data)
    sampled.n_id = torch.arange(60)
    with pytest.warns(TeddyWarning, match="have n_id, like batches of PyG's loaders"):
        ticket.predict(sampled)


def test_the_command_line_takes_the_table_of_kept_edges(tmp_path):
    """What is exported is enough to predict: kept edges and nodes, in tables."""
    data = small_graph()
    names = [f"n{i}" for i in range(40)]
    pairs = Edges.from_columns(data.edge_index, 40)[0].pairs.t().tolist()
    lines = ["source,target", *(f"{names[a]},{names[b]}" for a, b in pairs)]
    (tmp_path / "edges.csv").write_text("\n".join(lines) + "\n")
    heading = ",".join(["id", "label", *(f"f{i}" for i in range(12))])
    rows = [
        ",".join([name, f"c{y}", *map(str, x)])
        for name, y, x in zip(names, data.y.tolist(), data.x.tolist(), strict=True)
    ]
    (tmp_path / "nodes.csv").write_text("\n".join([heading, *rows]) + "\n")
    graph = teddy.load_dataset(
        tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv", split="50/25/25"
    )
    ticket = teddy.find_ticket(graph, "gcn", 0.5, 0.5, **TINY)
    ticket.save(tmp_path / "a.ticket")
    ticket.export(tmp_path / "kept.parquet", graph)
    tables = {}
    for table in ("edges.csv", "kept.parquet"):
        words = "predict", "a.ticket", table, "--nodes", "nodes.csv"
        tables[table] = run_here(*words, cwd=tmp_path).stdout
    assert tables["edges.csv"].count("\n") == 41
    assert tables["kept.parquet"] == tables["edges.csv"]
