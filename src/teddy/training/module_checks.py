"""Checks of your own module: unused parameters, unrestored state, cached graphs."""

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

# Number of passes before a parameter counts as unused.
_PASSES = 8


def used_parameters(runner: Runner) -> list[tuple[str, nn.Parameter]]:
    """Return the trainable parameters that reach the logits, with their names.

    A parameter is used if their sum has a gradient for it in one of several passes, since layers
    may be skipped at random. All parameters of built-in models are used. Weights, gradients,
    buffers, modes and random numbers are unchanged.

    Args:
        runner: Forward passes of the model on a graph, with lazy parameters initialised.

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
    """Return the indices of the parameters with a gradient in one pass."""
    with seeded(seed, weights[0].device), torch.enable_grad():
        logits = runner.training_logits()
        if not logits.requires_grad:
            return set()
        gradients = torch.autograd.grad(logits.sum(), weights, allow_unused=True)
    return {place for place, gradient in enumerate(gradients) if gradient is not None}


@contextmanager
def _unchanged(model: nn.Module) -> Iterator[None]:
    """Restore buffers and modes of a model after the context."""
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
    """Return a warning with the layers of unused parameters, or None.

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
    """Warn if the ``state_dict`` of a module does not determine its predictions.

    That is so if it draws random numbers in evaluation mode, or if its forward changes Python
    attributes or non-persistent buffers. Random numbers of the caller are unchanged.

    Args:
        learned: Module and masks, with the weights of the best epoch.
        val: Evaluator of validation nodes.
        best: Validation metric of that epoch in percent.
        weights: State after that epoch, restored after the check.
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
            f"a {name} is not determined by its state_dict, so a saved ticket predicts something "
            "else: its forward changes Python attributes or non-persistent buffers; store them "
            "with register_buffer"
        )


def _same(logits: Tensor, others: Tensor) -> bool:
    scale = float(logits.abs().max()) if logits.numel() else 0.0
    return torch.allclose(logits, others, rtol=1e-3, atol=1e-4 * scale)


def check_keeps_no_graph(
    make: Callable[[], nn.Module], head: nn.Module | None, whole: Data, part: Data
) -> None:
    """Raise if the logits of a module depend on earlier graphs.

    Caches of PyG's layers are cleared, but those in your own code are unknown. Therefore a module
    that ran on the whole graph is compared with a new one on a part of the edges.

    Args:
        make: Function that makes the module, each time with the same weights.
        head: Map from its outputs to logits; None: the outputs are the logits.
        whole: Graph.
        part: Graph with fewer edges.

    Raises:
        InputError: if the module caches a graph.

    Warns:
        TeddyWarning: if edges have no effect, as with a filled cache.
    """

    def logits(module: nn.Module, data: Data) -> Tensor:
        with seeded(0, data.x.device):
            return Runner.from_data(module, data, head=head).evaluation_logits()

    used = make()
    name, before = type(used).__name__, logits(used, whole)
    after, expected = logits(used, part), logits(make(), part)
    if not torch.allclose(after, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max())):
        raise InputError(
            f"the logits of a {name} depend on the graph of an earlier call, expected a module "
            "without a cache"
        )
    if torch.equal(before, after) and bool(before.any()):
        warn(
            f"a {name} returns the same logits with half of the edges: it ignores edge_index, or "
            "has a filled cache"
        )
