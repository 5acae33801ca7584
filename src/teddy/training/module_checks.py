"""Checks of your own module: unused parameters, unrestored state, remembered graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.errors import InputError, warn
from teddy.models import GNN
from teddy.training.distributed import World
from teddy.training.evaluation import Evaluator
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


def warn_if_not_restored(
    learned: nn.Module, val: Evaluator, best: float, weights: dict[str, Tensor]
) -> None:
    """Warn if a module's predictions don't follow from its ``state_dict``.

    They don't if it draws random numbers in evaluation mode, or if its forward changes Python
    attributes or buffers that aren't persistent. Random numbers of the caller are untouched.

    Args:
        learned: The module and masks beside it, with the weights of the best epoch.
        val: Evaluates it on validation nodes.
        best: The validation score of that epoch, in percent.
        weights: The state after that epoch; it is the same again after the check.
    """
    world, device = World.current(), val.y.device

    def logits(seed: int) -> Tensor:
        with seeded(seed, device):
            return val.logits()

    first = logits(0)
    again, score = _same(first, logits(1)), val.score(first)
    tolerance = 1e-6 if device.type == "cpu" else 1e-6 + 100 / val.nodes.numel()
    # Evaluation may be shared by processes, so all of them take the same branch.
    again, restored = world.shared((again, abs(score - best) <= tolerance))
    random = not again and world.shared(_same(first, logits(0)))
    learned.load_state_dict(weights)
    if not world.is_rank_zero or (again and restored):
        return
    name = type(val.runner.network).__name__
    if random:
        warn(
            f"a {name} is random in evaluation mode, so results differ from call to call: pass "
            "training=self.training to dropout, and draw no random numbers in evaluation mode"
        )
    else:
        warn(
            f"a {name} isn't determined by its state_dict, so a saved ticket computes something "
            "else: its forward changes Python attributes or non-persistent buffers; keep them "
            "with register_buffer"
        )


def _same(logits: Tensor, others: Tensor) -> bool:
    scale = float(logits.abs().max()) if logits.numel() else 0.0
    return torch.allclose(logits, others, rtol=1e-3, atol=1e-4 * scale)


def check_keeps_no_graph(
    make: Callable[[], nn.Module], head: nn.Module | None, whole: Data, part: Data
) -> None:
    """Raise if a module that has seen a graph gives other logits on the next one.

    The caches of PyG's layers are emptied anyway; one that a user has written can't be known. So a
    module that has seen the whole graph is compared with one that hasn't, on a part of its edges.

    Args:
        make: Makes the module, each time with the same weights.
        head: From its outputs to logits; None: they are the logits.
        whole: A graph.
        part: The same with fewer edges.

    Raises:
        InputError: if it remembers what it has seen.

    Warns:
        TeddyWarning: if the edges change nothing, as with a cache that was filled before.
    """

    def logits(module: nn.Module, data: Data) -> Tensor:
        with seeded(0, data.x.device):
            return Runner.from_data(module, data, head=head).evaluation_logits()

    experienced = make()
    name, before = type(experienced).__name__, logits(experienced, whole)
    found, expected = logits(experienced, part), logits(make(), part)
    if not torch.allclose(found, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max())):
        raise InputError(
            f"a {name} that has seen a graph gives other logits on the next one, expected a module "
            "that remembers none: no cache of its own"
        )
    if torch.equal(before, found) and bool(before.any()):
        warn(
            f"a {name} gives the same logits with half of the edges: it takes no notice of "
            "edge_index, or has a cache of its own that was filled before"
        )
