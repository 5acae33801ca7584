"""Which kind of problem a graph and a task are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch.utils.data import Dataset
from torch_geometric.data import Data, HeteroData

from teddy.errors import InputError
from teddy.methods.graphs import GraphProblem
from teddy.methods.headed import HeadedProblem
from teddy.methods.hetero import HeteroProblem
from teddy.methods.links import LinkProblem
from teddy.methods.problem import Problem

#: Tasks that predict something else than nodes.
KINDS: dict[str, type[HeadedProblem]] = {
    "link-prediction": LinkProblem,
    "graph-classification": GraphProblem,
}


def problem_of(
    data: Data | HeteroData | Sequence[Data],
    task: str,
    target: str | None,
    relations: str,
    options: dict[str, Any],
) -> tuple[Callable[..., Problem], dict[str, Any]]:
    """What makes the problem, and those of the options that aren't the task's own.

    Args:
        data: The graph, or graphs.
        task: What is predicted.
        target: Of a heterogeneous graph: the node type that has the targets.
        relations: What its edges are scored in, ``each`` relation or ``all``.
        options: Of the task and of a model.

    Example:
        >>> make, rest = problem_of(
        ...     Data(), "link-prediction", None, "each", {"dimensions": 16, "hidden": 8})
        >>> make.func.__name__, make.keywords, rest
        ('LinkProblem', {'dimensions': 16}, {'hidden': 8})
    """
    hetero = isinstance(data, HeteroData) or target is not None or relations != "each"
    if task != "graph-classification" and isinstance(data, list | tuple | Dataset):
        raise InputError(
            f"data is a {type(data).__name__}, expected a Data, or the task graph-classification "
            "for a set of graphs"
        )
    if task not in KINDS:
        if not hetero:
            return Problem, options
        return partial(HeteroProblem, target=target, relations=relations), options
    if hetero:
        raise InputError(f"the task {task} is of one kind of node, expected a Data, and no target")
    kind = KINDS[task]
    own = {name: value for name, value in options.items() if name in kind.OPTIONS}
    rest = {name: value for name, value in options.items() if name not in own}
    return partial(kind, **own), rest
