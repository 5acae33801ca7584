"""Warnings about tickets that have lost what the dense model has learned."""

from __future__ import annotations

from torch import Tensor, nn

from teddy.errors import warn
from teddy.tasks import Task

_REMEDY = "weight_scope='balanced', weight_schedule='cubic' or a lower weight_sparsity"


def empty_layers(model: nn.Module) -> list[str]:
    """Names of the trainable weight matrices without an entry that is not zero.

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
    """Whether all predictions are the same.

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
        weight_sparsity: Share of its weights that was to be removed.
        task: The task.
        logits: Logits of the ticket.
        dense_logits: Logits of the dense model.
    """
    if weight_sparsity == 1:
        return  # nothing was to be left
    empty = empty_layers(model) if weight_sparsity > 0 else []
    if empty:
        more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
        warn(f"the ticket has no weight left in {', '.join(empty[:3])}{more}; try {_REMEDY}")
    if is_constant(task, logits) and not is_constant(task, dense_logits):
        remedy = f"; try {_REMEDY}" if weight_sparsity > 0 else ""
        warn(f"the ticket predicts the same for all, and the dense model does not{remedy}")
