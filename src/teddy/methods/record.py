"""Ticket of a finished search, with its header, and checks of the kept edges."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from teddy.data.features import feature_names
from teddy.errors import InputError, warn
from teddy.graph import Edges
from teddy.layers import layer_fields
from teddy.methods.dense import DenseResult, accuracy_of
from teddy.methods.sparsity_level import SparsityLevel
from teddy.models import GNN, MODELS
from teddy.models.identity import class_path
from teddy.tasks import Task
from teddy.tasks.views import Choice
from teddy.ticket import (
    Count,
    GraphInfo,
    InductiveInfo,
    Macs,
    ModelInfo,
    TaskInfo,
    Ticket,
    TicketInfo,
)
from teddy.ticket.features import feature_metadata
from teddy.ticket.state import structure_of
from teddy.training import TrainResult, seeded
from teddy.training.config import recorded_config
from teddy.weights import count_nonzero

if TYPE_CHECKING:
    from teddy.methods.problem import Problem


def check_choice(graph: Edges, method: str, level: SparsityLevel, keep: Tensor) -> None:
    """Raise unless a method has kept exactly the budget of edges in each group.

    Args:
        graph: The edges.
        method: Name of the method.
        level: Requested sparsities.
        keep: bool ``[M]``, the kept edges.
    """
    total, budgets = graph.num_edges, graph.num_pruned(level.graph_sparsity)
    if keep.dtype != torch.bool or keep.shape != (total,):
        got = f"{list(keep.shape)} of {keep.dtype}"
        raise InputError(f"{method} returned a mask {got}, expected [{total}] of torch.bool")
    expected = total - int(budgets.sum())
    if int(keep.sum()) != expected:
        raise InputError(
            f"{method} kept {int(keep.sum())} of {total} edges, expected {expected} "
            f"at graph sparsity {level.graph_sparsity:.4f}"
        )
    if graph.groups is None or graph.groups.budget == "all":
        return
    removed = torch.bincount(graph.group[~keep], minlength=len(graph.groups))
    for number in (removed != budgets).nonzero().flatten().tolist():
        name = graph.groups.name(number)
        raise InputError(
            f"{method} removed {int(removed[number])} edges of {name}, "
            f"expected {int(budgets[number])}"
        )


def kind_fields(values: dict[str, Any]) -> dict[str, Any]:
    """Header fields of a ticket that a kind of problem records."""
    known = {field.name for field in fields(TicketInfo)}
    others = {key: value for key, value in values.items() if key not in known}
    return {key: values[key] for key in values if key in known} | (
        {"own": others} if others else {}
    )


def make_ticket(
    problem: Problem,
    method: str,
    level: SparsityLevel,
    choice: Choice,
    network: nn.Module,
    sparse: TrainResult,
    dense: DenseResult,
    seconds: dict[str, float],
    settings: dict[str, Any],
) -> Ticket:
    """Make a ticket of a trained network, its kept edges and its metadata."""
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
    model = _model_spec(problem, network)
    if frozen := sum(p.numel() for p in network.parameters() if not p.requires_grad):
        model["frozen"] = frozen
    if unused := sum(p.numel() for name, p in named if name in problem.prunable.unused):
        model["unused"] = unused
    if not isinstance(network, GNN):
        where |= layer_fields(network)
    where |= problem.weight_budget.settings(network)
    names, found_on = problem.prepared.get("class_names"), problem.views.found_on
    edges, keep = found_on.edges, problem.views.kept(found_on, choice)
    logits = {"dense": dense.logits, "ticket": sparse.logits}
    head = problem.head_for(network)
    header = kind_fields(
        problem.kind.header_fields(problem.views, choice, problem.prepared, logits, head)
    )
    outputs = problem.task.outputs
    info = TicketInfo(
        method=method,
        dataset=str(problem.prepared.get("name", "data")),
        split=str(problem.prepared.get("split", "given")),
        split_seed=problem.prepared.get("split_seed"),
        split_fingerprint=problem.kind.split_fingerprint(problem.prepared),
        seed=problem.seed,
        model=model,
        graph=cast(
            GraphInfo,
            {
                "nodes": edges.graph_nodes,
                "edges": edges.num_edges,
                **feature_metadata(problem.data.x),
                outputs: problem.num_outputs,
                "fingerprint": edges.fingerprint(),
                "kept_fingerprint": edges.fingerprint(keep),
                "directed": edges.directed,
                "self_loops": not isinstance(network, GNN),
                "edge_inputs": edges.value_names,
                **edges.extra_inputs.names(),
            },
        ),
        graph_sparsity=level.graph_sparsity,
        weight_sparsity=level.weight_sparsity,
        edges=Count(keep.numel(), int(keep.sum())),
        weights=Count(sum(p.numel() for p in weights), count_nonzero(weights)),
        dense=dense.accuracy,
        ticket=accuracy_of(sparse),
        macs=macs,
        config={**recorded_config(problem.config), **settings, **where},
        classes=None if names is None else [str(name) for name in names],
        features=feature_names(problem.prepared),
        inductive=_inductive(problem, choice),
        score=choice.score,
        weighted=choice.weighted,
        task=cast(TaskInfo, problem.task.to_dict()),
        **header,
    )
    warn_of_collapse(network, level.weight_sparsity, problem.task, sparse.logits, dense.logits)
    seconds = {"dense": dense.seconds, **seconds, "sparse": sparse.seconds}
    return Ticket(info, keep.cpu(), network.cpu().eval(), seconds)


def _inductive(problem: Problem, choice: Choice) -> InductiveInfo | None:
    views = problem.views
    if not views.grows:
        return None
    edges, kept = views.full.edges, views.kept(views.full, choice)
    return {
        "inference": views.inference,
        "score": choice.score,
        "weighted": choice.weighted,
        "nodes": edges.graph_nodes,
        "edges": {"total": kept.numel(), "kept": int(kept.sum())},
        "fingerprint": edges.fingerprint(),
        "kept_fingerprint": edges.fingerprint(kept),
    }


def _model_spec(problem: Problem, model: nn.Module) -> ModelInfo:
    for name in MODELS:
        if type(model) is MODELS[name]:
            return {
                "name": name,
                "in_channels": model.in_channels,
                "out_channels": model.out_channels,
                "options": model.options,
            }
    spec: ModelInfo = {"class": class_path(model)}
    if isinstance(problem.source.model, str):
        return spec
    with seeded(problem.seed, problem.device):
        return cast(ModelInfo, {**spec, **structure_of(problem.source.make(0, 0), model)})


_REMEDY = "weight_scope='balanced', weight_schedule='cubic' or a lower weight_sparsity"


def empty_layers(model: nn.Module) -> list[str]:
    """Names of the trainable weight matrices that are all zero.

    Example:
        >>> model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        >>> _ = nn.init.zeros_(model[1].weight)
        >>> empty_layers(model)
        ['1.weight']
    """
    return [
        name
        for name, weight in model.named_parameters()
        if weight.requires_grad and weight.dim() >= 2 and weight.numel() and not weight.any()
    ]


def is_constant(task: Task, logits: Tensor) -> bool:
    """Return whether all predictions are the same.

    Example:
        >>> import torch
        >>> from teddy.tasks import Classification
        >>> is_constant(Classification(), torch.tensor([[1.0, 2.0], [0.0, 3.0]]))
        True
    """
    predicted = task.predict(logits)
    return predicted.size(0) > 1 and bool((predicted == predicted[0]).all())


def warn_of_collapse(
    model: nn.Module, weight_sparsity: float, task: Task, logits: Tensor, dense_logits: Tensor
) -> None:
    """Warn of layers without weights, and of a ticket whose predictions are all the same.

    Args:
        model: The network of the ticket.
        weight_sparsity: Requested share of removed weights.
        task: The task.
        logits: Logits of the ticket.
        dense_logits: Logits of the dense model.
    """
    if weight_sparsity == 1:
        return  # no weight was requested to stay
    empty = empty_layers(model) if weight_sparsity > 0 else []
    if empty:
        more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
        warn(f"the ticket has no weight left in {', '.join(empty[:3])}{more}; try {_REMEDY}")
    if is_constant(task, logits) and not is_constant(task, dense_logits):
        remedy = f"; try {_REMEDY}" if weight_sparsity > 0 else ""
        warn(f"the ticket predicts one value for all rows, the dense model does not{remedy}")
