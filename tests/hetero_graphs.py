"""Small heterogeneous graphs: by hand, by a seed, and drawn."""

from __future__ import annotations

import numpy as np
import torch
import torch_geometric.transforms as T
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import SAGEConv, to_hetero

WRITES, REV = ("author", "writes", "paper"), ("paper", "rev_writes", "author")
CITES = ("paper", "cites", "paper")


def library(seed: int = 0, papers: int = 60, classes: int = 3) -> HeteroData:
    """Authors write papers of their own field, at its venues; papers cite each other.

    A paper's features tell its field a little, those of its authors and venue tell more.
    """
    rng = np.random.default_rng(seed)
    authors, venues = papers // 2, 2 * classes
    field = {"paper": rng.integers(0, classes, papers), "author": rng.integers(0, classes, authors)}
    field["venue"] = np.arange(venues) % classes
    field["paper"][:classes] = field["author"][:classes] = range(classes)

    def features(kind: str, width: int, strength: float) -> torch.Tensor:
        x = rng.normal(size=(len(field[kind]), width))
        x[np.arange(len(x)), field[kind]] += strength
        return torch.tensor(x, dtype=torch.float32)

    def friends(kind: str, ends: np.ndarray) -> np.ndarray:
        same = [rng.choice(np.flatnonzero(field[kind] == c)) for c in field["paper"][ends]]
        strangers = rng.integers(0, len(field[kind]), len(ends))
        return np.where(rng.random(len(ends)) < 0.85, same, strangers)

    data = HeteroData()
    data["paper"].x = features("paper", 6, 0.7)
    data["author"].x = features("author", 4, 1.5)
    data["venue"].x = features("venue", classes, 3.0)
    ends = np.arange(papers).repeat(3)
    data[WRITES].edge_index = torch.tensor(np.stack([friends("author", ends), ends]))
    data["paper", "at", "venue"].edge_index = torch.tensor(
        np.stack([np.arange(papers), friends("venue", np.arange(papers))])
    )
    data[CITES].edge_index = torch.tensor(np.stack([ends, friends("paper", ends)]))
    data["paper"].y = torch.tensor(field["paper"])
    part = np.arange(papers) % 3
    for number, name in enumerate(("train_mask", "val_mask", "test_mask")):
        data["paper"][name] = torch.tensor(part == number)
    return T.ToUndirected()(data)


class Layers(nn.Module):
    """Two layers of one kind of node, for ``to_hetero``."""

    def __init__(self, hidden: int = 8, outputs: int = 3, lazy: bool = True) -> None:
        super().__init__()
        self.first = SAGEConv((-1, -1), hidden) if lazy else SAGEConv((4, 4), hidden)
        self.last = SAGEConv((hidden, hidden), outputs)

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)


def hetero_module(data: HeteroData, seed: int = 0) -> nn.Module:
    """Those layers for every type and relation of a graph; lazy ones, as PyG's examples have."""
    torch.manual_seed(seed)
    return to_hetero(Layers(), data.metadata())


@st.composite
def hetero_graphs(draw: st.DrawFn) -> HeteroData:
    """Two types, relations between and within them, parallel ones and reverse ones among them."""
    counts = {"a": draw(st.integers(1, 5)), "b": draw(st.integers(1, 5))}
    data = HeteroData()
    for name, count in counts.items():
        data[name].num_nodes = count
    for kind in (("a", "r", "b"), ("a", "s", "b"), ("a", "t", "a"), ("b", "u", "a")):
        pair = st.tuples(st.integers(0, counts[kind[0]] - 1), st.integers(0, counts[kind[2]] - 1))
        edges = draw(st.lists(pair, max_size=14))
        data[kind].edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    if draw(st.booleans()):
        data["b", "rev_r", "a"].edge_index = data["a", "r", "b"].edge_index.flip(0)
    return data
