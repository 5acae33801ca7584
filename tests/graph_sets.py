"""Sets of small graphs."""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.data import Data

from teddy.data.checks import MASKS


def drawn_graph(rng, most_nodes=9, hub=False):
    """Edges listed once or twice, duplicates and self-loops among them; perhaps none."""
    nodes = int(rng.integers(1, most_nodes + 1))
    edges = torch.from_numpy(rng.integers(0, nodes, (2, int(rng.integers(0, 3 * nodes)))))
    if hub:
        nodes += 90
        leaves = torch.arange(nodes - 90, nodes)
        edges = torch.cat([edges, torch.stack([torch.zeros_like(leaves), leaves])], dim=1)
    if rng.random() < 0.5:
        edges = torch.cat([edges, edges.flip(0)], dim=1)
    return Data(edge_index=edges, num_nodes=nodes, edge_attr=torch.arange(edges.size(1)))


def drawn_graphs(seed, most=8, **settings):
    rng = np.random.default_rng(seed)
    return [drawn_graph(rng, **settings) for _ in range(int(rng.integers(1, most + 1)))]


def rings_and_trees(count=40, seed=0, split="12/4/4"):
    """A class is a ring with chords, the other a tree; features say little of it."""
    rng = np.random.default_rng(seed)
    graphs = []
    for number in range(count):
        nodes, ring = int(rng.integers(5, 11)), number % 2
        order = torch.arange(nodes)
        if ring:
            chords = torch.from_numpy(rng.integers(0, nodes, (2, 3)))
            edges = torch.cat([torch.stack([order, (order + 1) % nodes]), chords], dim=1)
        else:
            parents = [int(rng.integers(0, child)) for child in range(1, nodes)]
            edges = torch.stack([order[1:], torch.tensor(parents)])
        x = torch.from_numpy(rng.random((nodes, 4))).float() + 0.2 * ring
        graphs.append(Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], dim=1), y=ring))
    parts = [int(part) for part in split.split("/")]
    for number, graph in enumerate(graphs):
        place = number // 2 % sum(parts)
        own = np.searchsorted(np.cumsum(parts), place, side="right")
        for index, key in enumerate(MASKS):
            graph[key] = torch.tensor([bool(own == index)])
    return graphs
