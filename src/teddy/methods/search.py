"""``Scheme``, which all methods share: choose edges, choose weights, train the ticket.

Edges are chosen by a score, at once, or by learned masks. Weights are chosen by projection during
the training, or by learned masks. Masks are learned in rounds, as in UGS (`Chen et al. 2021
<https://arxiv.org/abs/2102.06790>`_): train masks and weights together, remove the lowest masks,
rewind the weights to their initial values. A score and the projection need no rounds; that is
TEDDY's Algorithm 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from teddy.capabilities import FEATURES, Capabilities, check_combination
from teddy.errors import InputError
from teddy.methods.combination import score_part
from teddy.methods.problem import Problem
from teddy.methods.signals import check_has_signals, signals_of
from teddy.methods.sparsity_level import SparsityLevel
from teddy.models.masks import Masks
from teddy.prune import SCORES
from teddy.prune.choose import needed_signals
from teddy.sparsity import check_count, check_number, schedule_sparsity
from teddy.store.tensors import Entry, pack, unpack
from teddy.ticket import Ticket
from teddy.training import seeded, train
from teddy.weights import largest_entries

#: The ways to choose weights.
WEIGHTS = ("projection", "masks")

#: What the projection keeps or removes: single weights, or whole hidden units.
STRUCTURES = ("none", "neurons")


@dataclass(frozen=True)
class RoundState:
    """Kept edges and weights after some rounds.

    Attributes:
        keep: bool ``[M]``, the kept edges.
        weights: bool mask for each parameter; None where masks do not choose weights.
        rounds: Seconds of each round so far.
    """

    keep: Tensor
    weights: list[Tensor] | None
    rounds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Scheme:
    r"""Choice of edges and weights by a method.

    Args:
        method: Name of the method, for the tickets.
        score: An edge score; None to learn edge masks.
        weights: ``projection`` or ``masks``.
        l1_edges: Strength of :math:`\|m_g\|_1` while masks are learned.
        l1_weights: Strength of :math:`\|m_\theta\|_1`.
        regularizer: Another term of that objective, a function of the logits.
        clamp: Whether edge masks stay within [0, 1].
        stride: Levels of the paper's schedule that a round of masks advances by.
        structure: ``none``; or ``neurons``, to project onto whole hidden units.
        weighted: Whether the score's degrees are sums of edge weights.
    """

    method: str
    score: str | None
    weights: str
    l1_edges: float = 1e-6
    l1_weights: float = 1e-5
    regularizer: Callable[[Tensor], Tensor] | None = None
    clamp: bool = False
    stride: int = 1
    structure: str = "none"
    weighted: bool = False

    def __post_init__(self) -> None:
        if self.weights not in WEIGHTS:
            known = ", ".join(WEIGHTS)
            raise InputError(f"weights is '{self.weights}', expected one of: {known}")
        if self.structure not in STRUCTURES:
            known = ", ".join(STRUCTURES)
            raise InputError(f"structure is '{self.structure}', expected one of: {known}")
        if self.score is not None:
            SCORES[self.score]  # raises on an unknown name
        for name in ("l1_edges", "l1_weights"):
            check_number(getattr(self, name), name)
        check_count(self.stride, "stride")
        check_combination(self.parts(SparsityLevel(1.0, 1.0)))

    def tickets(self, problem: Problem, levels: Sequence[SparsityLevel]) -> Iterator[Ticket]:
        """Find a ticket for each level; the dense model is trained once."""
        for level in levels:
            self.check(problem, level)
        for level in levels:
            problem.phases.begin(1 + self.phases(level))
            yield self.ticket(problem, level)

    def parts(self, level: SparsityLevel) -> list[Capabilities]:
        """Score and features that the scheme uses at a level."""
        edges, weights = self._learns(level)
        used = {
            "weighted degrees": self.weighted,
            "edge masks": edges,
            "weight masks": weights,
            "whole units": self.structure != "none",
        }
        score = [] if self.score is None else [score_part(self.score)]
        return [*score, *(FEATURES[name] for name, on in used.items() if on)]

    def check(self, problem: Problem, level: SparsityLevel) -> None:
        """Raise unless a problem supports the scheme at a level."""
        check_combination([*problem.parts, *self.parts(level)])
        budget = problem.weight_budget
        if self.structure != "none":
            problem.check_units()
            if budget.scope is not None or budget.exclude:
                raise InputError(
                    f"structure={self.structure} removes the same share of units in each layer, "
                    "expected no weight_scope and no weight_exclude"
                )
        if self.weights == "masks" and budget.schedule != "constant":
            raise InputError(
                f"weight_schedule is {budget.schedule} with weights=masks, which are removed in "
                "rounds, expected weight_schedule=constant"
            )
        if self.weighted:
            problem.check_has_weights()
        if self.score is not None:
            check_has_signals(problem, self.score)
        if self._learns(level)[0]:
            problem.check_weighs_edges()

    def phases(self, level: SparsityLevel) -> int:
        """Number of trainings of a ticket, without the dense one."""
        return 1 + len(self._path(level))

    def ticket(self, problem: Problem, level: SparsityLevel, suffix: str = "") -> Ticket:
        """Find a ticket.

        Args:
            problem: The problem.
            level: Sparsity level.
            suffix: Suffix of the names of trainings and rounds, if schemes share a problem.
        """
        path = self._path(level)
        problem.dense()  # pretraining on the entire graph
        state = self._state(problem, level, path, suffix)
        return problem.train_ticket(
            self.method,
            level,
            state.keep,
            score=self.score,
            weighted=self.weighted,
            weight_masks=state.weights,
            seconds={"search": sum(state.rounds), "round": sum(state.rounds[-1:])},
            structure=self.structure,
            phase=f"sparse{suffix}",
        )

    def _learns(self, level: SparsityLevel) -> tuple[bool, bool]:
        """Return whether edge masks, and weight masks, are learned."""
        edges = self.score is None and level.graph_sparsity > 0
        return edges, self.weights == "masks" and level.weight_sparsity > 0

    def _path(self, level: SparsityLevel) -> list[SparsityLevel]:
        """Levels of the rounds that lead to a level."""
        edges, weights = self._learns(level)
        if not (edges or weights):
            return []
        goal = SparsityLevel(
            level.graph_sparsity if edges else 0.0, level.weight_sparsity if weights else 0.0
        )
        return goal.rounds(self.stride)

    def _state(
        self, problem: Problem, level: SparsityLevel, path: list[SparsityLevel], suffix: str
    ) -> RoundState:
        """Kept edges at a level, and kept weights where masks choose them."""
        if not path:
            return RoundState(self._scored(problem, level.graph_sparsity), None)
        learns_edges, learns_weights = self._learns(level)
        everything = torch.ones(problem.graph.num_edges, dtype=torch.bool, device=problem.device)
        state = RoundState(everything, problem.prunable.masks() if learns_weights else None)
        for index, step in enumerate(path, 1):
            # Edges that a score chooses are removed in step with the rounds, up to their level.
            if self.score is not None:
                reached = 1.0 if step == path[-1] else schedule_sparsity(self.stride * index)
                step = SparsityLevel(min(reached, level.graph_sparsity), step.weight_sparsity)
            name = f"round-{index}-{step.graph_sparsity!r}-{step.weight_sparsity!r}{suffix}"
            phase = f"round{suffix} {index} of {len(path)}"
            state = self._round(problem, name, state, step, learns_edges, phase)
        return state

    def _scored(self, problem: Problem, graph_sparsity: float) -> Tensor:
        score = self.score or "teddy"  # without a score no edge is removed
        signals = signals_of(problem, needed_signals(score)) if graph_sparsity > 0 else None
        return problem.choose(graph_sparsity, score, self.weighted, signals)

    def _round(
        self,
        problem: Problem,
        name: str,
        state: RoundState,
        step: SparsityLevel,
        learns_edges: bool,
        phase: str,
    ) -> RoundState:
        """Learn masks and remove the lowest; or read the round from the store."""
        known = problem.store.load(name)
        if known is not None:
            problem.phases.skip(phase)
            return _from_entry(known, state)
        started = time.perf_counter()
        masks = self._learn(problem, state, learns_edges, phase)
        keep, weights = state.keep, state.weights
        if self.score is not None:
            keep = self._scored(problem, step.graph_sparsity)
        elif masks.edge_mask is not None:
            magnitudes = torch.full_like(keep, -torch.inf, dtype=torch.float64)
            magnitudes[keep] = masks.edge_mask.detach().abs().double()
            keep = problem.keep_highest(magnitudes, step.graph_sparsity)
        if weights is not None:
            magnitudes_left = [
                learned.detach().abs().masked_fill(~stays, -torch.inf)
                for learned, stays in zip(masks.weight_masks, weights, strict=True)
            ]
            weights = [torch.ones_like(stays) for stays in weights]
            for pool in problem.prunable.pools(step.weight_sparsity):
                left = [magnitudes_left[place] for place in pool.indices]
                kept = largest_entries(left, pool.num_kept)
                for place, mask in zip(pool.indices, kept, strict=True):
                    weights[place] = mask
        state = RoundState(keep, weights, [*state.rounds, time.perf_counter() - started])
        problem.store.save(name, _to_entry(state))
        return state

    def _learn(self, problem: Problem, state: RoundState, learns_edges: bool, phase: str) -> Masks:
        """Train masks and weights together; return the masks of the best validation epoch."""
        with seeded(problem.seed, problem.device):
            model = problem.initial_model()
            num_edges = int(state.keep.sum()) if learns_edges else None
            masks = Masks(model, num_edges, state.weights)

            def regularizer(logits: Tensor) -> Tensor:
                penalty = masks.penalty(self.l1_edges, self.l1_weights)
                return penalty if self.regularizer is None else penalty + self.regularizer(logits)

            @torch.no_grad()
            def clamp() -> None:
                if masks.edge_mask is not None:
                    masks.edge_mask.clamp_(0, 1)

            train(
                model,
                problem.subgraph(state.keep),
                problem.config,
                head=problem.head_for(model),
                masks=masks,
                teacher=problem.dense().logits,
                regularizer=regularizer,
                after_step=clamp if self.clamp else None,
                callbacks=problem.phases.report(phase),
                evaluation_graphs=problem.views.masked_evaluation_graphs(state.keep),
                checkpoint=problem.checkpoint(phase),
                task=problem.task,
            )
        return masks


def _to_entry(state: RoundState) -> Entry:
    tensors = {"edges": pack(state.keep)}
    if state.weights is not None:
        tensors |= {f"weights/{i}": pack(mask) for i, mask in enumerate(state.weights)}
    return Entry(tensors, {"rounds": state.rounds})


def _from_entry(entry: Entry, like: RoundState) -> RoundState:
    keep = unpack(entry.tensors["edges"], like.keep.numel()).to(like.keep.device)
    weights = like.weights
    if weights is not None:
        weights = [
            unpack(entry.tensors[f"weights/{i}"], mask.numel()).view(mask.shape).to(mask.device)
            for i, mask in enumerate(weights)
        ]
    return RoundState(keep, weights, list(entry.metadata["rounds"]))
