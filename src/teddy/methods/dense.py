"""The dense model of a search: trained, given as a teacher, or read from the store."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from teddy.models import GNN
from teddy.store.tensors import Entry
from teddy.ticket import Accuracy
from teddy.training import TrainResult, seeded
from teddy.training.module_checks import check_keeps_no_graph

if TYPE_CHECKING:
    from teddy.methods.problem import Problem


@dataclass(frozen=True)
class DenseResult:
    """Result of the dense model, which teaches a ticket and is its baseline."""

    logits: Tensor
    accuracy: Accuracy
    macs: list[int] | None
    seconds: float


def accuracy_of(result: TrainResult) -> Accuracy:
    """Accuracies of a training."""
    return Accuracy(result.test, result.best.val, result.best.index, result.last_test)


def dense_result(problem: Problem) -> DenseResult:
    """Result of a problem's dense model, which is trained unless the store has it."""
    known = problem.store.load("dense")
    if known is None and problem.teacher is not None:
        known = problem.teacher.evaluated(problem)
        problem.store.save("dense", known)
        problem.phases.skip("dense")
    elif known is None:
        _check_keeps_no_graph(problem)
        model, result = problem.train(callbacks=problem.phases.report("dense"), phase="dense")
        problem.dense_model = model
        metadata: dict[str, Any] = {
            "accuracy": asdict(accuracy_of(result)),
            "macs": problem.macs(model),
            "seconds": result.seconds,
        }
        known = Entry({"logits": result.logits.cpu()}, metadata)
        problem.store.save("dense", known)
    else:
        problem.phases.skip("dense")
    metadata, logits = known.metadata, known.tensors["logits"]
    return DenseResult(
        # A loader takes rows from the logits; where they are on the disk, they stay there.
        logits.to(problem.device) if problem.loader is None else logits,
        Accuracy(**metadata["accuracy"]),
        metadata["macs"],
        metadata["seconds"],
    )


def _check_keeps_no_graph(problem: Problem) -> None:
    """Raise if your own module caches a graph from one call to the next."""
    if isinstance(problem.source.model, str):
        return

    def make() -> nn.Module:
        with seeded(problem.seed, problem.device):
            return problem.make_model()

    network = make()
    half = torch.arange(problem.graph.num_edges, device=problem.device) % 2 == 0
    if half.numel() > 1 and not isinstance(network, GNN):
        head = problem.head_for(network)
        check_keeps_no_graph(make, head, problem.subgraph(None), problem.subgraph(half))
