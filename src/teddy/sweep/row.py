"""Row of the table that is recorded for a cell."""

from __future__ import annotations

import copy
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from teddy import __version__
from teddy.edges import HeteroArcs, graph_health
from teddy.edges.simple_graph import SimpleGraph
from teddy.machine import peak_memory
from teddy.methods import Problem
from teddy.methods.record import Choice
from teddy.sweep.grid import Cell
from teddy.sweep.resolution import HeldOut
from teddy.ticket import Ticket
from teddy.ticket.speed import dense_like
from teddy.ticket.view import TicketView, ticket_view
from teddy.training import Task
from teddy.training.passes import forward_passes

#: Times that a search takes: the dense training, all rounds of masks, the last of them, the ticket.
SECONDS = ("dense", "search", "round", "sparse")

#: Columns of the health of a graph.
_HEALTH = ("components", "largest_component", "isolated", "homophily")

# Inference is measured so often.
_TURNS = 7


def ticket_row(cell: Cell, ticket: Ticket, data: Any, tested: HeldOut) -> dict[str, Any]:
    """The row of a ticket.

    Args:
        cell: The cell that the ticket is of.
        ticket: The ticket.
        data: The graph, or graphs, that it was found on, or tested on where that is another.
        tested: Size of its test set.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", 0.05, 0.05, epochs=2, hidden=8)
        >>> row = ticket_row(
        ...     Cell("citeseer", "gcn", "teddy", 0, 1), ticket, data, HeldOut(1000, 0.1))
        >>> row["edges_kept"], row["isolated"], row["pruned_degree"]
        (4324, 52, 31.5...)
        >>> row["task"], row["metric"], row["hits"]
        ('classification', 'accuracy', None)
    """
    info = ticket.info
    macs = {"dense": info.macs.dense, "ticket": info.macs.ticket}
    view = ticket_view(ticket, data)
    y = data.y if _has_node_classes(ticket.task, view) else None
    return {
        **vars(cell),
        "split": info.split,
        **_measured_by(ticket.task, tested),
        "graph_sparsity": info.graph_sparsity,
        "weight_sparsity": info.weight_sparsity,
        **asdict(info.ticket),
        **{f"dense_{name}": value for name, value in asdict(info.dense).items()},
        **_hits(info.links),
        **{f"edges_{name}": value for name, value in asdict(info.edges).items()},
        **{f"weights_{name}": value for name, value in asdict(info.weights).items()},
        **{f"macs_{n}": None if layers is None else sum(layers) for n, layers in macs.items()},
        "distill": info.config["distill"],
        **{f"seconds_{n}": ticket.seconds.get(n, 0.0) for n in SECONDS},
        **_inference(view),
        **_health(view, y),
        "peak_memory": peak_memory(),
        "versions": versions(),
    }


def dense_row(problem: Problem, cell: Cell, tested: HeldOut) -> dict[str, Any]:
    """The row of simulation 0: the dense model itself."""
    dense, metrics = problem.dense(), asdict(problem.dense().accuracy)
    weights = sum(mask.numel() for mask in problem.prunable.masks())
    macs = None if dense.macs is None else sum(dense.macs)
    every = torch.ones_like(problem.graph.pairs[0], dtype=torch.bool)
    edges = problem.belongs_to(Choice(every, 0.0))[1].numel()
    view = _whole_view(problem)
    y = problem.deployed.data.y if _has_node_classes(problem.task, view) else None
    return {
        **vars(cell),
        "split": str(problem.given.get("split", "given")),
        **_measured_by(problem.task, tested),
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
        **_inference(view),
        **_health(view, y),
        "peak_memory": peak_memory(),
        "versions": versions(),
    }


def versions() -> str:
    """Versions of the programs that compute here.

    Example:
        >>> versions()
        'teddy ..., torch ..., python ...'
    """
    return f"teddy {__version__}, torch {torch.__version__}, python {platform.python_version()}"


def _measured_by(task: Task, tested: HeldOut) -> dict[str, Any]:
    """Metric of a row, and the size of what it was measured on."""
    return {
        "task": task.name,
        "metric": task.metric,
        "test_rows": tested.rows,
        "resolution": tested.resolution,
    }


def _hits(links: Mapping[str, Any] | None) -> dict[str, Any]:
    """Test hits@k, the second metric of link prediction; None of other tasks."""
    if links is None:
        return dict.fromkeys(("hits_at", "hits", "dense_hits"))
    hits = links["hits"]
    return {
        "hits_at": links["hits_at"],
        "hits": hits["ticket"]["test"],
        "dense_hits": hits["dense"]["test"],
    }


def _whole_view(problem: Problem) -> TicketView:
    """The dense model on the graph with all of its edges."""
    arcs, data = problem.deployed.arcs, problem.deployed.data
    everything = torch.ones_like(arcs.graph.pairs[0]).bool()
    beside = {name: data[name] for name in ("graph_of_node",) if name in data}
    return TicketView(problem.initial_model(), data.x, arcs, everything, beside)


@torch.no_grad()
def _inference(view: TicketView) -> dict[str, float]:
    """Seconds of one pass over the whole graph, of the dense model and of a ticket.

    They take turns, and the shortest time of each counts, so that what else the machine does
    weighs as little as it can, and on both alike.
    """
    models = {"dense": dense_like(view.model), "ticket": copy.deepcopy(view.model)}
    keep = {"dense": None, "ticket": view.keep}
    passes = {
        name: forward_passes(model.to(view.x.device).eval(), view.x, **view.fields(keep[name]))
        for name, model in models.items()
    }
    shortest = dict.fromkeys(passes, float("inf"))
    for turn in range(_TURNS + 1):  # the first warms up
        for name, forward in passes.items():
            started = time.perf_counter()
            forward.evaluation_logits().sum().item()  # waits for the device
            if turn:
                shortest[name] = min(shortest[name], time.perf_counter() - started)
    return {f"seconds_predict_{name}": seconds for name, seconds in shortest.items()}


def mean_edge_degree(graph: SimpleGraph, edges: Tensor) -> float | None:
    """Mean of (deg(i) + deg(j)) / 2 over some edges; None of none.

    Example:
        >>> graph, _ = SimpleGraph.of(torch.tensor([[0, 1, 1], [1, 2, 3]]))
        >>> mean_edge_degree(graph, torch.tensor([True, True, False]))
        2.0
    """
    chosen = graph.degree[graph.pairs[:, edges]].double()
    return float(chosen.mean()) if chosen.numel() else None


def _has_node_classes(task: Task, view: TicketView) -> bool:
    """Whether every node has a class, for homophily; of a HeteroData one type alone has."""
    return task.has_node_classes() and not isinstance(view.arcs, HeteroArcs)


def _health(view: TicketView, y: Tensor | None) -> dict[str, Any]:
    """Health of the graph that the pruning leaves; of a HeteroData of all relations together."""
    graph, keep = view.arcs.simple(view.keep)
    health = graph_health(graph.edge_index(keep), graph.num_nodes, y)
    return {
        "pruned_degree": mean_edge_degree(graph, ~keep),
        **{name: getattr(health, name) for name in _HEALTH},
    }
