"""Graph neural networks of the paper and graph transformers, and the call of your own module.

Each is a plain ``nn.Module`` with ``forward(x, edge_index)``, for dense or sparse ``x``.
"""

from __future__ import annotations

from typing import Any

from teddy.models.base import GNN
from teddy.models.gat import GAT
from teddy.models.gcn import GCN
from teddy.models.gin import GIN
from teddy.models.nagphormer import NAGphormer
from teddy.models.sage import SAGE
from teddy.models.specformer import Specformer
from teddy.models.unimp import UniMP
from teddy.registry import Registry, read_option, unknown_option

MODELS: Registry[type[GNN]] = Registry("model")
MODELS.register("gcn")(GCN)
MODELS.register("gat")(GAT)
MODELS.register("gin")(GIN)
MODELS.register("sage")(SAGE)
MODELS.register("unimp")(UniMP)
MODELS.register("nagphormer")(NAGphormer)
MODELS.register("specformer")(Specformer)


def parse_model(text: str) -> tuple[str, dict[str, Any]]:
    """Read a model's name and options, ``name:option=value:...``.

    Example:
        >>> parse_model("gat:heads=4:dropout=0.5")
        ('gat', {'heads': 4, 'dropout': 0.5})
    """
    name, *parts = text.strip().split(":")
    known = MODELS[name].OPTIONS
    return name, dict(read_option(name, known, part) for part in parts)


def build_model(name: str, in_channels: int, out_channels: int, **options: Any) -> GNN:
    """Build a registered model; options in its name, as in ``gat:heads=4``, take precedence.

    Example:
        >>> build_model("gat:heads=4", 1433, 7, hidden_channels=32)
        GAT(1433, 7, hidden_channels=32, num_layers=2, dropout=0.6, heads=4)
    """
    name, named_options = parse_model(name)
    model, options = MODELS[name], {**options, **named_options}
    unknown = set(options) - set(model.OPTIONS)
    if unknown:
        raise unknown_option(name, min(unknown), model.OPTIONS)
    return model(in_channels, out_channels, **options)


__all__ = [
    "GAT",
    "GCN",
    "GIN",
    "GNN",
    "MODELS",
    "SAGE",
    "NAGphormer",
    "Specformer",
    "UniMP",
    "build_model",
    "parse_model",
]
