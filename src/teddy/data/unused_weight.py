"""Edge weights under a name that nothing looks at."""

from __future__ import annotations

from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import warn


def warn_of_weight(data: Data, source: str = "data") -> None:
    """Warn if edges have a ``weight`` and no ``edge_weight``.

    ``torch_geometric.utils.from_networkx`` calls weights of edges so.

    Args:
        data: A graph.
        source: Where it came from, for the message.

    Example:
        >>> import torch
        >>> edges = torch.tensor([[0, 1], [1, 0]])
        >>> warn_of_weight(Data(edge_index=edges, edge_weight=torch.tensor([2.0, 2.0])))
    """
    weight, edges = data.get("weight"), data.get("edge_index")
    if "edge_weight" in data or not isinstance(weight, Tensor) or not isinstance(edges, Tensor):
        return
    if edges.dim() == 2 and weight.numel() == edges.size(1) == weight.size(0):
        name = "data.weight" if source == "data" else f"{source}: weight"
        warn(f"{name} is not used; rename it to edge_weight to weigh edges, or delete it")
