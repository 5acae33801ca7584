"""What is left of a network and a graph."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from conftest import edge_lists
from teddy.graph import Edges
from teddy.models import build_model
from teddy.ticket import Count
from teddy.ticket.inspection import DegreeLoss, compare_graphs, layer_counts, parameter_counts


def test_layers_add_up_to_the_network():
    for name in ("gcn", "gat", "gin", "sage", "unimp", "nagphormer", "specformer"):
        model = build_model(name, 5, 3, hidden_channels=8)
        counts = parameter_counts(dict(model.named_parameters()))
        layers = layer_counts(counts)
        assert sum(n.total for n in layers.values()) == sum(p.numel() for p in model.parameters())
        assert sum(n.kept for n in layers.values()) == sum(n.kept for n in counts.values())
    gin = build_model("gin", 5, 3, hidden_channels=8)
    layers = layer_counts(parameter_counts(dict(gin.named_parameters())))
    assert {name: n.total for name, n in layers.items()} == {
        "layer 1": 5 * 8 + 8 * 3, "layer 2": 8 * 3, "eps": 2,
    }  # fmt: skip


def test_modules_within_a_module_are_layers():
    names = ("conv1.lin.weight", "conv1.bias", "convs.0.weight", "convs.1.weight", "scale")
    found = layer_counts(dict.fromkeys(names, Count(2, 1)))
    assert found == {
        "conv1": Count(4, 2), "convs.0": Count(2, 1), "convs.1": Count(2, 1), "scale": Count(2, 1),
    }  # fmt: skip


def test_hubs_and_stranded_nodes_by_hand():
    """Two stars; the first loses all of its edges but one, the second all."""
    pairs = torch.tensor([[0, 0, 0, 0, 5, 5], [1, 2, 3, 4, 6, 7]])
    keep = torch.tensor([True, False, False, False, False, False])
    ids = [f"n{i}" for i in range(9)]
    found = compare_graphs(Edges(9, pairs), keep, torch.zeros(9).long(), ids, first=3)
    assert found.hubs == [DegreeLoss("n0", 4, 1), DegreeLoss("n5", 2, 0), DegreeLoss("n2", 1, 0)]
    assert found.num_stranded == 6
    assert found.stranded == [
        DegreeLoss("n5", 2, 0),
        DegreeLoss("n2", 1, 0),
        DegreeLoss("n3", 1, 0),
    ]
    assert (found.before.edges, found.after.edges) == (6, 1)
    assert (found.before.isolated, found.after.isolated) == (1, 7)
    assert found.after.degree["mean"] == 2 / 9


@given(graph=edge_lists(), data=st.data())
def test_degrees_are_those_of_the_edges(graph, data):
    simple, _ = Edges.from_columns(*graph)
    kept_flags = st.lists(st.booleans(), min_size=simple.num_edges, max_size=simple.num_edges)
    keep = torch.tensor(data.draw(kept_flags), dtype=torch.bool)
    found = compare_graphs(simple, keep, first=99)
    before = [sum(n in p for p in simple.pairs.t().tolist()) for n in range(simple.num_nodes)]
    kept = simple.pairs[:, keep].t().tolist()
    after = [sum(n in p for p in kept) for n in range(simple.num_nodes)]
    lost = sorted(
        (n for n in range(simple.num_nodes) if after[n] < before[n]),
        key=lambda n: (after[n] - before[n], -before[n], n),
    )
    assert found.hubs == [DegreeLoss(n, before[n], after[n]) for n in lost]
    assert found.stranded == [DegreeLoss(n, before[n], 0) for n in lost if after[n] == 0]
    assert found.num_stranded == len(found.stranded)
