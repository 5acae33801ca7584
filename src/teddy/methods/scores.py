"""A method for each edge score: TEDDY's training on the edges that the score keeps.

A comparison of ``teddy`` with ``random`` (DropEdge's choice, once), ``degree-high``, ``k-neighbor``
or ``forest-fire`` differs in the edges alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from teddy.methods.method import METHODS, method
from teddy.methods.problem import Problem
from teddy.methods.search import Scheme
from teddy.methods.sparsity_level import SparsityLevel
from teddy.prune import SCORES
from teddy.ticket import Ticket


def register_score(score: str) -> None:
    """Register an edge score as a method.

    Example:
        >>> METHODS["random"].options
        {'weights': 'projection', 'structure': 'none', 'weighted': False}
    """

    @method(score, distill=10.0, check_values=partial(Scheme, score, score))
    def search(
        problem: Problem,
        levels: Sequence[SparsityLevel],
        *,
        weights: str = "projection",
        structure: str = "none",
        weighted: bool = False,
    ) -> Iterator[Ticket]:
        scheme = Scheme(score, score, weights, structure=structure, weighted=weighted)
        return scheme.tickets(problem, levels)


for _score in SCORES:
    if _score not in METHODS:
        register_score(_score)
