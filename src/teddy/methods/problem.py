"""What every method starts from: a checked graph, a way to make the model, a seed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter
from torch_geometric.data import Data

from teddy.capabilities import Part
from teddy.data import check_data
from teddy.data.checks import MASKS, check_features
from teddy.data.features import num_features
from teddy.data.splits import one_split
from teddy.errors import InputError, warn
from teddy.graph.beside import Beside
from teddy.graph.edges import Edges
from teddy.graph.groups import relation_text
from teddy.methods.growth import Growth
from teddy.methods.level import Level
from teddy.methods.model_source import ModelLike, ModelSource
from teddy.methods.phases import Phases, Progress
from teddy.methods.prunable import PrunableWeights
from teddy.methods.record import Choice, Dense, accuracy_of, make_ticket
from teddy.methods.store import Memory, Store
from teddy.methods.teacher import Teacher, TeacherLike
from teddy.models import GNN
from teddy.models.called import check_looks_up
from teddy.models.edge_inputs import Inputs, model_inputs
from teddy.models.identity import unwrapped
from teddy.models.layered import hidden_units
from teddy.models.macs import count_macs
from teddy.models.masks import check_takes_edge_weights
from teddy.numbers import check_seed
from teddy.prune import Signals, choose_edges, keep_highest
from teddy.prune.choose import needed_signals
from teddy.settings import Settings
from teddy.store.tensors import Entry
from teddy.ticket import Accuracy, Ticket
from teddy.training import (
    Checkpoint,
    TrainConfig,
    TrainResult,
    as_loader,
    seeded,
    train,
)
from teddy.training.config import resolved
from teddy.training.device import check_device
from teddy.training.inputs import dense_input, of_edges, own_types, warn_of_casts
from teddy.training.loop import Callback
from teddy.training.memory_of_graphs import check_computes_afresh
from teddy.training.runner import Runner
from teddy.training.tasks import parse_task, read_class_weight
from teddy.weights import FixedMask


class Problem:
    """A graph and a model to find a ticket for.

    The graph is taken as the simple one that ``data.edge_index`` stands for, undirected unless
    asked for, however its edges are listed. Weights and attributes of edges go along where the
    model takes them. A module that isn't one of ours also gets the self-loops that are listed.

    Built by :func:`teddy.methods.make_problem.make_problem` alone.

    Args:
        data: The graph.
        model: A name, a module (its weights are the initial ones), or a function that makes one.
        settings: The settings tree, with the method's own values.
        seed: Seed of everything random.
        parts: Parts of the search, whose combination was checked.
        teacher: A trained model to distil from; None: the dense model is trained.
        progress: Called after each epoch.
        store: Store of results that other searches, or this one another time, can resume from; it
            must be of this very problem.
        checkpoints: From the name of a training to its checkpoint.

    Attributes:
        settings: The settings tree.
        parts: Parts of the search; a method's own are checked against them.
        phases: Tells how far the search is.
        prunable: The weights that the weight budget holds for.
        source: Makes its models.
        task: The task, with what it knows of the training targets.
        growth: The graph that training sees, and those that validate, test and use a ticket.
        graph: The graph to prune: the whole, or that of the training nodes.
        data: What training sees.
        deployed: The graph that a ticket is for, which is the whole.
        dense_model: The dense model, where it was trained here; else its logits alone are known.
    """

    def __init__(
        self,
        data: Any,
        model: ModelLike,
        settings: Settings,
        seed: int = 0,
        *,
        parts: Sequence[Part] = (),
        teacher: TeacherLike | None = None,
        progress: Progress | None = None,
        store: Store | None = None,
        checkpoints: Callable[[str], Checkpoint] | None = None,
    ) -> None:
        self.settings, task, self.parts = settings, settings.task, tuple(parts)
        self.teacher = None if teacher is None else Teacher(teacher)
        self.seed, self.device = check_seed(seed), check_device(settings.run.device)
        model = unwrapped(model) if isinstance(model, nn.Module) else model
        self.config = self._config(settings.train, model)
        self.phases = Phases(progress, self.config.epochs)
        self.store = store or Memory()
        self.loader, self.checkpoints = as_loader(settings.train.loader), checkpoints
        self.weight_budget = settings.weights
        self.prunable = PrunableWeights(self)
        self.dense_model: nn.Module | None = None
        self.source = ModelSource(model, dict(settings.model_options), data)
        self.task = parse_task(task.task)
        split = settings.data.split
        self.given = self._with_features(one_split(self._checked(data), split, self.seed))
        self._check_module()
        fields = Data(**{key: self.given[key].to(self.device) for key in ("x", "y", *MASKS)})
        shown = self._shown(fields)
        fitted: Any = self.task.fit(
            fields.y[shown], fields.train_mask[shown], read_class_weight(task.class_weight)
        )
        self.task = replace(fitted, **self.task.options())
        fields.y = self.task.encode(fields.y)
        self.growth = self._growth(fields, self._edges())
        self.seen, self.deployed = self.growth.seen, self.growth.deployed
        if task.inference != "scored" and self.seen is self.deployed:
            warn(f"inference={task.inference} has no effect, since inductive is False")
        self.graph, self.data = self.seen.edges, self.seen.data
        self.num_outputs = self.task.num_outputs(self.data.y)
        if not self.data.x.is_floating_point():
            with seeded(self.seed, self.device):
                model = self.make_model()
                check_looks_up(
                    model, self.data.x, self.data.edge_index, **self.values_for(model, self.data)
                )
        self._warn_of_casts()

    def _warn_of_casts(self) -> None:
        """Warn of values that lose precision in the type of the user's own module."""
        with seeded(self.seed, self.device):
            module = self.source.own_module()
        if module is not None and not isinstance(module, GNN):
            x, values = self.deployed.data.x, of_edges(self.deployed.data)
            warn_of_casts(
                {"x": x, **values}, dense_input(module, torch.empty(0, dtype=x.dtype)).dtype
            )

    def _config(self, config: TrainConfig, model: ModelLike) -> TrainConfig:
        """Settings of the training, with those that were not given."""
        return resolved(config, model)

    def _checked(self, data: Any) -> Data:
        """The graph, or its nodes that are predicted: features, targets, masks."""
        return check_data(data, task=self.task.name, integers=True)

    def _with_features(self, data: Data) -> Data:
        """The same with floats in place of integer features, unless your own module takes them."""
        if data.x.is_floating_point():
            return data
        with seeded(self.seed, self.device):
            if self.source.own_module() is not None:
                return data
        data = copy.copy(data)
        data.x = check_features(data.x)
        return data

    def _check_module(self) -> None:
        """Raise unless the user's own module takes features and a graph."""
        with seeded(self.seed, self.device):
            self.source.check_module(self.given)

    def _shown(self, fields: Data) -> Tensor:
        """Rows that are visible during training, with or without a target, bool."""
        inductive = self.settings.task.inductive
        return fields.train_mask if inductive else torch.ones_like(fields.train_mask)

    def _growth(self, fields: Data, edges: Edges) -> Growth:
        """The graph that training sees, those that it is judged on, and the ticket's."""
        task = self.settings.task
        return Growth.of(fields, edges, task.inductive, task.inference, self.seed)

    def _edges(self) -> Edges:
        """The graph's edges, with their values that the model takes."""
        directed = self.settings.task.directed
        edges = self.given.edge_index
        self_loops = bool((edges[0] == edges[1]).any())
        with seeded(self.seed, self.device):
            inputs = self._inputs(model_inputs(self.source.kind(), self.given, directed))
            if self_loops:
                self_loops = self.source.takes_self_loops()
        listed = copy.copy(self.given).to(self.device, "edge_index", *inputs.edges)
        beside = Beside.of_data(self.given, inputs.nodes, inputs.whole).to(self.device)
        return replace(Edges.from_data(listed, inputs.edges, directed, self_loops), beside=beside)

    def _inputs(self, inputs: Inputs) -> Inputs:
        """The values that the model is given, or raise if they can't be."""
        return inputs

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
        """Train from the seed's initial weights, on the kept edges or the whole graph.

        Weights are projected to a sparsity, one by one or by whole ``neurons``, or those that a
        mask removes are zero throughout.
        """
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
                unseen=self.growth.unseen(choice),
                loader=self.loader,
                checkpoint=self.checkpoint(phase),
                task=self.task,
            )
        return model, result

    def dense(self) -> Dense:
        """The dense model, trained once (*Pretraining on Entire Graph* of Algorithm 1)."""
        known = self.store.load("dense")
        if known is None and self.teacher is not None:
            known = self.teacher.evaluated(self)
            self.store.save("dense", known)
            self.phases.skip("dense")
        elif known is None:
            self._check_computes_afresh()
            model, result = self.train(callbacks=self.phases.report("dense"), phase="dense")
            self.dense_model = model
            facts: dict[str, Any] = {
                "accuracy": asdict(accuracy_of(result)),
                "macs": self.macs(model),
                "seconds": result.seconds,
            }
            known = Entry({"logits": result.logits.cpu()}, facts)
            self.store.save("dense", known)
        else:
            self.phases.skip("dense")
        facts, logits = known.facts, known.tensors["logits"]
        return Dense(
            # With a loader rows are taken from them; they may be on the disk, and stay there.
            logits.to(self.device) if self.loader is None else logits,
            Accuracy(**facts["accuracy"]),
            facts["macs"],
            facts["seconds"],
        )

    def _check_computes_afresh(self) -> None:
        """Raise if a module of the user's own remembers a graph from one call to the next."""
        if isinstance(self.source.model, str):
            return

        def make() -> nn.Module:
            with seeded(self.seed, self.device):
                return self.make_model()

        network = make()
        half = torch.arange(self.graph.num_edges, device=self.device) % 2 == 0
        if half.numel() > 1 and not isinstance(network, GNN):
            head = self.head_for(network)
            check_computes_afresh(make, head, self.subgraph(None), self.subgraph(half))

    def train_ticket(
        self,
        method: str,
        level: Level,
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
        """Train what a method has chosen, and make a ticket of it (*Searching Subnetwork*).

        Args:
            method: Its name.
            level: The sparsities that were asked for.
            keep: bool ``[M]``, the edges that stay.
            score: The edge score that chose them, if one did: it can choose in a grown graph, too.
            weighted: Whether its degrees were weighted.
            weight_masks: The weights that stay; None: they are projected to the level.
            seconds: What the choice took.
            structure: ``neurons``: the projection keeps or removes whole hidden units.
            phase: What the training is called, where a search has several.
            settings: Of the method, to be recorded.
        """
        self._check_choice(method, level, keep)
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

    def _check_choice(self, method: str, level: Level, keep: Tensor) -> None:
        total = self.graph.num_edges
        if keep.dtype != torch.bool or keep.shape != (total,):
            got = f"{list(keep.shape)} of {keep.dtype}"
            raise InputError(f"{method} chose edges by {got}, expected [{total}] of torch.bool")
        expected = total - self.num_pruned(level)
        if int(keep.sum()) != expected:
            raise InputError(
                f"{method} kept {int(keep.sum())} of {total} edges, expected {expected} "
                f"at graph sparsity {level.graph_sparsity:.4f}"
            )
        self._check_groups(method, level, keep)

    def _check_groups(self, method: str, level: Level, keep: Tensor) -> None:
        """Raise if a group of edges that has a budget of its own lost more or less than that."""
        groups, budgets = self.graph.groups, self.graph.num_pruned(level.graph_sparsity)
        if groups is None or groups.budget == "all":
            return
        removed = torch.bincount(self.graph.group[~keep], minlength=len(groups))
        for number in (removed != budgets).nonzero().flatten().tolist():
            name = f"training graph {number}"
            if groups.relations:
                name = relation_text(groups.relations[number][0])
            raise InputError(
                f"{method} removed {int(removed[number])} edges of {name}, "
                f"expected {int(budgets[number])}"
            )

    def num_pruned(self, level: Level) -> int:
        r"""Edges that go, :math:`\lceil p_g M \rceil`."""
        return int(self.graph.num_pruned(level.graph_sparsity).sum())

    def choose(
        self,
        sparsity: float,
        score: str,
        weighted: bool = False,
        signals: Signals | None = None,
    ) -> Tensor:
        """The edges that a score keeps, bool ``[M]``.

        Args:
            sparsity: Share that goes.
            score: Its name.
            weighted: Whether its degrees are weighted.
            signals: What it looks at beside the graph.
        """
        return choose_edges(self.graph, sparsity, score, self.seed, weighted, signals)

    def keep_highest(self, scores: Tensor, sparsity: float) -> Tensor:
        """Keep all edges but those of lowest score, as many as the edge budget says, bool ``[M]``.

        Args:
            scores: float64 ``[M]``, such as magnitudes of learned masks.
            sparsity: Share of edges to remove.
        """
        return keep_highest(self.graph, scores, sparsity)

    def check_has_signals(self, score: str) -> None:
        """Raise unless the teacher can compute what a score looks at."""
        if "alone" not in needed_signals(score):
            return
        if self.teacher is not None and self.teacher.network is None:
            raise InputError(
                f"the score {score} runs the dense model on a graph without edges, expected a "
                "trained module as teacher, not logits"
            )

    def check_has_weights(self) -> None:
        """Raise unless degrees can be sums of weights."""
        if self.graph.weights is None:
            raise InputError("weighted=True came without edge_weight, expected data that have it")

    def check_weighs_edges(self) -> None:
        """Raise unless edges can have a weight in the user's own module."""
        with seeded(self.seed, self.device):
            self._check_weighs_edges(self.make_model())

    def _check_weighs_edges(self, network: nn.Module) -> None:
        """Raise unless edges can have a weight in a network."""
        check_takes_edge_weights(network)

    def checkpoint(self, phase: str | None) -> Checkpoint | None:
        """Where a training goes on from, if it is kept anywhere."""
        if phase is None or self.checkpoints is None:
            return None
        return self.checkpoints(phase)

    @property
    def num_encoded(self) -> int:
        """Outputs of a network that is made here."""
        return self.num_outputs

    def make_model(self) -> nn.Module:
        """Make a network with initial weights."""
        network = self.source.make(num_features(self.data.x), self.num_encoded)
        self.head_for(network)  # can it predict here?
        return network.to(self.device)

    def head_for(self, network: nn.Module) -> nn.Module | None:
        """Head of a network, from its outputs to logits, or raise if the network can't have one.

        None: its outputs are the logits.
        """
        return None

    def runner(self, network: nn.Module, data: Data, by_layer: bool = False) -> Runner:
        """Run a network and its head on a graph."""
        return Runner.from_data(network, data, head=self.head_for(network), by_layer=by_layer)

    def values_for(self, network: nn.Module, data: Data) -> dict[str, Any]:
        """Values of a graph that a network is given beside features and edges."""
        values = of_edges(data)
        if self.head_for(network) is not None:  # which takes it instead
            values.pop("graph_of_node", None)
        return values

    def check_units(self) -> None:
        """Raise unless the model has hidden units that can go whole."""
        with seeded(self.seed, self.device):
            hidden_units(self.initial_model())

    def initial_model(self) -> nn.Module:
        """Make a model whose parameters are all there, lazy ones too."""
        model = self.make_model()
        if any(isinstance(p, UninitializedParameter) for p in model.parameters()):
            self.runner(model, self.data)
        return model

    def identity(self) -> dict[str, Any]:
        """Values that decide the result beside the graph, the model and the training."""
        return {}

    def belongs_to(self, choice: Choice) -> tuple[Edges, Tensor]:
        """The graph that a ticket belongs to, and which of its edges stay, bool ``[M]``."""
        return self.graph, choice.keep

    def second_metric(self, logits: Mapping[str, Tensor]) -> dict[str, Any] | None:
        """Another metric of the ``dense`` model and the ``ticket``, where the task has one.

        Args:
            logits: Logits of both.
        """
        return None

    def facts(self, keep: Tensor, sparse: TrainResult, dense: Dense) -> dict[str, Any]:
        """What else a ticket says, where a problem is of another kind: fields of its header.

        Args:
            keep: bool ``[M]``, the edges that stay.
            sparse: The ticket's training.
            dense: The dense model.
        """
        return {}

    def subgraph(self, keep: Tensor | None) -> Data:
        """The graph that training sees, with the kept edges only; all of them for None."""
        return self.seen.subgraph(keep)

    def macs(self, model: nn.Module, choice: Choice | None = None) -> list[int] | None:
        """Multiply-accumulates of each layer, on the whole graph or what is kept of it."""
        keep = None if choice is None else self.growth.kept(self.deployed, choice)
        data = self.deployed.subgraph(keep)
        x = data.x if isinstance(model, GNN) else dense_input(model, data.x)
        values = own_types(self.values_for(model, data), x)
        return count_macs(model, x, data.edge_index, **values)
