"""The loop behind both halves of Algorithm 1."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.buffers import reused
from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.masked import Masked
from teddy.training.batches import Batches
from teddy.training.config import TrainConfig
from teddy.training.evaluation import Unseen, judges
from teddy.training.forward import NodeForward, forward_passes
from teddy.training.memory import keep_freed_memory
from teddy.training.objective import Objective
from teddy.weights import L0Projected

#: Weight decay of learned masks: that of UGS's code, whatever the weights of a model have.
MASK_DECAY = 5e-4


@dataclass(frozen=True)
class Epoch:
    """One epoch: the loss before its step, the validation accuracy (in percent) after it."""

    index: int
    loss: float
    val: float


Callback = Callable[[Epoch], None]


@dataclass
class TrainResult:
    """What a training gives; the model has the weights of the best validation epoch.

    Of epochs that are equally good, the last is the best. Test nodes are looked at when the
    training is over.

    Attributes:
        logits: The best epoch's logits ``[N, C]``, in evaluation mode.
        best: The best epoch.
        test: Test accuracy in percent, with the best epoch's weights.
        last_test: The same with the last's: what one gets without selection on validation.
        history: Every epoch.
        seconds: Wall-clock time.
    """

    logits: Tensor
    best: Epoch
    test: float
    last_test: float
    history: list[Epoch] = field(repr=False)
    seconds: float


@keep_freed_memory()
@reused()
def train(
    model: nn.Module,
    data: Data,
    config: TrainConfig | None = None,
    *,
    teacher: Tensor | None = None,
    weight_sparsity: float = 0.0,
    regularizer: Callable[[Tensor], Tensor] | None = None,
    after_step: Callable[[], None] | None = None,
    callbacks: Iterable[Callback] = (),
    unseen: Unseen | None = None,
) -> TrainResult:
    r"""Train on one graph by Adam: all nodes in a step, or batches of them.

    With ``teacher`` and ``weight_sparsity`` this is *Searching Subnetwork* of Algorithm 1, without
    them its *Pretraining on Entire Graph*.

    Args:
        model: Trained in place. Parameters that don't require a gradient are left as they are,
            and don't count towards the sparsity.
        data: ``x, edge_index, y, train_mask, val_mask, test_mask``, on the model's device.
        config: Settings.
        teacher: The dense model's logits, to distil from.
        weight_sparsity: :math:`p_\theta`; after every step the weights are projected (Eq. 10).
        regularizer: From the logits to a term to add to the loss.
        after_step: Called after every step, to project the parameters in another way.
        callbacks: Called with each :class:`Epoch`.
        unseen: Graphs to validate and test on, of nodes that aren't in ``data``.

    Example:
        >>> from teddy.models import GCN
        >>> data = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 2], [1, 3]]),
        ...     y=torch.tensor([0, 0, 1, 1]), train_mask=torch.tensor([1, 0, 1, 0]).bool(),
        ...     val_mask=torch.tensor([0, 1, 0, 0]).bool(),
        ...     test_mask=torch.tensor([0, 0, 0, 1]).bool())
        >>> result = train(GCN(4, 2, hidden=8), data, TrainConfig(epochs=50))
        >>> result.logits.shape, len(result.history)
        (torch.Size([4, 2]), 50)
    """
    network = model.model if isinstance(model, Masked) else model
    config = (config or TrainConfig()).of(network)
    started = time.perf_counter()
    train_nodes = data.train_mask.nonzero().flatten()
    objective = Objective(data.y, train_nodes, teacher, config)
    if isinstance(network, GNN):
        network.learn_labels(data.y, train_nodes)
        if unseen is not None and network.knows_labels:
            raise InputError(
                "labels are an input of this model, expected label_rate 0 where nodes are unseen"
            )
    forward = forward_passes(model, data.x, data.edge_index)
    val, test = judges(model, data, forward, unseen)
    optimizer = _optimizer(model, config, weight_sparsity)
    num_classes = int(data.y.max()) + 1
    batches = Batches(model, objective.nodes, data.y.numel())
    history: list[Epoch] = []
    best: Epoch | None = None
    best_state: dict[str, Tensor] = {}
    for index in range(config.epochs):
        losses = []
        for nodes in batches:
            if nodes is None:
                z = forward.training_logits()
                loss_of = objective
            else:
                assert isinstance(forward, NodeForward)
                z = forward.training_logits(nodes)
                loss_of = objective.of(nodes)
            if z.size(1) < num_classes:
                raise InputError(f"the model returned {z.size(1)} logits, expected {num_classes}")
            loss = loss_of(z, getattr(network, "to_predict", None))
            if regularizer is not None:
                loss = loss + regularizer(z)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if after_step is not None:
                after_step()
            losses.append(float(loss.detach()))
        logits = val.logits()
        epoch = Epoch(index, sum(losses) / len(losses), val.accuracy(logits))
        if not (math.isfinite(epoch.loss) and _finite(logits)):
            raise InputError(f"loss or logits at epoch {index} aren't finite, with lr {config.lr}")
        history.append(epoch)
        if best is None or epoch.val > best.val:
            improved = index
        if best is None or epoch.val >= best.val:
            best = epoch
            copy_state(model, best_state)
        for callback in callbacks:
            callback(epoch)
        if config.patience is not None and index - improved >= config.patience:
            break
    assert best is not None
    optimizer.zero_grad()
    last_test = test.accuracy()
    model.load_state_dict(best_state)
    logits = forward.evaluation_logits()
    if not _finite(logits):
        raise InputError(f"logits at epoch {best.index} aren't finite, with lr {config.lr}")
    seconds = time.perf_counter() - started
    return TrainResult(logits, best, test.accuracy(), last_test, history, seconds)


def _finite(logits: Tensor) -> bool:
    """Whether all are; a sum tells at once, unless it overflows."""
    return math.isfinite(float(logits.sum())) or bool(logits.isfinite().all())


def _optimizer(
    model: nn.Module, config: TrainConfig, weight_sparsity: float
) -> torch.optim.Optimizer:
    weights = [p for p in model.parameters() if p.requires_grad]
    if not weights:
        raise InputError(f"the {type(model).__name__} has nothing to train, expected parameters")
    assert config.lr is not None
    assert config.weight_decay is not None
    groups: list[dict[str, Any]] = [{"params": weights}]
    if isinstance(model, Masked):
        masks = {id(mask) for mask in model.masks()}
        groups = [
            {"params": [p for p in weights if id(p) not in masks]},
            {"params": model.masks(), "weight_decay": MASK_DECAY},
        ]
    adam = torch.optim.Adam(groups, lr=config.lr, weight_decay=config.weight_decay, fused=True)
    return L0Projected(adam, weight_sparsity) if weight_sparsity > 0 else adam


def copy_state(model: nn.Module, target: dict[str, Tensor]) -> None:
    """Copy a module's state into ``target``, over what it holds already.

    Example:
        >>> state = {}
        >>> copy_state(nn.Linear(1, 1, bias=False), state)
        >>> list(state)
        ['weight']
    """
    for name, value in model.state_dict().items():
        if name in target and target[name].shape == value.shape:
            target[name].copy_(value)
        else:
            target[name] = value.clone()
