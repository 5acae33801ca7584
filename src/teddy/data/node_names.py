"""Names of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_geometric.data import Data

from teddy.errors import InputError


def node_ids(data: Data) -> Sequence[Any]:
    """What the nodes of some data are called: the ids of its table, else their numbers.

    Raises:
        InputError: unless there is an id for each node, and each only once.

    Example:
        >>> import torch
        >>> list(node_ids(Data(num_nodes=2)))
        [0, 1]
        >>> node_ids(Data(num_nodes=2, node_ids=torch.tensor([7, 3])))
        [7, 3]
    """
    given = data.get("node_ids")
    if given is None:
        return range(data.num_nodes)
    if isinstance(given, str) or getattr(given, "ndim", 1) != 1 or not hasattr(given, "__len__"):
        kind = type(given).__name__
        raise InputError(f"node_ids is a {kind}, expected a list with an id for each node")
    ids = given.tolist() if hasattr(given, "tolist") else list(given)
    if len(ids) != data.num_nodes:
        raise InputError(f"node_ids has {len(ids)} ids, expected {data.num_nodes} (num_nodes)")
    seen: set[str] = set()
    for node in map(str, ids):
        if node in seen:
            raise InputError(f"node_ids has '{node}' twice, expected each id once")
        seen.add(node)
    return ids
