"""What is recorded of a cell: the row of the table."""

from __future__ import annotations

import copy
import platform
import time
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy import __version__
from teddy.edges import Arcs, HeteroArcs, graph_health
from teddy.edges.simple_graph import SimpleGraph
from teddy.machine import peak_memory
from teddy.methods import Problem
from teddy.sweep.grid import Cell
from teddy.ticket import Ticket
from teddy.ticket.speed import dense_like
from teddy.ticket.view import ticket_view
from teddy.training.inputs import of_edges
from teddy.training.passes import forward_passes

#: Times that a search takes: the dense training, all rounds of masks, the last of them, the ticket.
SECONDS = ("dense", "search", "round", "sparse")

# Inference is measured so often.
_TURNS = 7


def ticket_row(cell: Cell, ticket: Ticket, data: Any, test_rows: int) -> dict[str, Any]:
    """The row of a ticket.

    Args:
        cell: What it is the ticket of.
        ticket: The ticket.
        data: The graph that it was found on, or tested on where that is another: a ``Data``, a
            ``HeteroData`` or a set of graphs.
        test_rows: Number of nodes that it was tested on.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", 0.05, 0.05, epochs=2, hidden=8)
        >>> row = ticket_row(Cell("citeseer", "gcn", "teddy", 0, 1), ticket, data, 1000)
        >>> row["edges_kept"], row["isolated"], row["pruned_degree"]
        (4324, 52, 31.5...)
    """
    info = ticket.info
    macs = {"dense": info.macs.dense, "ticket": info.macs.ticket}
    view = ticket_view(ticket, data)
    graph, keep = view.arcs.simple(view.keep)
    y = _classes(ticket.task.name, data, view.arcs)
    return {
        **vars(cell),
        "split": info.split,
        "test_rows": test_rows,
        "graph_sparsity": info.graph_sparsity,
        "weight_sparsity": info.weight_sparsity,
        **asdict(info.ticket),
        **{f"dense_{name}": value for name, value in asdict(info.dense).items()},
        **{f"edges_{name}": value for name, value in asdict(info.edges).items()},
        **{f"weights_{name}": value for name, value in asdict(info.weights).items()},
        **{f"macs_{n}": None if layers is None else sum(layers) for n, layers in macs.items()},
        "distill": info.config["distill"],
        **{f"seconds_{n}": ticket.seconds.get(n, 0.0) for n in SECONDS},
        **_inference(view.model, view.x, view.fields(), view.fields(view.keep)),
        **_health(graph, keep, y),
        "peak_memory": peak_memory(),
        "versions": versions(),
    }


def dense_row(problem: Problem, cell: Cell) -> dict[str, Any]:
    """The row of simulation 0: the dense model itself."""
    dense, accuracy = problem.dense(), asdict(problem.dense().accuracy)
    weights = sum(mask.numel() for mask in problem.prunable.masks())
    macs = None if dense.macs is None else sum(dense.macs)
    arcs, data = problem.deployed.arcs, problem.deployed.data
    graph, everything = arcs.simple(torch.ones_like(arcs.graph.pairs[0]).bool())
    model, fields = problem.initial_model(), {"edge_index": data.edge_index, **of_edges(data)}
    return {
        **vars(cell),
        "split": str(problem.given.get("split", "given")),
        "test_rows": int(problem.given.test_mask.sum()),
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
        **_inference(model, data.x, fields, fields),
        **_health(graph, everything, _classes(problem.task.name, data, arcs)),
        "peak_memory": peak_memory(),
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
def _inference(
    model: nn.Module, x: Tensor, whole: dict[str, Any], kept: dict[str, Any]
) -> dict[str, float]:
    """Seconds of one pass over the whole graph, of the dense model and of a ticket.

    They take turns, and the shortest time of each counts, so that what else the machine does
    weighs as little as it can, and on both alike.
    """
    passes = {
        "dense": forward_passes(dense_like(model).to(x.device).eval(), x, **whole),
        "ticket": forward_passes(copy.deepcopy(model).to(x.device).eval(), x, **kept),
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


def _classes(task: str, data: Data, arcs: Arcs) -> Tensor | None:
    """Classes of all nodes; None where nodes have none, or one type of several has."""
    return data.y if task == "classification" and not isinstance(arcs, HeteroArcs) else None


def _health(graph: SimpleGraph, keep: Tensor, y: Tensor | None) -> dict[str, Any]:
    """What the pruning did to the graph."""
    health = graph_health(graph.edge_index(keep), graph.num_nodes, y)
    names = ("components", "largest_component", "isolated", "homophily")
    return {
        "pruned_degree": mean_edge_degree(graph, ~keep),
        **{name: getattr(health, name) for name in names},
    }
