"""Training loop of both halves of Algorithm 1."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.kernels.jit import reused
from teddy.machine import keep_freed_memory
from teddy.models import GNN
from teddy.models.masks import Masks
from teddy.models.own_module import check_state
from teddy.settings import TrainConfig
from teddy.tasks import Classification, Task
from teddy.tasks.heads import Head
from teddy.tasks.views import EvaluationGraphs
from teddy.training.checkpoint import Checkpoint, Epoch, State
from teddy.training.config import with_model_defaults
from teddy.training.distributed import World
from teddy.training.evaluation import evaluators
from teddy.training.loaders import Loader
from teddy.training.minibatch import BatchSteps, check_takes_batches
from teddy.training.module_checks import warn_if_not_restored
from teddy.training.runner import Runner
from teddy.training.steps import GraphSteps, NodeBatches, Steps
from teddy.weights import L0Projected, Units, WeightBudget

#: Weight decay of learned masks, as in the code of UGS.
MASK_DECAY = 5e-4


Callback = Callable[[Epoch], None]


@dataclass
class TrainResult:
    """Result of a training; the model has the weights of the best validation epoch.

    The last of equally good epochs is the best. Test nodes are evaluated after the training.

    Attributes:
        logits: Logits of the best epoch, ``[N, C]``, in evaluation mode.
        best: Best epoch.
        test: Test metric of the best epoch, such as accuracy, in percent.
        last_test: Test metric of the last epoch, without selection on validation.
        history: All validated epochs.
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
    network: nn.Module,
    data: Data,
    config: TrainConfig | None = None,
    *,
    head: Head | None = None,
    masks: Masks | None = None,
    teacher: Tensor | None = None,
    weight_sparsity: float = 0.0,
    budget: WeightBudget | None = None,
    not_pruned: Collection[Tensor] = (),
    units: Sequence[Units] | None = None,
    regularizer: Callable[[Tensor], Tensor] | None = None,
    after_step: Callable[[], None] | None = None,
    callbacks: Iterable[Callback] = (),
    evaluation_graphs: EvaluationGraphs | None = None,
    loader: Loader | None = None,
    checkpoint: Checkpoint | None = None,
    task: Task | None = None,
) -> TrainResult:
    r"""Train on a graph with Adam, in full batch or mini-batches.

    With ``teacher`` and ``weight_sparsity`` this is *Searching Subnetwork* of Algorithm 1, without
    them its *Pretraining on Entire Graph*.

    Args:
        network: Network, trained in place. Parameters without a gradient are neither changed nor
            pruned.
        data: ``x, edge_index, y, train_mask, val_mask, test_mask``, on the network's device;
            optionally ``edge_weight`` and ``edge_attr``.
        config: Settings.
        head: Map from node outputs to logits of links or graphs, the rows of ``y`` and masks.
        masks: Masks of edges and weights, trained in place with the network.
        teacher: Logits of the dense model for distillation.
        weight_sparsity: :math:`p_\theta`; weights are projected after every step (Eq. 10).
        budget: Settings of the weight budget; only epochs at the full sparsity can be the best.
        not_pruned: Parameters that are neither pruned nor counted.
        units: Hidden units, which are projected in place of single weights.
        regularizer: Function from the logits to a further term of the loss.
        after_step: Function called after every step, such as another projection.
        callbacks: Functions called with each :class:`Epoch`.
        evaluation_graphs: Other graphs for validation and test, in the inductive setting.
        loader: Loader of mini-batches. Evaluation is layer by layer then, and processes of
            torch.distributed share the work. None: full batch.
        checkpoint: Checkpoint to write and to resume from.
        task: Task of the encoded targets ``data.y``; by default classification.

    Example:
        >>> from teddy.models import GCN
        >>> data = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 2], [1, 3]]),
        ...     y=torch.tensor([0, 0, 1, 1]), train_mask=torch.tensor([1, 0, 1, 0]).bool(),
        ...     val_mask=torch.tensor([0, 1, 0, 0]).bool(),
        ...     test_mask=torch.tensor([0, 0, 0, 1]).bool())
        >>> result = train(GCN(4, 2, hidden_channels=8), data, TrainConfig(epochs=50))
        >>> result.logits.shape, len(result.history)
        (torch.Size([4, 2]), 50)
    """
    config = with_model_defaults(config or TrainConfig(), network)
    task = task or Classification()
    started = time.perf_counter()
    world = World.current()
    if loader is not None:
        check_takes_batches(network, head, masks, regularizer)
    elif world.size > 1:
        raise InputError(f"{world.size} processes need mini-batches to share, expected a loader")
    train_nodes = data.train_mask.nonzero().flatten()
    if isinstance(network, GNN):
        if isinstance(task, Classification) and head is None:
            network.learn_labels(data.y, train_nodes)
        elif network.options.get("label_rate"):
            raise InputError(f"label_rate above 0 needs node classes, expected no task {task.name}")
        if evaluation_graphs is not None and network.uses_labels:
            raise InputError("label_rate is above 0, expected label_rate=0 for inductive training")
    by_layer = loader is not None
    runner = Runner.from_data(network, data, head=head, masks=masks, by_layer=by_layer)
    val, test = evaluators(task, data, runner, evaluation_graphs, learns=loader is None)
    budget = budget or WeightBudget()
    optimizer = _optimizer(network, masks, config, weight_sparsity, budget, not_pruned, units)
    ramp = budget.ramp_epochs(config.epochs) if weight_sparsity > 0 else 0
    steps: Steps
    if loader is None:
        objective = task.objective(data.y, train_nodes, teacher, config)
        batches = NodeBatches(network, objective.nodes, data.y.size(0), head, masks)
        check_width = partial(task.check_width, num_outputs=task.num_outputs(data.y))
        steps = GraphSteps(
            runner, objective, batches, optimizer, regularizer, after_step, check_width
        )
    else:
        seed = world.shared(torch.initial_seed())
        steps = BatchSteps(
            network, head, data, config, teacher, loader, optimizer, after_step, seed, task
        )
    learned = network if masks is None else nn.ModuleDict({"network": network, "masks": masks})
    check_state(learned)
    world.check_same(learned.state_dict().values(), "before the training")
    state = State()
    if checkpoint is not None:
        checkpoint.resume(learned, optimizer, state)
    while not state.ended(config):
        index = state.index
        if isinstance(optimizer, L0Projected):
            optimizer.sparsity = budget.sparsity(weight_sparsity, index, config.epochs)
        loss = steps.epoch(index)
        if not math.isfinite(loss):
            raise InputError(
                f"loss or logits at epoch {index} are not finite, use lr < {config.lr}"
            )
        state.index += 1
        if config.evaluates(index):
            logits = val.logits()
            epoch = world.shared(Epoch(index, loss, val.score(logits)))
            if not _finite(logits):
                raise InputError(
                    f"loss or logits at epoch {index} are not finite, use lr < {config.lr}"
                )
            world.check_same(learned.state_dict().values(), f"after epoch {index}")
            state.add(epoch, learned, counts=index >= ramp)
            for callback in callbacks:
                callback(epoch)
        if checkpoint is not None:
            seconds = time.perf_counter() - started
            checkpoint.save(learned, optimizer, state, seconds, state.ended(config))
    best = state.best
    assert best is not None
    optimizer.zero_grad()
    last_test = test.score()
    learned.load_state_dict(state.best_weights)
    logits = runner.evaluation_logits()
    if not _finite(logits):
        raise InputError(f"logits at epoch {best.index} are not finite, use lr < {config.lr}")
    seconds = state.seconds + time.perf_counter() - started
    scores = world.shared((test.score(), last_test))
    if not isinstance(network, GNN):
        warn_if_not_restored(learned, val, best.val, state.best_weights)
    return TrainResult(logits, best, *scores, state.history, seconds)


def _finite(logits: Tensor) -> bool:
    """Return whether all are finite; a sum is enough, unless it overflows."""
    return math.isfinite(float(logits.sum())) or bool(logits.isfinite().all())


def _optimizer(
    network: nn.Module,
    masks: Masks | None,
    config: TrainConfig,
    weight_sparsity: float,
    budget: WeightBudget,
    not_pruned: Collection[Tensor],
    units: Sequence[Units] | None,
) -> torch.optim.Optimizer:
    weights = [p for p in network.parameters() if p.requires_grad]
    if not weights and masks is None:
        raise InputError(f"the {type(network).__name__} has no trainable parameters, expected some")
    assert config.lr is not None
    assert config.weight_decay is not None
    groups: list[dict[str, Any]] = [{"params": weights}]
    if masks is not None:
        groups.append({"params": list(masks.parameters()), "weight_decay": MASK_DECAY})
    elif weight_sparsity > 0 and not_pruned:
        dense = {id(parameter) for parameter in not_pruned}
        groups = [
            {"params": [p for p in weights if id(p) not in dense]},
            {"params": [p for p in weights if id(p) in dense], "sparsity": 0.0},
        ]
    adam = torch.optim.Adam(groups, lr=config.lr, weight_decay=config.weight_decay, fused=True)
    if weight_sparsity == 0:
        return adam
    return L0Projected(adam, weight_sparsity, units, scope=budget.scope_for(network))
