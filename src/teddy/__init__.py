"""Graph lottery tickets in one training run.

A sparse subgraph and a sparse GNN that together do as well as the dense pair, found as in
*TEDDY: Trimming Edges with Degree-based Discrimination strategY* (ICLR 2024).

The rooms, in the order data flows; each imports only from those before it: data, edges, weights,
models, training, ticket, tracking, methods, sweep, cli.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teddy.data import graph_set as graph_set
    from teddy.data import links_of as links_of
    from teddy.data import load_dataset as load_dataset
    from teddy.data import split_links as split_links
    from teddy.edges import SparsifyEdges as SparsifyEdges
    from teddy.edges import edge_scores as edge_scores
    from teddy.edges import graph_health as graph_health
    from teddy.edges import prune_edges as prune_edges
    from teddy.edges import prune_graphs as prune_graphs
    from teddy.edges import prune_relations as prune_relations
    from teddy.edges import relation_scores as relation_scores
    from teddy.errors import InputError as InputError
    from teddy.methods import find_ticket as find_ticket
    from teddy.methods.auto import Auto as Auto
    from teddy.methods.teddy import Teddy as Teddy
    from teddy.methods.ugs import UGS as UGS
    from teddy.methods.wd_glt import WDGLT as WDGLT
    from teddy.settings import Settings as Settings
    from teddy.settings import TrainConfig as TrainConfig
    from teddy.settings import WeightBudget as WeightBudget
    from teddy.sweep import find_over_seeds as find_over_seeds
    from teddy.ticket import Ticket as Ticket
    from teddy.training import distillation_loss as distillation_loss
    from teddy.training.tasks import Classification as Classification
    from teddy.training.tasks import GraphClassification as GraphClassification
    from teddy.training.tasks import LinkPrediction as LinkPrediction
    from teddy.training.tasks import Multilabel as Multilabel
    from teddy.training.tasks import Regression as Regression
    from teddy.weights import L0Projected as L0Projected
    from teddy.weights import project_l0_ as project_l0_

__version__ = "0.1.0"

if "torch" not in sys.modules:
    # Threads that wait spinning take the cores from those that work; torch reads this when loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Imported when first used, so that `teddy --help` need not wait for torch.
_HOME = {
    "Auto": "teddy.methods.auto",
    "Classification": "teddy.training.tasks",
    "GraphClassification": "teddy.training.tasks",
    "InputError": "teddy.errors",
    "L0Projected": "teddy.weights",
    "LinkPrediction": "teddy.training.tasks",
    "Multilabel": "teddy.training.tasks",
    "Regression": "teddy.training.tasks",
    "Settings": "teddy.settings",
    "SparsifyEdges": "teddy.edges",
    "Teddy": "teddy.methods.teddy",
    "Ticket": "teddy.ticket",
    "TrainConfig": "teddy.settings",
    "UGS": "teddy.methods.ugs",
    "WDGLT": "teddy.methods.wd_glt",
    "WeightBudget": "teddy.settings",
    "distillation_loss": "teddy.training",
    "edge_scores": "teddy.edges",
    "find_over_seeds": "teddy.sweep",
    "find_ticket": "teddy.methods",
    "graph_health": "teddy.edges",
    "graph_set": "teddy.data",
    "links_of": "teddy.data",
    "load_dataset": "teddy.data",
    "project_l0_": "teddy.weights",
    "prune_edges": "teddy.edges",
    "prune_graphs": "teddy.edges",
    "prune_relations": "teddy.edges",
    "relation_scores": "teddy.edges",
    "split_links": "teddy.data",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'teddy' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
