"""A compiled ticket in a file: the same to the bit, without the ticket and the graph."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

import teddy
from cli.command import run_forked
from conftest import small_graph
from teddy.kernels.layer import SparseWeight
from teddy.models import MODELS
from teddy.ticket import CompiledTicket
from weights.test_declared_units import NormedSAGE, TwoGCN

SETTINGS = {"graph_sparsity": 0.4, "weight_sparsity": 0.6, "epochs": 3}


def roundtrip(compiled, path, **named):
    compiled.save(path)
    again = CompiledTicket.load(path, **named)
    assert repr(again) == repr(compiled)
    assert again.num_weights == compiled.num_weights
    assert again.macs == compiled.macs
    assert torch.equal(again(), compiled())
    again.save(path.with_name("again"))
    assert path.with_name("again").read_bytes() == path.read_bytes()
    return again


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_every_model_gives_the_same_bits(name, dense, tmp_path):
    data = small_graph()
    if dense:
        data.x = data.x + 0.5
    ticket = teddy.find_ticket(data, name, **SETTINGS, hidden_channels=16)
    compiled = ticket.compile(data)
    again = roundtrip(compiled, tmp_path / "a")
    other = torch.rand_like(data.x) * (torch.rand_like(data.x) < (1.0 if dense else 0.3))
    assert torch.equal(again(other), compiled(other))
    assert torch.equal(again(), compiled())


@pytest.mark.parametrize("name", ["gcn", "gat", "gin", "sage"])
def test_units_and_features_that_are_gone_stay_gone(name, tmp_path):
    data = small_graph()
    hidden = {"hidden_channels": 8 if name == "gat" else 128}
    ticket = teddy.find_ticket(
        data, name, 0.4, 0.8, epochs=3, num_layers=3, structure="neurons", **hidden
    )
    for part in ticket.model.feature_weights().outgoing:  # and two features
        part.tensor.data.index_fill_(part.dim, torch.tensor([1, 4]), 0.0)
    compiled = ticket.compile(data)
    again = roundtrip(compiled, tmp_path / "a")
    assert again.num_weights < ticket.info.weights.total
    assert torch.equal(again(data.x + 1), compiled(data.x + 1))


def test_weights_that_are_multiplied_by_their_entries_still_are(tmp_path):
    data = small_graph()
    ticket = teddy.find_ticket(data, "gcn", 0.4, 0.95, epochs=2, hidden_channels=64)
    compiled = ticket.compile(data)
    weights = compiled.model.weights  # whichever was faster, this one is to be sparse
    dense = weights[0].detach() if isinstance(weights[0], torch.Tensor) else None
    if dense is not None:
        delattr(weights, "0")
        setattr(weights, "0", SparseWeight(dense))
    again = roundtrip(compiled, tmp_path / "a")
    assert isinstance(again.model.weights[0], SparseWeight)


def test_links_weights_directions_and_labels(tmp_path):
    links = teddy.split_links(small_graph(nodes=60))
    ticket = teddy.find_ticket(links, "gcn", **SETTINGS, hidden_channels=8, task="link-prediction")
    roundtrip(ticket.compile(links), tmp_path / "links")
    data = small_graph()
    source, target = data.edge_index
    data.edge_weight = 1.0 + (source * 40 + target) % 7
    for name in ("gcn", "gat"):
        ticket = teddy.find_ticket(data, name, **SETTINGS, hidden_channels=8, directed=True)
        roundtrip(ticket.compile(data), tmp_path / name)
    plain = small_graph()
    ticket = teddy.find_ticket(plain, "unimp:label_rate=0.5", **SETTINGS, hidden_channels=8)
    roundtrip(ticket.compile(plain), tmp_path / "unimp")


class Attributed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = pyg.GATConv(12, 3, edge_dim=2)

    def forward(self, x, edge_index, edge_attr):
        return self.conv(x, edge_index, edge_attr)


@pytest.mark.parametrize("make", [TwoGCN, NormedSAGE, Attributed])
def test_your_own_compiled_module_is_saved_and_loaded(make, tmp_path):
    torch.manual_seed(0)
    data = small_graph()
    source, target = data.edge_index
    low, high = torch.minimum(source, target), torch.maximum(source, target)
    data.edge_attr = torch.stack([low * 40 + high, low + high], dim=1) / 100.0
    structure = {} if make is Attributed else {"structure": "neurons"}
    ticket = teddy.find_ticket(data, make(), **SETTINGS, **structure)
    compiled = ticket.compile(data)
    with pytest.raises(
        teddy.InputError, match=rf"your own module \(.*{make.__name__}\), expected that module"
    ):
        roundtrip(compiled, tmp_path / "a")
    for model in (make(), make):
        again = roundtrip(compiled, tmp_path / "a", model=model)
        assert torch.equal(again(data.x + 1), compiled(data.x + 1))
    with pytest.raises(teddy.InputError, match=rf"its model is a {make.__name__} .*, got a Linear"):
        CompiledTicket.load(tmp_path / "a", model=nn.Linear(12, 3))


def test_damaged_or_other_files_raise_a_clear_message(ticket, data, tmp_path):
    path = tmp_path / "a"
    ticket.compile(data).save(path)
    whole = path.read_bytes()
    for wrong in (whole[:-1], whole[:200], b"", whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:]):
        path.write_bytes(wrong)
        with pytest.raises(teddy.InputError, match="not a compiled ticket, or damaged"):
            CompiledTicket.load(path)
    ticket.save(path)
    with pytest.raises(teddy.InputError, match="not a compiled ticket, or damaged"):
        CompiledTicket.load(path)
    with pytest.raises(teddy.InputError, match="no such file"):
        CompiledTicket.load(tmp_path / "none")
    with pytest.raises(teddy.InputError, match="there is no folder"):
        ticket.compile(data).save(tmp_path / "none" / "a")


def test_another_process_needs_neither_ticket_nor_graph(citeseer, tmp_path):
    ticket = teddy.find_ticket(citeseer, "gcn", 0.64, 0.64, epochs=2, structure="neurons")
    compiled = ticket.compile(citeseer)
    compiled.save(tmp_path / "a")
    torch.save(compiled(), tmp_path / "expected.pt")
    program = (
        "import torch; from teddy.ticket import CompiledTicket\n"
        "found = CompiledTicket.load('a')()\n"
        "assert torch.equal(found, torch.load('expected.pt'))"
    )
    done = run_forked(code=program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
