"""The edge score that does best on validation."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from teddy.errors import InputError
from teddy.methods.method import METHODS, method
from teddy.methods.problem import Problem
from teddy.methods.search import Scheme
from teddy.methods.sparsity_level import SparsityLevel
from teddy.prune import SCORES
from teddy.tasks.inference import scores_any_graph
from teddy.ticket import Ticket

logger = logging.getLogger(__name__)

#: Those that are tried: by degrees, by chance, by what the dense model says; and what leaves most
#: nodes to themselves, which is best where neighbours mislead.
SCORES_TO_TRY = "teddy+random+gain+degree-low"


def _schemes(scores: str, weights: str, structure: str, weighted: bool) -> list[Scheme]:
    known = ", ".join(SCORES)
    if not isinstance(scores, str):
        raise InputError(f"scores is {scores!r}, expected some of, joined by '+': {known}")
    names = scores.split("+")
    for name in names:
        if name not in SCORES:
            raise InputError(f"scores has '{name}', expected some of, joined by '+': {known}")
        if names.count(name) > 1:
            raise InputError(f"scores has '{name}' {names.count(name)} times, expected once")
    return [Scheme("auto", name, weights, structure=structure, weighted=weighted) for name in names]


def _usable(
    problem: Problem, levels: Sequence[SparsityLevel], schemes: list[Scheme]
) -> list[Scheme]:
    """Schemes that a problem supports; raise unless all are, or the scores are the default ones."""
    wrong: dict[str, str] = {}
    for scheme in schemes:
        try:
            for level in levels:
                scheme.check(problem, level)
        except InputError as error:
            wrong[str(scheme.score)] = str(error)
    names = [str(scheme.score) for scheme in schemes if scheme.score not in wrong]
    if problem.views.grows and problem.views.inference == "scored":
        able = [name for name in names if scores_any_graph(name)]
        if able:
            other = (name for name in names if name not in able)
            wrong |= dict.fromkeys(other, f"it can't choose among new edges, as {able[0]} does")
    usable = [scheme for scheme in schemes if scheme.score not in wrong]
    if not wrong:
        return usable
    first, reason = next(iter(wrong.items()))
    instead = "+".join(str(scheme.score) for scheme in usable)
    if not usable or "+".join(str(scheme.score) for scheme in schemes) != SCORES_TO_TRY:
        known = f"; expected scores={instead}" if usable else ""
        raise InputError(f"auto can't try {first}: {reason}{known}")
    logger.info("auto tries %s, without %s: %s", instead, first, reason)
    return usable


@method("auto", distill=10.0, check_values=_schemes)
def auto(
    problem: Problem,
    levels: Sequence[SparsityLevel],
    *,
    scores: str = SCORES_TO_TRY,
    weights: str = "projection",
    structure: str = "none",
    weighted: bool = False,
) -> Iterator[Ticket]:
    """Find a ticket by each of several scores, and keep the best on validation nodes.

    Test nodes have no say; of equals the first is kept. The dense model is trained once, so k
    scores cost k sparse trainings. ``ticket.info.score`` says which it was, and
    ``ticket.info.config["tried"]`` the validation metric of each. Of the default scores those are
    tried that the problem supports. In the inductive setting only scores that can choose among new
    edges are compared with each other.

    Args:
        problem: Graph, model, seed and settings.
        levels: How sparse.
        scores: Names in ``teddy.prune.SCORES``, joined by ``+``.
        weights: As of :func:`~teddy.methods.teddy.teddy`.
        structure: As of :func:`~teddy.methods.teddy.teddy`.
        weighted: As of :func:`~teddy.methods.teddy.teddy`.
    """
    schemes = _usable(problem, levels, _schemes(scores, weights, structure, weighted))
    for level in levels:
        problem.phases.begin(1 + sum(scheme.phases(level) for scheme in schemes))
        tickets = [scheme.ticket(problem, level, f" {scheme.score}") for scheme in schemes]
        best = max(tickets, key=lambda ticket: ticket.info.ticket.val)  # the first of equals
        best.info.config["tried"] = {t.info.score: t.info.ticket.val for t in tickets}
        for part in ("search", "round"):  # the others were trained to find it
            best.seconds[part] += sum(
                t.seconds[part] + t.seconds["sparse"] for t in tickets if t is not best
            )
        yield best


#: The method, to be called with options.
Auto = METHODS["auto"]
