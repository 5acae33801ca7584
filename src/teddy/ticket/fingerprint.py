"""Which graph, and which split of it, a ticket belongs to."""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.edges import Arcs, HeteroArcs, SimpleGraph


def graph_fingerprint(graph: SimpleGraph) -> str:
    """Return the sha256 of the number of nodes and the canonical edges.

    It doesn't depend on how the edges were listed.

    Example:
        >>> import torch
        >>> once, _ = SimpleGraph.of(torch.tensor([[0, 1], [1, 2]]))
        >>> twice, _ = SimpleGraph.of(torch.tensor([[2, 1, 1, 0], [1, 2, 0, 1]]))
        >>> graph_fingerprint(once) == graph_fingerprint(twice)
        True
    """
    digest = hashlib.sha256(f"{graph.num_nodes} nodes, {graph.num_edges} edges\n".encode())
    digest.update(_bytes(graph.pairs))
    return digest.hexdigest()


def arcs_fingerprint(arcs: Arcs, keep: Tensor | None = None) -> str:
    """Return the fingerprint of the undirected graph; of a directed one, with the directions.

    Of a heterogeneous graph: of its types with their nodes, and its relations with their arcs.
    Self-loops that the model sees are part of it.

    Weights and attributes of edges may change, as features may.

    Args:
        arcs: The graph.
        keep: bool ``[M]``: of the graph with these edges only; None: all.

    Example:
        >>> import torch
        >>> there = Arcs.of(torch.tensor([[0], [1]]), directed=True)
        >>> back = Arcs.of(torch.tensor([[1], [0]]), directed=True)
        >>> arcs_fingerprint(there) == arcs_fingerprint(back)
        False
    """
    if isinstance(arcs, HeteroArcs):
        digest = hashlib.sha256(f"hetero {sorted(arcs.relations.nodes.items())}\n".encode())
        for kind, index in arcs.fields(keep)["edge_index"].edge_index_dict.items():
            digest.update(f"{kind} {index.size(1)}\n".encode())
            digest.update(_bytes(index))
        return digest.hexdigest()
    graph, loops = arcs.graph, arcs.self_loops
    if keep is not None:
        graph = SimpleGraph(graph.num_nodes, graph.pairs[:, keep])
    if arcs.directed:
        digest = hashlib.sha256(f"directed {graph_fingerprint(graph)}\n".encode())
        digest.update(_bytes(arcs.fields(keep)["edge_index"]))
    elif loops.numel():
        digest = hashlib.sha256(f"self-loops {graph_fingerprint(graph)}\n".encode())
        digest.update(_bytes(loops))
    else:
        return graph_fingerprint(graph)
    return digest.hexdigest()


def borders_fingerprint(graph_of_node: Tensor) -> str:
    """Return the sha256 of where one graph of a union ends and the next begins.

    Example:
        >>> import torch
        >>> len(borders_fingerprint(torch.tensor([0, 0, 1])))
        64
    """
    sizes = torch.bincount(graph_of_node.cpu())
    return hashlib.sha256(_bytes(sizes)).hexdigest()


def split_fingerprint(data: Data, links: bool = False) -> str:
    """Return the sha256 of the three masks, and of the links where they are of those.

    Example:
        >>> import torch
        >>> data = Data(train_mask=torch.tensor([True]), val_mask=torch.tensor([False]),
        ...     test_mask=torch.tensor([False]))
        >>> len(split_fingerprint(data))
        64
    """
    digest = hashlib.sha256()
    for mask in (data.train_mask, data.val_mask, data.test_mask):
        digest.update(mask.cpu().numpy().tobytes())
    if links:
        for part in (data.edge_label_index, data.edge_label):
            digest.update(_bytes(part))
    return digest.hexdigest()


def _bytes(numbers: Tensor) -> bytes:
    return numbers.cpu().contiguous().numpy().astype("<i8").tobytes()
