from __future__ import annotations

import networkx as nx
import numpy as np
import torch
from hypothesis import given

import teddy
from conftest import edge_lists


@given(graph=edge_lists())
def test_health_equals_networkx(graph):
    edge_index, num_nodes = graph
    y = torch.arange(num_nodes) % 3 - 1  # some without a label
    health = teddy.graph_health(edge_index, num_nodes, y)
    reference = nx.Graph([e for e in edge_index.t().tolist() if e[0] != e[1]])
    reference.add_nodes_from(range(num_nodes))
    parts = list(nx.connected_components(reference))
    assert health.edges == reference.number_of_edges()
    assert health.components == len(parts)
    assert health.largest_component == max(map(len, parts))
    assert health.isolated == len(list(nx.isolates(reference)))
    degrees = [d for _, d in reference.degree()]
    assert health.degree["max"] == max(degrees)
    assert health.degree["mean"] == sum(degrees) / num_nodes
    middle = [health.degree[name] for name in ("25%", "50%", "75%")]
    assert middle == np.percentile(degrees, [25, 50, 75]).tolist()
    same = [y[i] == y[j] for i, j in reference.edges if y[i] >= 0 and y[j] >= 0]
    assert health.homophily == (sum(map(int, same)) / len(same) if same else None)


def test_health_of_citeseer(citeseer):
    health = teddy.graph_health(citeseer.edge_index, citeseer.num_nodes, citeseer.y)
    assert (health.components, health.largest_component, health.isolated) == (438, 2120, 48)
