"""Graph neural networks as the paper uses them, and the sparse products under them.

Each is a plain ``nn.Module`` with ``forward(x, edge_index)``; ``x`` may be dense or sparse.
May import: data, edges, weights.
"""

from __future__ import annotations

from typing import Any

from teddy.errors import InputError
from teddy.models.base import GNN
from teddy.models.gat import GAT
from teddy.models.gcn import GCN
from teddy.models.gin import GIN
from teddy.models.sage import SAGE
from teddy.registry import Registry

MODELS: Registry[type[GNN]] = Registry("model")
MODELS.register("gcn")(GCN)
MODELS.register("gat")(GAT)
MODELS.register("gin")(GIN)
MODELS.register("sage")(SAGE)


def build_model(name: str, in_channels: int, out_channels: int, **options: Any) -> GNN:
    """Build a registered model.

    Example:
        >>> build_model("gat", 1433, 7)
        GAT(1433, 7, hidden=64, layers=2, dropout=0.6, heads=8)
    """
    model = MODELS[name]
    unknown = set(options) - set(model.OPTIONS)
    if unknown:
        known = ", ".join(model.OPTIONS)
        raise InputError(f"{name} has no option '{min(unknown)}', expected one of: {known}")
    return model(in_channels, out_channels, **options)


__all__ = ["GAT", "GCN", "GIN", "GNN", "MODELS", "SAGE", "build_model"]
