"""The edge score that does best on validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teddy.edges import SCORES
from teddy.errors import InputError
from teddy.methods.level import Level
from teddy.methods.method import method
from teddy.methods.problem import Problem
from teddy.methods.search import Scheme
from teddy.ticket import Ticket

#: Those that are tried: by degrees, by chance, by what the dense model says.
SCORES_TO_TRY = "teddy+random+gain"


def _schemes(scores: str, weights: str, structure: str, weighted: bool) -> list[Scheme]:
    names = scores.split("+")
    for name in names:
        if name not in SCORES:
            known = ", ".join(SCORES)
            raise InputError(f"scores has '{name}', expected some of, joined by '+': {known}")
    return [Scheme("auto", name, weights, structure=structure, weighted=weighted) for name in names]


@method("auto", distill=10.0, check_values=_schemes)
def auto(
    problem: Problem,
    levels: Sequence[Level],
    *,
    scores: str = SCORES_TO_TRY,
    weights: str = "projection",
    structure: str = "none",
    weighted: bool = False,
) -> Iterator[Ticket]:
    """Find a ticket by each of several scores, and keep the best on validation nodes.

    Test nodes have no say; of equals the first is kept. The dense model is trained once, so k
    scores cost k sparse trainings. ``ticket.info.score`` says which it was, and
    ``ticket.info.config["tried"]`` the validation accuracy of each.

    Args:
        problem: Graph, model, seed and settings.
        levels: How sparse.
        scores: Names in ``teddy.edges.SCORES``, joined by ``+``.
        weights: As of :func:`~teddy.methods.teddy.teddy`.
        structure: As of :func:`~teddy.methods.teddy.teddy`.
        weighted: As of :func:`~teddy.methods.teddy.teddy`.
    """
    schemes = _schemes(scores, weights, structure, weighted)
    for scheme in schemes:
        scheme.check(problem)
    for level in levels:
        problem.begin(phases=1 + sum(scheme.phases(level) for scheme in schemes))
        tickets = [scheme.ticket(problem, level, f"sparse {scheme.score}") for scheme in schemes]
        best = max(tickets, key=lambda ticket: ticket.info.ticket.val)  # the first of equals
        best.info.config["tried"] = {t.info.score: t.info.ticket.val for t in tickets}
        yield best
