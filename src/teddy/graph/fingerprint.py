"""Fingerprints of edges, of splits, and of the graph boundaries in a set of graphs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Data

if TYPE_CHECKING:
    from teddy.graph.edges import Edges


def edges_fingerprint(edges: Edges) -> str:
    """Return the sha256 of nodes and edges; see :meth:`teddy.graph.Edges.fingerprint`."""
    if edges.groups is not None and edges.groups.types:
        digest = hashlib.sha256(f"hetero {sorted(edges.groups.types.items())}\n".encode())
        for kind, messages in edges.messages_by_type.items():
            digest.update(f"{kind} {messages.index.size(1)}\n".encode())
            digest.update(_bytes(messages.index))
        return digest.hexdigest()
    digest = hashlib.sha256(f"{edges.num_nodes} nodes, {edges.num_edges} edges\n".encode())
    digest.update(_bytes(edges.pairs))
    if edges.directed:
        digest = hashlib.sha256(f"directed {digest.hexdigest()}\n".encode())
        digest.update(_bytes(edges.edge_index))
    elif edges.self_loops.numel():
        digest = hashlib.sha256(f"self-loops {digest.hexdigest()}\n".encode())
        digest.update(_bytes(edges.self_loops))
    return digest.hexdigest()


def borders_fingerprint(graph_of_node: Tensor) -> str:
    """Return the sha256 of the graph boundaries in a set of graphs.

    Example:
        >>> import torch
        >>> len(borders_fingerprint(torch.tensor([0, 0, 1])))
        64
    """
    sizes = torch.bincount(graph_of_node.cpu())
    return hashlib.sha256(_bytes(sizes)).hexdigest()


def split_fingerprint(data: Data, links: bool = False) -> str:
    """Return the sha256 of the three masks, and of the links if the masks are over links.

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
