"""``Problem``: the views of the data, the model and a seed, for every method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter
from torch_geometric.data import Data

from teddy.capabilities import Capabilities
from teddy.data.checks import MASKS
from teddy.data.features import num_features
from teddy.data.splits import one_split
from teddy.errors import InputError, warn
from teddy.methods.dense import DenseResult, dense_result
from teddy.methods.progress import Phases, Progress
from teddy.methods.prunable import PrunableWeights
from teddy.methods.record import check_choice, make_ticket
from teddy.methods.sparsity_level import SparsityLevel
from teddy.methods.store import MemoryStore, Store
from teddy.methods.teacher import Teacher, TeacherLike
from teddy.models import GNN
from teddy.models.identity import unwrapped
from teddy.models.inputs import dense_input, match_dtype, model_values
from teddy.models.layered import hidden_units
from teddy.models.macs import count_macs
from teddy.models.module_call import check_looks_up
from teddy.models.source import ModelLike, ModelSource
from teddy.prune import Signals, choose_edges, keep_highest
from teddy.settings import Settings
from teddy.sparsity import check_seed
from teddy.tasks import Head, Views, kind_for, parse_task, read_class_weight
from teddy.tasks.views import Choice
from teddy.ticket import Ticket
from teddy.training import (
    Checkpoint,
    TrainResult,
    as_loader,
    seeded,
    train,
)
from teddy.training.config import check_device, with_model_defaults
from teddy.training.loop import Callback
from teddy.training.runner import Runner
from teddy.weights import FixedMask


class Problem:
    """A graph and a model to find a ticket for; see :func:`~teddy.methods.make_problem`.

    Args:
        data: The graph.
        model: A name, a module, or a function that returns one.
        settings: The settings tree, with the method's own values.
        seed: Seed of everything random.
        parts: Parts of the search, whose combination was checked.
        teacher: A trained model to distil from.
        progress: Called after each epoch.
        store: Store to resume from.
        checkpoints: Function from the name of a training to its checkpoint.

    Attributes:
        parts: Parts of the search; those of a method are checked against them.
        prunable: Weights that the weight budget applies to.
        task: The task, fitted to the training targets.
        kind: Kind of problem: nodes, links or graphs.
        prepared: Features, targets and masks of all predicted rows, checked.
        views: Graphs for training, validation and test; ``graph`` and ``data`` are the edges and
            the data of the training view.
        dense_model: The dense model, if this process trained it.
    """

    def __init__(
        self,
        data: Any,
        model: ModelLike,
        settings: Settings,
        seed: int = 0,
        *,
        parts: Sequence[Capabilities] = (),
        teacher: TeacherLike | None = None,
        progress: Progress | None = None,
        store: Store | None = None,
        checkpoints: Callable[[str], Checkpoint] | None = None,
    ) -> None:
        self.settings, task, self.parts = settings, settings.task, tuple(parts)
        self.teacher = None if teacher is None else Teacher(teacher)
        self.seed, self.device = check_seed(seed), check_device(settings.run.device)
        model = unwrapped(model) if isinstance(model, nn.Module) else model
        self.task = parse_task(task.task)
        self.kind = kind_for(self.task, data, settings.task)
        self.config = with_model_defaults(self.kind.train_config(settings.train, model), model)
        self.phases = Phases(progress, self.config.epochs)
        self.store = store or MemoryStore()
        self.loader, self.checkpoints = as_loader(settings.train.loader), checkpoints
        self.weight_budget = settings.weights
        self.prunable = PrunableWeights(self)
        self.dense_model: nn.Module | None = None
        data = self.kind.split_data(data, settings)
        self.source = ModelSource(model, dict(settings.model_options), data)
        split_data = one_split(self.kind.prepare(data, settings), settings.data.split, self.seed)
        with seeded(self.seed, self.device):
            self.prepared = self.source.with_features(split_data)
            self.kind.check_module(self.source, self.prepared)
        self.views = self._views(data)
        if task.inference != "scored" and not self.views.held_out:
            warn(f"inference={task.inference} has no effect, since inductive is False")
        self.graph, self.data = self.views.train.edges, self.views.train.data
        self.num_outputs = self.task.num_outputs(self.data.y)
        if not self.data.x.is_floating_point():
            with seeded(self.seed, self.device):
                model = self.make_model()
                check_looks_up(
                    model, self.data.x, self.data.edge_index, **self.values_for(model, self.data)
                )
        with seeded(self.seed, self.device):
            self.source.warn_of_casts(self.views.full.data)

    def _views(self, data: Any) -> Views:
        """Views of the data, with targets encoded by the task that is fitted to the training."""
        with seeded(self.seed, self.device):
            edges = self.kind.edges(data, self.prepared, self.source, self.settings, self.device)
        names = ("x", "y", *MASKS, *self.kind.row_fields)
        fields = Data(**{name: self.prepared[name].to(self.device) for name in names})
        views = self.kind.views(fields, edges, self.settings, self.seed)
        visible, weight = views.train.data, read_class_weight(self.settings.task.class_weight)
        fitted: Any = self.task.fit(visible.y, visible.train_mask, weight)
        self.task = replace(fitted, **self.task.options())
        for view in views.distinct():
            view.data.y = self.task.encode(view.data.y)
        return views

    def train(
        self,
        choice: Choice | None = None,
        teacher: Tensor | None = None,
        weight_sparsity: float = 0.0,
        weight_masks: Sequence[Tensor] | None = None,
        callbacks: tuple[Callback, ...] = (),
        phase: str | None = None,
        structure: str = "none",
    ) -> tuple[nn.Module, TrainResult]:
        """Train from the initial weights of the seed, on the kept edges or the whole graph."""
        with seeded(self.seed, self.device):
            fixed = None
            if weight_masks is None:
                model = self.initial_model() if structure == "neurons" else self.make_model()
            else:
                model = self.initial_model()
                fixed = FixedMask((p for p in model.parameters() if p.requires_grad), weight_masks)
                fixed()
            result = train(
                model,
                self.subgraph(None if choice is None else choice.keep),
                self.config,
                head=self.head_for(model),
                teacher=teacher,
                weight_sparsity=weight_sparsity,
                budget=self.weight_budget,
                not_pruned=self.prunable.excluded(model) if weight_sparsity > 0 else (),
                units=hidden_units(model) if structure == "neurons" else None,
                after_step=fixed,
                callbacks=callbacks,
                evaluation_graphs=self.views.evaluation_graphs(choice),
                loader=self.loader,
                checkpoint=self.checkpoint(phase),
                task=self.task,
            )
        return model, result

    def dense(self) -> DenseResult:
        """Result of the dense model (*Pretraining on Entire Graph* of Algorithm 1)."""
        return dense_result(self)

    def train_ticket(
        self,
        method: str,
        level: SparsityLevel,
        keep: Tensor,
        *,
        score: str | None = None,
        weighted: bool = False,
        weight_masks: Sequence[Tensor] | None = None,
        seconds: dict[str, float] | None = None,
        structure: str = "none",
        phase: str = "sparse",
        **settings: Any,
    ) -> Ticket:
        """Train a ticket on the kept edges (*Searching Subnetwork* of Algorithm 1).

        Args:
            method: Name of the method.
            level: Requested sparsities.
            keep: bool ``[M]``, the kept edges.
            score: Edge score that chose them, if any; it can choose in other graphs, too.
            weighted: Whether its degrees were weighted.
            weight_masks: Kept weights; None: weights are projected to the level.
            seconds: Time of the choice.
            structure: ``neurons``: the projection keeps or removes whole hidden units.
            phase: Name of the training, where a search has several.
            settings: Options of the method, which are recorded.
        """
        check_choice(self.graph, method, level, keep)
        choice = Choice(keep, level.graph_sparsity, score, weighted)
        dense = self.dense()
        model, sparse = self.train(
            choice,
            dense.logits,
            level.weight_sparsity if weight_masks is None else 0.0,
            weight_masks,
            self.phases.report(phase),
            phase,
            structure,
        )
        return make_ticket(
            self, method, level, choice, model, sparse, dense, seconds or {}, settings
        )

    def num_pruned(self, level: SparsityLevel) -> int:
        r"""Number of edges to remove, :math:`\lceil p_g M \rceil`."""
        return int(self.graph.num_pruned(level.graph_sparsity).sum())

    def choose(
        self, sparsity: float, score: str, weighted: bool = False, signals: Signals | None = None
    ) -> Tensor:
        """Edges that a score keeps, bool ``[M]``; see :func:`teddy.prune.choose_edges`."""
        return choose_edges(self.graph, sparsity, score, self.seed, weighted, signals)

    def keep_highest(self, scores: Tensor, sparsity: float) -> Tensor:
        """Edges of highest score within the budget, bool ``[M]``."""
        return keep_highest(self.graph, scores, sparsity)

    def check_has_weights(self) -> None:
        """Raise unless edges have weights."""
        if self.graph.weights is None:
            raise InputError("weighted is True, expected data with edge_weight, got none")

    def check_weighs_edges(self) -> None:
        """Raise unless your own module accepts edge weights."""
        with seeded(self.seed, self.device):
            self.kind.check_weighs_edges(self.make_model())

    def checkpoint(self, phase: str | None) -> Checkpoint | None:
        """Checkpoint of a training; None without a folder."""
        return None if phase is None or self.checkpoints is None else self.checkpoints(phase)

    def make_model(self) -> nn.Module:
        """Make a network with initial weights."""
        width = self.kind.width(self.num_outputs)
        network = self.source.make(num_features(self.data.x), width)
        self.head_for(network)  # raises if it has none
        return network.to(self.device)

    def head_for(self, network: nn.Module) -> Head | None:
        """Head of a network, None if its outputs are logits; raise if it cannot have one."""
        return self.kind.head(network, self.prepared, self.device)

    def runner(self, network: nn.Module, data: Data, by_layer: bool = False) -> Runner:
        """Run a network and its head on a graph."""
        return Runner.from_data(network, data, head=self.head_for(network), by_layer=by_layer)

    def values_for(self, network: nn.Module, data: Data) -> dict[str, Any]:
        """Inputs of a network besides features and edges."""
        values = model_values(data)
        if self.head_for(network) is not None:  # the head takes it
            values.pop("graph_of_node", None)
        return values

    def check_units(self) -> None:
        """Raise unless the model has hidden units to remove."""
        with seeded(self.seed, self.device):
            hidden_units(self.initial_model())

    def initial_model(self) -> nn.Module:
        """Make a model with all parameters initialised, lazy ones too."""
        model = self.make_model()
        if any(isinstance(p, UninitializedParameter) for p in model.parameters()):
            self.runner(model, self.data)
        return model

    def second_metric(self, logits: Mapping[str, Tensor]) -> dict[str, Any] | None:
        """Second metric of the ``dense`` model and the ``ticket``, from their logits, or None."""
        return self.kind.second_metric(self.data, logits)

    def subgraph(self, keep: Tensor | None) -> Data:
        """Training view with the kept edges; with all edges for None."""
        return self.views.train.subgraph(keep)

    def macs(self, model: nn.Module, choice: Choice | None = None) -> list[int] | None:
        """Multiply-accumulates of each layer, on the whole graph or its kept edges."""
        full = self.views.full
        data = full.subgraph(None if choice is None else self.views.kept(full, choice))
        x = data.x if isinstance(model, GNN) else dense_input(model, data.x)
        values = match_dtype(self.values_for(model, data), x)
        return count_macs(model, x, data.edge_index, **values)
