"""Row of results that is recorded for a cell."""

from __future__ import annotations

import copy
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from teddy import __version__
from teddy.graph import graph_health
from teddy.graph.edges import Edges
from teddy.machine import peak_memory
from teddy.methods import Problem
from teddy.sweep.grid import Cell
from teddy.sweep.resolution import HeldOut
from teddy.tasks import Kind, Task
from teddy.ticket import Ticket
from teddy.ticket.speed import dense_like
from teddy.ticket.view import TicketView

#: Measured times: the dense training, all rounds of masks, the last round, the ticket.
SECONDS = ("dense", "search", "round", "sparse")

#: Columns of the graph's health.
_HEALTH = ("components", "largest_component", "isolated", "homophily")

# Measurements of inference.
_REPEATS = 7


def ticket_row(cell: Cell, ticket: Ticket, data: Any, tested: HeldOut) -> dict[str, Any]:
    """Row of a ticket, with the graph or graphs that it was found or tested on.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", 0.05, 0.05, epochs=2, hidden_channels=8)
        >>> row = ticket_row(
        ...     Cell("citeseer", "gcn", "teddy", 0, 1), ticket, data, HeldOut(1000, 0.1))
        >>> row["edges_kept"], row["isolated"], row["pruned_degree"]
        (4324, 52, 31.5...)
        >>> row["task"], row["metric"], row["hits"]
        ('classification', 'accuracy', None)
    """
    info, view = ticket.info, ticket.view(data)
    macs = {"dense": info.macs.dense, "ticket": info.macs.ticket}
    return {
        **_conditions(cell, info.split, ticket.task, tested),
        "graph_sparsity": info.graph_sparsity,
        "weight_sparsity": info.weight_sparsity,
        **asdict(info.ticket),
        **{f"dense_{name}": value for name, value in asdict(info.dense).items()},
        **_hits(info.second_metric),
        **{f"edges_{name}": value for name, value in asdict(info.edges).items()},
        **{f"weights_{name}": value for name, value in asdict(info.weights).items()},
        **{f"macs_{n}": None if layers is None else sum(layers) for n, layers in macs.items()},
        "distill": info.config["distill"],
        **{f"seconds_{n}": ticket.seconds.get(n, 0.0) for n in SECONDS},
        **_measurements(view, ticket.model, ticket.kind, data),
    }


def dense_row(problem: Problem, cell: Cell, tested: HeldOut) -> dict[str, Any]:
    """Row of level 0, the dense model."""
    dense, metrics = problem.dense(), asdict(problem.dense().accuracy)
    weights = sum(mask.numel() for mask in problem.prunable.masks())
    macs, model = None if dense.macs is None else sum(dense.macs), problem.initial_model()
    edges = problem.views.found_on.edges.num_edges
    return {
        **_conditions(cell, str(problem.prepared.get("split", "given")), problem.task, tested),
        "graph_sparsity": 0.0,
        "weight_sparsity": 0.0,
        **metrics,
        **{f"dense_{name}": value for name, value in metrics.items()},
        **_hits(problem.second_metric({"dense": dense.logits, "ticket": dense.logits})),
        "edges_total": edges,
        "edges_kept": edges,
        "weights_total": weights,
        "weights_kept": weights,
        "macs_dense": macs,
        "macs_ticket": macs,
        "distill": 0.0,
        **dict.fromkeys((f"seconds_{name}" for name in SECONDS), 0.0),
        "seconds_dense": dense.seconds,
        **_measurements(_whole_view(problem, model), model, problem.kind, problem.views.full.data),
    }


def versions() -> str:
    """Versions of teddy, torch and Python.

    Example:
        >>> versions()
        'teddy ..., torch ..., python ...'
    """
    return f"teddy {__version__}, torch {torch.__version__}, python {platform.python_version()}"


def _conditions(cell: Cell, split: str, task: Task, tested: HeldOut) -> dict[str, Any]:
    """Columns of the cell, its metric and its test set."""
    return {
        **cell.to_row(),
        "split": split,
        "task": task.name,
        "metric": task.metric,
        "test_rows": tested.rows,
        "resolution": tested.resolution,
    }


def _measurements(view: TicketView, model: nn.Module, kind: Kind, data: Any) -> dict[str, Any]:
    """Columns of inference time, the pruned graph's health, memory and versions."""
    graph, keep = view.edges.simple(view.keep)
    y = data.y if kind.has_node_classes() else None
    health = graph_health(graph.subset(keep), y=y)
    return {
        **_inference(view, model),
        "pruned_degree": mean_edge_degree(graph, ~keep),
        **{name: getattr(health, name) for name in _HEALTH},
        "peak_memory": peak_memory(),
        "versions": versions(),
    }


def _hits(links: Mapping[str, Any] | None) -> dict[str, Any]:
    """Columns of hits@k, the second metric of link prediction; None for other tasks."""
    if links is None:
        return dict.fromkeys(("hits_at", "hits", "dense_hits"))
    hits = links["hits"]
    return {
        "hits_at": links["hits_at"],
        "hits": hits["ticket"]["test"],
        "dense_hits": hits["dense"]["test"],
    }


def _whole_view(problem: Problem, model: nn.Module) -> TicketView:
    """View with all edges, and the head of a model."""
    edges, data = problem.views.full.edges, problem.views.full.data
    everything = torch.ones_like(edges.pairs[0]).bool()
    values = {name: data[name] for name in ("graph_of_node",) if name in data}
    return TicketView(data.x, edges, everything, values, problem.head_for(model))


@torch.no_grad()
def _inference(view: TicketView, model: nn.Module) -> dict[str, float]:
    """Seconds of one pass over the whole graph, for the dense model and a ticket.

    They take turns, and the shortest time of each counts, which reduces the effect of other load.
    """
    models = {"dense": dense_like(model), "ticket": copy.deepcopy(model)}
    keep = {"dense": None, "ticket": view.keep}
    runners = {name: view.runner(network.eval(), keep[name]) for name, network in models.items()}
    shortest = dict.fromkeys(runners, float("inf"))
    for turn in range(_REPEATS + 1):  # the first warms up
        for name, runner in runners.items():
            started = time.perf_counter()
            runner.evaluation_logits().sum().item()  # waits for the device
            if turn:
                shortest[name] = min(shortest[name], time.perf_counter() - started)
    return {f"seconds_predict_{name}": seconds for name, seconds in shortest.items()}


def mean_edge_degree(graph: Edges, edges: Tensor) -> float | None:
    """Mean of (deg(i) + deg(j)) / 2 over some edges; None without edges.

    Example:
        >>> graph, _ = Edges.from_columns(torch.tensor([[0, 1, 1], [1, 2, 3]]))
        >>> mean_edge_degree(graph, torch.tensor([True, True, False]))
        2.0
    """
    chosen = graph.degree[graph.pairs[:, edges]].double()
    return float(chosen.mean()) if chosen.numel() else None
