"""TEDDY: Algorithm 1 of the paper."""

from __future__ import annotations

from collections.abc import Callable

from teddy.edges.prune import prune_pairs
from teddy.methods.problem import Problem
from teddy.ticket import Ticket
from teddy.training import Epoch

Progress = Callable[[str, Epoch], None]


def find(problem: Problem, *, score: str = "teddy", progress: Progress | None = None) -> Ticket:
    """Find a ticket in a single training on the sparse graph.

    Args:
        problem: Graph, model, sparsities, seed and settings.
        score: The registered edge score whose lowest edges go.
        progress: Called after each epoch with its phase, ``dense`` or ``sparse``.
    """

    def report(phase: str) -> tuple[Callable[[Epoch], None], ...]:
        return () if progress is None else (lambda epoch: progress(phase, epoch),)

    # Pretraining on the entire graph
    model, dense = problem.train(callbacks=report("dense"))
    dense_macs = problem.macs(model)
    del model  # its logits are all that is needed from here on

    # Searching subgraph
    keep = prune_pairs(problem.graph, problem.graph_sparsity, score, problem.seed)

    # Searching subnetwork
    model, sparse = problem.train(
        keep,
        teacher=dense.logits,
        weight_sparsity=problem.weight_sparsity,
        callbacks=report("sparse"),
    )
    return problem.ticket("teddy", keep, model, sparse, dense, dense_macs, score=score)
