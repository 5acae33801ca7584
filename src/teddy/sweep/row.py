"""What is recorded of a cell: the row of the table."""

from __future__ import annotations

import platform
import time
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from teddy import __version__
from teddy.edges import graph_health
from teddy.edges.simple_graph import SimpleGraph
from teddy.methods import Problem
from teddy.sweep.grid import Cell
from teddy.ticket import Ticket
from teddy.training import seeded
from teddy.training.forward import forward_passes

#: Times that a search takes: the dense training, all rounds of masks, the last of them, the ticket.
SECONDS = ("dense", "search", "round", "sparse")

# Inference is measured so often; the shortest time counts.
_REPEATS = 5


def ticket_row(problem: Problem, cell: Cell, ticket: Ticket) -> dict[str, Any]:
    """The row of a ticket."""
    info = ticket.info
    macs = {"dense": info.macs.dense, "ticket": info.macs.ticket}
    keep = ticket.keep.to(problem.device)
    return {
        **vars(cell),
        "split": info.split,
        "graph_sparsity": info.graph_sparsity,
        "weight_sparsity": info.weight_sparsity,
        **asdict(info.ticket),
        **{f"dense_{name}": value for name, value in asdict(info.dense).items()},
        **{f"edges_{name}": value for name, value in asdict(info.edges).items()},
        **{f"weights_{name}": value for name, value in asdict(info.weights).items()},
        **{f"macs_{n}": None if layers is None else sum(layers) for n, layers in macs.items()},
        "distill": info.config["distill"],
        **{f"seconds_{n}": ticket.seconds.get(n, 0.0) for n in SECONDS},
        "seconds_predict_dense": inference_seconds(problem, _untrained(problem), None),
        "seconds_predict_ticket": inference_seconds(problem, ticket.model, keep),
        **_health(problem, keep),
        "versions": versions(),
    }


def dense_row(problem: Problem, cell: Cell) -> dict[str, Any]:
    """The row of simulation 0: the dense model itself."""
    dense, accuracy = problem.dense(), asdict(problem.dense().accuracy)
    weights = sum(mask.numel() for mask in problem.weight_masks())
    macs = None if dense.macs is None else sum(dense.macs)
    seconds = inference_seconds(problem, _untrained(problem), None)
    return {
        **vars(cell),
        "split": str(problem.given.get("split", "given")),
        "graph_sparsity": 0.0,
        "weight_sparsity": 0.0,
        **accuracy,
        **{f"dense_{name}": value for name, value in accuracy.items()},
        "edges_total": problem.graph.num_edges,
        "edges_kept": problem.graph.num_edges,
        "weights_total": weights,
        "weights_kept": weights,
        "macs_dense": macs,
        "macs_ticket": macs,
        "distill": 0.0,
        **dict.fromkeys((f"seconds_{name}" for name in SECONDS), 0.0),
        "seconds_dense": dense.seconds,
        "seconds_predict_dense": seconds,
        "seconds_predict_ticket": seconds,
        **_health(problem, torch.ones(problem.graph.num_edges, dtype=torch.bool)),
        "versions": versions(),
    }


def versions() -> str:
    """What computes here.

    Example:
        >>> versions()
        'teddy ..., torch ..., python ...'
    """
    return f"teddy {__version__}, torch {torch.__version__}, python {platform.python_version()}"


@torch.no_grad()
def inference_seconds(problem: Problem, model: nn.Module, keep: Tensor | None) -> float:
    """Time of one pass over the whole graph with these edges, the shortest of a few."""
    model = model.to(problem.device).eval()
    data = problem.subgraph(keep)
    forward = forward_passes(model, data.x, data.edge_index)
    times = []
    for _ in range(_REPEATS + 1):  # the first warms up
        started = time.perf_counter()
        forward.evaluation_logits().sum().item()  # waits for the device
        times.append(time.perf_counter() - started)
    return min(times[1:])


def mean_edge_degree(graph: SimpleGraph, edges: Tensor) -> float | None:
    """Mean of (deg(i) + deg(j)) / 2 over some edges; None of none.

    Example:
        >>> graph, _ = SimpleGraph.of(torch.tensor([[0, 1, 1], [1, 2, 3]]))
        >>> mean_edge_degree(graph, torch.tensor([True, True, False]))
        2.0
    """
    chosen = graph.degree[graph.pairs[:, edges]].double()
    return float(chosen.mean()) if chosen.numel() else None


def _health(problem: Problem, keep: Tensor) -> dict[str, Any]:
    """What the pruning did to the graph."""
    keep = keep.to(problem.device)
    health = graph_health(problem.graph.edge_index(keep), problem.graph.num_nodes, problem.data.y)
    names = ("components", "largest_component", "isolated", "homophily")
    return {
        "pruned_degree": mean_edge_degree(problem.graph, ~keep),
        **{name: getattr(health, name) for name in names},
    }


def _untrained(problem: Problem) -> nn.Module:
    """A model of the dense one's size; what its weights are doesn't change its time."""
    with seeded(problem.seed, problem.device):
        return problem.initial_model()
