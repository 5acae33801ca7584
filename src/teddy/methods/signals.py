"""Signals of nodes, such as the dense model's logits, that edge scores use."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.methods.problem import Problem
from teddy.prune import Signals
from teddy.prune.choose import needed_signals
from teddy.store.tensors import Entry
from teddy.tasks.batches import without_edges


def signals_of(problem: Problem, needs: Sequence[str]) -> Signals:
    """Signals of the nodes that are visible during training.

    Labels are those of the training nodes. Logits are the dense model's and cost no training of
    their own. They cover all nodes, so a score that uses them distils the dense model into the
    graph.

    Args:
        problem: The problem.
        needs: Fields of :class:`~teddy.prune.scores.score.Signals` that a score uses.

    Example:
        >>> import teddy
        >>> from teddy.methods import make_problem
        >>> problem = make_problem(teddy.load_dataset("citeseer"), "gcn")
        >>> int((signals_of(problem, ["labels"]).labels >= 0).sum())
        120
    """
    data, dense = problem.data, problem.dense
    available = {
        "x": lambda: data.x,
        "logits": lambda: dense().logits.to(problem.device),
        "isolated_logits": lambda: isolated_logits(problem),
        "labels": lambda: torch.where(data.train_mask, data.y, -1),
    }
    return Signals(**{name: available[name]() for name in needs})


def isolated_logits(problem: Problem) -> Tensor:
    """Logits of the dense model on the graph without edges, ``[N, C]``."""
    known = problem.store.load("alone")
    if known is None:
        problem.dense()
        if problem.teacher is not None:
            logits = problem.teacher.without_edges(problem)
        else:
            # Another process may have trained it and stored its logits only: train it again.
            model = problem.dense_model or problem.train(phase="dense")[0]
            with torch.no_grad():
                runner = problem.runner(model, without_edges(problem.data))
                logits = runner.evaluation_logits()
        known = Entry({"logits": logits.cpu()}, {})
        problem.store.save("alone", known)
    return known.tensors["logits"].to(problem.device)


def check_has_signals(problem: Problem, score: str) -> None:
    """Raise unless the teacher can compute the signals of a score."""
    if "isolated_logits" not in needed_signals(score):
        return
    if problem.teacher is not None and problem.teacher.network is None:
        raise InputError(
            f"score {score} runs the dense model on a graph without edges, expected a "
            "trained module as teacher, not logits"
        )
