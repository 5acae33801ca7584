"""Mini-batches of a heterogeneous graph, as PyG's loaders sample them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.data.features import take_rows
from teddy.errors import InputError
from teddy.graph.groups import EdgeType
from teddy.graph.surroundings import Surroundings
from teddy.training.batch_checks import check_edges, check_nodes, check_values, num_seeds
from teddy.training.loaders import Batch
from teddy.training.subgraphs import take


def hetero_to_load(data: Data) -> HeteroData:
    """A heterogeneous graph as loaders take it: on the CPU, every node type with ``n_id``.

    Args:
        data: ``x``, ``y`` and masks of the nodes that are predicted; their surroundings as
            ``edge_index``.

    Raises:
        InputError: if a type of nodes has no features: a module can't tell which ones a batch has.
    """
    around: Surroundings = data.edge_index
    graph = HeteroData()
    types = {name: {"x": x.cpu()} for name, x in around.x_dict.items()}
    types[around.target] = _fields(data)
    for name in sorted({end for kind in around.edge_index_dict for end in kind[::2]} - set(types)):
        raise InputError(
            f"nodes of type '{name}' have no x, expected one for a loader, such as their numbers"
        )
    for name, values in types.items():
        size = data.x.size(0) if name == around.target else values["x"].size(0)
        for key, value in {**values, "n_id": torch.arange(size), "num_nodes": size}.items():
            graph[name][key] = value
    for kind, edge_index in around.edge_index_dict.items():
        graph[kind].edge_index = edge_index.cpu()
        for name, value in _values(around, kind).items():
            graph[kind][name] = value.cpu()
            graph[kind].edge_id = torch.arange(edge_index.size(1))
    return graph


def as_hetero_batch(found: Any, data: Data) -> Batch:
    """Read a part of a heterogeneous graph that a loader gave, or raise.

    The first ``batch_size`` nodes of the type that is predicted are learned from.
    """
    if not isinstance(found, HeteroData):
        raise InputError(f"the loader gave a {type(found).__name__}, expected a HeteroData")
    around: Surroundings = data.edge_index
    features = {around.target: data.x, **around.x_dict}
    nodes = {name: check_nodes(found[name], x.size(0)) for name, x in features.items()}
    given = {
        name: check_values(found[name], "x", ids.numel())
        for name, ids in nodes.items()
        if found[name].get("x") is not None
    }
    edges: dict[EdgeType, Tensor] = {}
    columns: dict[EdgeType, Tensor] = {}
    values: dict[str, dict[EdgeType, Tensor]] = {name: {} for name in around.of_edges}
    for kind, whole in around.edge_index_dict.items():
        store = found[kind]
        edges[kind] = check_edges(store, nodes[kind[0]].numel(), nodes[kind[2]].numel())
        for name in _values(around, kind):
            if store.get(name) is not None:
                values[name][kind] = check_values(store, name, edges[kind].size(1))
            else:
                columns[kind] = check_nodes(store, whole.size(1), "edge_id")
                check_values(store, "edge_id", edges[kind].size(1))

    def make() -> Data:
        x = {
            name: given[name] if name in given else take_rows(whole, nodes[name].to(whole.device))
            for name, whole in features.items()
        }
        own = {
            name: {
                kind: values[name][kind] if kind in values[name] else take(value, columns[kind])
                for kind, value in of.items()
            }
            for name, of in around.of_edges.items()
        }
        target = x.pop(around.target)
        return Data(x=target, edge_index=Surroundings(x, edges, own, target=around.target))

    target = nodes[around.target]
    return Batch(target[: num_seeds(found[around.target], target)], make)


def _values(around: Surroundings, kind: EdgeType) -> dict[str, Tensor]:
    """Values of the edges of a relation by name."""
    return {name: of[kind] for name, of in around.of_edges.items() if kind in of}


def _fields(data: Data) -> dict[str, Tensor]:
    """Features, unless they are sparse, targets and masks of the nodes that are predicted."""
    names = ("x", "y", "train_mask", "val_mask", "test_mask")
    return {n: data[n].cpu() for n in names if n in data and data[n].layout == torch.strided}
