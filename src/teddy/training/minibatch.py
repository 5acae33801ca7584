"""Training steps on mini-batches of a loader, shared by processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.layered import LayeredGNN
from teddy.models.masks import Masks
from teddy.settings import TrainConfig
from teddy.tasks import Head, Task
from teddy.tasks.batches import Batch
from teddy.tasks.objective import Totals
from teddy.training.distributed import World
from teddy.training.loaders import Loader, grouped
from teddy.training.runner import Runner
from teddy.training.seeding import derived_seed, seeded, seeded_items
from teddy.training.steps import Steps


class BatchSteps(Steps):
    r"""Training steps on mini-batches.

    The classification loss of a step with batches :math:`b`, training nodes :math:`T_b` and nodes
    :math:`S_b` is

    .. math::
        \sum_b \Big( \frac{1}{\sum |T_b|} \sum_{i \in T_b} \mathrm{CE}_i +
        \frac{\lambda_{dt}}{\sum |S_b|} \sum_{i \in S_b} \mathrm{KL}_i \Big)

    The same holds for graphs, and for links with both ends in the batch.

    Each process computes some batches. Then gradients are summed over processes, and all make the
    same step. Random numbers depend on the seed, the epoch and the number of the batch, not on the
    process. Batches without training rows are skipped.

    Args:
        network: Network.
        head: Map from its outputs to logits; None: the outputs are the logits.
        data: Graph or graphs.
        config: Settings.
        teacher: Logits of the dense model, perhaps on disk.
        loader: Loader of the batches.
        optimizer: Optimizer.
        after_step: Function called after every step.
        seed: Seed of random numbers.
        task: Task.
    """

    def __init__(
        self,
        network: nn.Module,
        head: Head | None,
        data: Data,
        config: TrainConfig,
        teacher: Tensor | None,
        loader: Loader,
        optimizer: torch.optim.Optimizer,
        after_step: Callable[[], None] | None,
        seed: int,
        task: Task,
    ) -> None:
        self.world = World.current()
        self.network, self.head, self.data, self.config = network, head, data, config
        self.teacher = teacher if config.strength > 0 else None
        self.optimizer, self.after_step = optimizer, after_step
        if loader.together < self.world.size:
            raise InputError(
                f"together is {loader.together}, expected at least {self.world.size}: a batch for "
                "each process"
            )
        self.together, self.seed = loader.together, seed
        self.every_row = self.teacher is not None and config.distill_nodes == "all"
        self.batches: Iterable[Batch] = loader.batches(data, network, self.every_row)
        self.y, self.trains = data.y.cpu(), data.train_mask.cpu()
        self.task, self.num_outputs = task, task.num_outputs(self.y)
        self.device = next(network.parameters()).device
        self.parameters = [p for group in optimizer.param_groups for p in group["params"]]

    def epoch(self, index: int) -> float:
        """Do the steps of an epoch; return the mean of their losses."""
        losses, number = [], 0
        drawn = seeded_items(self.batches, derived_seed(self.seed, index, "batches"))
        for step in grouped(map(self._with_head, drawn), self.together):
            totals = self._totals(step)
            if any(self._has_targets(batch) for batch in step):
                self.optimizer.zero_grad()
                loss = torch.zeros((), device=self.device)
                statistics = Statistics(self.network)
                for place, batch in enumerate(step):
                    if not self._has_targets(batch):
                        continue
                    statistics.begin()
                    if place % self.world.size == self.world.rank:
                        seed = derived_seed(self.seed, index, "batch", number + place)
                        with seeded(seed, self.device):
                            loss += self._learn(batch, totals)
                        statistics.end()
                statistics.average(self.world)
                losses.append(self._step(loss))
            number += len(step)
        if not losses:
            raise InputError(
                f"epoch {index} had {number} batches without training rows, expected a loader "
                "with training nodes, links or graphs"
            )
        return sum(losses) / len(losses)

    def _with_head(self, batch: Batch) -> Batch:
        """Return the batch with rows and head of its part of the graph."""
        if self.head is None:
            return batch
        rows, head = self.head.part(batch.rows, self.data.x.size(0))
        return replace(batch, rows=rows, head=head)

    def _totals(self, step: list[Batch]) -> Totals:
        """Return the amount of training targets in a step, and the number of distilled rows."""
        train = [batch.rows[self.trains[batch.rows]] for batch in step]
        distilled = [b.rows for b in step] if self.config.distill_nodes == "all" else train
        return self.task.amount(self.y[torch.cat(train)]), sum(rows.numel() for rows in distilled)

    def _has_targets(self, batch: Batch) -> bool:
        """Return whether a batch has training or distilled rows."""
        return bool(self.trains[batch.rows].any()) or (self.every_row and batch.rows.numel() > 0)

    def _learn(self, batch: Batch, totals: Totals) -> Tensor:
        """Add the gradients of a batch; return its part of the loss."""
        rows, graph = batch.rows, batch.graph().to(self.device)
        head = None if batch.head is None else batch.head.to(self.device)
        runner = Runner.from_data(self.network, graph, head=head)
        z = runner.training_logits()[: rows.numel()]
        self.task.check_width(z, self.num_outputs)
        teacher = self.teacher
        if teacher is not None:
            teacher = teacher.index_select(0, rows.to(teacher.device)).to(self.device)
        train = self.trains[rows].nonzero().flatten()
        y, train = self.y[rows].to(self.device), train.to(self.device)
        loss = self.task.objective(y, train, teacher, self.config, totals)(z)
        loss.backward()
        return loss.detach()

    def _step(self, loss: Tensor) -> float:
        """Sum gradients and loss over processes, and make a step."""
        if self.world.size > 1:
            self._sum_gradients(loss)
        self.optimizer.step()
        if self.after_step is not None:
            self.after_step()
        return float(loss)

    def _sum_gradients(self, loss: Tensor) -> None:
        """Sum gradients, their presence for each parameter, and the loss in one message."""
        grads = [p.new_zeros(p.shape) if p.grad is None else p.grad for p in self.parameters]
        present = loss.new_tensor([p.grad is not None for p in self.parameters])
        message = torch.cat([*(grad.flatten() for grad in grads), present, loss.view(1)])
        self.world.sum_(message)
        sizes = [p.numel() for p in self.parameters]
        *summed, present, total = message.split([*sizes, len(sizes), 1])
        for p, grad, exists in zip(self.parameters, summed, present.tolist(), strict=True):
            p.grad = grad.view_as(p).to(p.dtype) if exists else None
        loss.copy_(total[0])


class Statistics:
    """Running statistics of a module, such as those of BatchNorm, over the batches of a step.

    Each batch starts from the statistics before the step. After the step they are the mean over
    batches, independent of order and processes.

    Args:
        model: Module.

    Example:
        >>> norm = nn.BatchNorm1d(1)
        >>> statistics = Statistics(norm)
        >>> for batch in (torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])):
        ...     statistics.begin()
        ...     _ = norm(batch)
        ...     statistics.end()
        >>> statistics.average(World())
        >>> norm.running_mean  # a tenth of the way from 0 to the mean of 2 and 6
        tensor([0.4000])
    """

    def __init__(self, model: nn.Module) -> None:
        numbers = (b for b in model.buffers() if not b.is_complex() and b.dtype != torch.bool)
        self.buffers = [buffer for buffer in numbers if buffer.numel()]
        self.before = [buffer.clone() for buffer in self.buffers]
        self.changes = [torch.zeros_like(buffer, dtype=torch.float64) for buffer in self.buffers]
        self.count = 0

    def begin(self) -> None:
        """Begin a batch."""
        self.count += 1
        for buffer, before in zip(self.buffers, self.before, strict=True):
            buffer.copy_(before)

    def end(self) -> None:
        """Record the statistics after a batch of this process."""
        for change, buffer, before in zip(self.changes, self.buffers, self.before, strict=True):
            change += buffer - before

    def average(self, world: World) -> None:
        """Set the statistics to the mean over all batches."""
        for change, buffer, before in zip(self.changes, self.buffers, self.before, strict=True):
            world.sum_(change)
            mean = change / self.count
            if not buffer.is_floating_point():
                mean = mean.round()
            buffer.copy_(before + mean.to(buffer.dtype))


def check_takes_batches(
    network: nn.Module,
    head: nn.Module | None = None,
    masks: Masks | None = None,
    regularizer: object = None,
) -> None:
    """Raise if a network, its head, its masks or a term of its loss need all nodes at once.

    Example:
        >>> from teddy.models import NAGphormer
        >>> check_takes_batches(NAGphormer(3, 2))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: NAGphormer does not support mini-batches, expected no loader
    """
    if head is not None and not isinstance(head, Head):
        raise InputError(
            f"a {type(head).__name__} does not support mini-batches, expected no loader"
        )
    if masks is not None or regularizer is not None:
        raise InputError("learned masks do not support mini-batches, expected no loader")
    if isinstance(network, GNN) and not isinstance(network, LayeredGNN):
        raise InputError(
            f"{type(network).__name__} does not support mini-batches, expected no loader"
        )
    if isinstance(network, GNN) and network.options.get("label_rate"):
        raise InputError("label_rate is above 0, expected label_rate=0 with a loader")
