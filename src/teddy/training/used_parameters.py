"""The trainable parameters of a model that its output depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from teddy.models import GNN
from teddy.training.runner import Runner
from teddy.training.seeding import seeded

# Passes to try before a parameter counts as unused.
_PASSES = 8


def used_parameters(runner: Runner) -> list[tuple[str, nn.Parameter]]:
    """Return the trainable parameters that reach the logits, with their names.

    A parameter reaches them if autograd finds a gradient of their sum. Where one doesn't, some more
    passes are tried: a layer that is skipped at random is used. Every parameter of a built-in model
    is, which costs no pass. Weights, gradients, buffers, modes and random numbers stay as they are.

    Args:
        runner: Runs the model on a graph; making it has initialized lazy parameters.

    Example:
        >>> class Own(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.used, self.head = nn.Linear(2, 1), nn.Linear(2, 1)
        ...     def forward(self, x, edge_index): return self.used(x)
        >>> runner = Runner(Own(), torch.ones(2, 2), torch.tensor([[0], [1]]))
        >>> [name for name, _ in used_parameters(runner)]
        ['used.weight', 'used.bias']
    """
    model = runner.network
    trainable = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    if isinstance(model, GNN) or not trainable:
        return trainable
    weights = [parameter for _, parameter in trainable]
    reached: set[int] = set()
    with _unchanged(model):
        for seed in range(_PASSES):
            reached |= _reached(weights, runner, seed)
            if len(reached) == len(weights):
                break
    return [pair for place, pair in enumerate(trainable) if place in reached]


def _reached(weights: list[nn.Parameter], runner: Runner, seed: int) -> set[int]:
    """Return the places of the parameters that have a gradient in one pass."""
    with seeded(seed, weights[0].device), torch.enable_grad():
        logits = runner.training_logits()
        if not logits.requires_grad:
            return set()
        found = torch.autograd.grad(logits.sum(), weights, allow_unused=True)
    return {place for place, gradient in enumerate(found) if gradient is not None}


@contextmanager
def _unchanged(model: nn.Module) -> Iterator[None]:
    """After the context the buffers and modes of a model are those before it."""
    before = [
        (
            module,
            module.training,
            {n: (b, b.detach().clone()) for n, b in module.named_buffers(recurse=False)},
        )
        for module in model.modules()
    ]
    try:
        yield
    finally:
        for module, mode, buffers in before:
            module.training = mode
            for name, (buffer, value) in buffers.items():
                with torch.no_grad():
                    buffer.copy_(value)
                setattr(module, name, buffer)


def unused_text(model: nn.Module, used: Iterable[tuple[str, nn.Parameter]]) -> str | None:
    """Return a warning that names the layers whose parameters never reach the output, or None.

    Example:
        >>> model = nn.ModuleDict({"body": nn.Linear(1, 1), "head": nn.Linear(1, 1)})
        >>> unused_text(model, model["body"].named_parameters(prefix="body"))
        'parameters of head never reach the output and are not counted'
        >>> unused_text(model, model.named_parameters())
    """
    reached = {name for name, _ in used}
    unused = [n for n, p in model.named_parameters() if p.requires_grad and n not in reached]
    if not unused:
        return None
    layers = list(dict.fromkeys(name.rpartition(".")[0] or name for name in unused))
    more = f" and {len(layers) - 3} more" if len(layers) > 3 else ""
    names = ", ".join(layers[:3]) + more
    return f"parameters of {names} never reach the output and are not counted"
