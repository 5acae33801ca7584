"""Prune a graph and its graph neural network together, and keep the accuracy.

A sparse subgraph and a sparse GNN that together do as well as the dense pair, found as in
*TEDDY: Trimming Edges with Degree-based Discrimination strategY* (ICLR 2024).

Subpackages, in the order data flows; each imports only from those before it: kernels, store, graph,
data, prune, weights, layers, models, tasks, training, serving, ticket, tracking, methods, sweep,
scale, report, cli.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teddy.errors import InputError as InputError
    from teddy.graph import graph_health as graph_health
    from teddy.layers import accelerate as accelerate
    from teddy.methods import find_ticket as find_ticket
    from teddy.methods.auto import Auto as Auto
    from teddy.methods.teddy import Teddy as Teddy
    from teddy.methods.ugs import UGS as UGS
    from teddy.methods.wd_glt import WDGLT as WDGLT
    from teddy.prune import SparsifyEdges as SparsifyEdges
    from teddy.prune import edge_scores as edge_scores
    from teddy.prune import prune_edges as prune_edges
    from teddy.settings import Settings as Settings
    from teddy.settings import TrainConfig as TrainConfig
    from teddy.settings import WeightBudget as WeightBudget
    from teddy.sweep import find_over_seeds as find_over_seeds
    from teddy.tasks import Classification as Classification
    from teddy.tasks import GraphClassification as GraphClassification
    from teddy.tasks import LinkPrediction as LinkPrediction
    from teddy.tasks import Multilabel as Multilabel
    from teddy.tasks import Regression as Regression
    from teddy.tasks import graph_set as graph_set
    from teddy.tasks import links_of as links_of
    from teddy.tasks import load_dataset as load_dataset
    from teddy.tasks import split_links as split_links
    from teddy.ticket import Ticket as Ticket
    from teddy.training import distillation_loss as distillation_loss
    from teddy.weights import L0Projected as L0Projected
    from teddy.weights import project_l0_ as project_l0_

__version__ = "0.1.0"

import_module("teddy.machine").wait_passively()

# Imported when first used, so that `teddy --help` need not wait for torch.
_HOME = {
    "Auto": "teddy.methods.auto",
    "Classification": "teddy.tasks",
    "GraphClassification": "teddy.tasks",
    "InputError": "teddy.errors",
    "L0Projected": "teddy.weights",
    "LinkPrediction": "teddy.tasks",
    "Multilabel": "teddy.tasks",
    "Regression": "teddy.tasks",
    "Settings": "teddy.settings",
    "SparsifyEdges": "teddy.prune",
    "Teddy": "teddy.methods.teddy",
    "Ticket": "teddy.ticket",
    "TrainConfig": "teddy.settings",
    "UGS": "teddy.methods.ugs",
    "WDGLT": "teddy.methods.wd_glt",
    "WeightBudget": "teddy.settings",
    "accelerate": "teddy.layers",
    "distillation_loss": "teddy.training",
    "edge_scores": "teddy.prune",
    "find_over_seeds": "teddy.sweep",
    "find_ticket": "teddy.methods",
    "graph_health": "teddy.graph",
    "graph_set": "teddy.tasks",
    "links_of": "teddy.tasks",
    "load_dataset": "teddy.tasks",
    "project_l0_": "teddy.weights",
    "prune_edges": "teddy.prune",
    "split_links": "teddy.tasks",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'teddy' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
