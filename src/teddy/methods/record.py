"""What is recorded of a search: the dense model, and the ticket with all that it says of itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from teddy.data.feature_names import feature_names
from teddy.data.links import LINKS
from teddy.methods.collapse import warn_of_collapse
from teddy.methods.level import Level
from teddy.models import GNN, MODELS
from teddy.models.identity import class_path
from teddy.ticket import Accuracy, Count, Macs, Ticket, TicketInfo
from teddy.ticket.features import feature_facts
from teddy.ticket.fingerprint import split_fingerprint
from teddy.ticket.state import structure_of
from teddy.training import TrainResult, seeded
from teddy.training.config import recorded
from teddy.weights import count_nonzero

if TYPE_CHECKING:
    from teddy.methods.problem import Problem


@dataclass(frozen=True)
class Dense:
    """The dense model: what teaches a ticket, and what it is held against."""

    logits: Tensor
    accuracy: Accuracy
    macs: list[int] | None
    seconds: float


@dataclass(frozen=True)
class Choice:
    """The edges that a method has chosen.

    Attributes:
        keep: bool ``[M]``, those that stay.
        sparsity: The share that was to go.
        score: The edge score that chose; None: they were chosen in another way.
        weighted: Whether its degrees were weighted.
    """

    keep: Tensor
    sparsity: float
    score: str | None = None
    weighted: bool = False


def make_ticket(
    problem: Problem,
    method: str,
    level: Level,
    choice: Choice,
    network: nn.Module,
    sparse: TrainResult,
    dense: Dense,
    seconds: dict[str, float],
    settings: dict[str, Any],
) -> Ticket:
    """Put the parts of a ticket together."""
    macs = Macs(dense.macs, problem.macs(network, choice))
    where: dict[str, Any] = {"device": str(problem.device), "threads": torch.get_num_threads()}
    if problem.loader is not None:
        where["loader"] = str(problem.loader)
    if problem.teacher is not None:
        where["teacher"] = problem.teacher.name
    weight = getattr(problem.task, "weight", None)
    if weight is not None:
        where["class_weight"] = weight.tolist()
    named = [(name, weight) for name, weight in network.named_parameters() if weight.requires_grad]
    weights = [weight for name, weight in named if name not in problem.prunable.unused]
    left_out = {
        "frozen": sum(p.numel() for p in network.parameters() if not p.requires_grad),
        "unused": sum(p.numel() for name, p in named if name in problem.prunable.unused),
    }
    where |= problem.weight_budget.settings(network)
    names, (edges, keep) = problem.given.get("class_names"), problem.belongs_to(choice)
    facts = problem.facts(keep, sparse, dense)
    outputs = "outputs" if problem.task.name in ("regression", LINKS) else "classes"
    info = TicketInfo(
        method=method,
        dataset=str(problem.given.get("name", "data")),
        split=str(problem.given.get("split", "given")),
        split_seed=problem.given.get("split_seed"),
        split_fingerprint=split_fingerprint(problem.given, problem.task.name == LINKS),
        seed=problem.seed,
        model=_model_spec(problem, network) | {kind: n for kind, n in left_out.items() if n},
        graph={
            "nodes": edges.graph_nodes,
            "edges": edges.num_edges,
            **feature_facts(problem.data.x),
            outputs: problem.num_outputs,
            "fingerprint": edges.fingerprint(),
            "kept_fingerprint": edges.fingerprint(keep),
            "directed": edges.directed,
            "self_loops": not isinstance(network, GNN),
            "edge_inputs": edges.names,
            **edges.beside.names(),
        },
        graph_sparsity=level.graph_sparsity,
        weight_sparsity=level.weight_sparsity,
        edges=Count(keep.numel(), int(keep.sum())),
        weights=Count(sum(p.numel() for p in weights), count_nonzero(weights)),
        dense=dense.accuracy,
        ticket=accuracy_of(sparse),
        macs=macs,
        config={**recorded(problem.config), **settings, **where},
        classes=None if names is None else [str(name) for name in names],
        features=feature_names(problem.given),
        inductive=_inductive(problem, choice),
        score=choice.score,
        weighted=choice.weighted,
        task=problem.task.facts(),
        **facts,
    )
    warn_of_collapse(network, level.weight_sparsity, problem.task, sparse.logits, dense.logits)
    seconds = {"dense": dense.seconds, **seconds, "sparse": sparse.seconds}
    return Ticket(info, keep.cpu(), network.cpu().eval(), seconds)


def _inductive(problem: Problem, choice: Choice) -> dict[str, Any] | None:
    if problem.growth.grown is None:
        return None
    kept = problem.growth.kept(problem.deployed, choice)
    return {
        "inference": problem.growth.inference,
        "score": choice.score,
        "weighted": choice.weighted,
        "nodes": problem.deployed.edges.graph_nodes,
        "edges": asdict(Count(kept.numel(), int(kept.sum()))),
        "fingerprint": problem.deployed.edges.fingerprint(),
        "kept_fingerprint": problem.deployed.edges.fingerprint(kept),
    }


def _model_spec(problem: Problem, model: nn.Module) -> dict[str, Any]:
    for name in MODELS:
        if type(model) is MODELS[name]:
            return {
                "name": name,
                "in_channels": model.in_channels,
                "out_channels": model.out_channels,
                "options": model.options,
            }
    spec = {"class": class_path(model)}
    if isinstance(problem.source.model, str):
        return spec
    with seeded(problem.seed, problem.device):
        return spec | structure_of(problem.source.make(0, 0), model)


def accuracy_of(result: TrainResult) -> Accuracy:
    """The accuracies of a training."""
    return Accuracy(result.test, result.best.val, result.best.index, result.last_test)
