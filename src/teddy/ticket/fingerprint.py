"""Which graph a ticket belongs to."""

from __future__ import annotations

import hashlib

from teddy.edges import SimpleGraph


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
    digest.update(graph.pairs.cpu().contiguous().numpy().astype("<i8").tobytes())
    return digest.hexdigest()
