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
from teddy.edges import graph_health
from teddy.edges.simple_graph import SimpleGraph
from teddy.methods import Problem
from teddy.sweep.grid import Cell
from teddy.ticket import Ticket
from teddy.training.forward import forward_passes

#: Times that a search takes: the dense training, all rounds of masks, the last of them, the ticket.
SECONDS = ("dense", "search", "round", "sparse")

# Inference is measured so often; the shortest time counts.
_REPEATS = 5


def ticket_row(cell: Cell, ticket: Ticket, data: Data) -> dict[str, Any]:
    """The row of a ticket that was found on this graph.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", 0.05, 0.05, epochs=2, hidden=8)
        >>> row = ticket_row(Cell("citeseer", "gcn", "teddy", 0, 1), ticket, data)
        >>> row["edges_kept"], row["isolated"], row["pruned_degree"]
        (4324, 52, 31.5...)
    """
    info = ticket.info
    macs = {"dense": info.macs.dense, "ticket": info.macs.ticket}
    graph, _ = SimpleGraph.of(data.edge_index, data.num_nodes)
    keep = ticket.keep.to(data.edge_index.device)
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
        "seconds_predict_dense": inference_seconds(_dense_like(ticket.model), data.x, graph),
        "seconds_predict_ticket": inference_seconds(ticket.model, data.x, graph, keep),
        **_health(graph, keep, data.y),
        "versions": versions(),
    }


def dense_row(problem: Problem, cell: Cell) -> dict[str, Any]:
    """The row of simulation 0: the dense model itself."""
    dense, accuracy = problem.dense(), asdict(problem.dense().accuracy)
    weights = sum(mask.numel() for mask in problem.weight_masks())
    macs = None if dense.macs is None else sum(dense.macs)
    seconds = inference_seconds(problem.initial_model(), problem.data.x, problem.graph)
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
        **_health(problem.graph, torch.ones_like(problem.graph.pairs[0]).bool(), problem.data.y),
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
def inference_seconds(
    model: nn.Module, x: Tensor, graph: SimpleGraph, keep: Tensor | None = None
) -> float:
    """Time of one pass over a graph, with all edges or those kept, the shortest of a few."""
    forward = forward_passes(model.to(x.device).eval(), x, graph.edge_index(keep))
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


def _health(graph: SimpleGraph, keep: Tensor, y: Tensor) -> dict[str, Any]:
    """What the pruning did to the graph."""
    health = graph_health(graph.edge_index(keep), graph.num_nodes, y)
    names = ("components", "largest_component", "isolated", "homophily")
    return {
        "pruned_degree": mean_edge_degree(graph, ~keep),
        **{name: getattr(health, name) for name in names},
    }


def _dense_like(model: nn.Module) -> nn.Module:
    """A model of the same size without a zero; what the weights are doesn't change its time."""
    dense = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in dense.parameters():
            parameter.fill_(0.01)
    return dense
