"""Auto: the edge score whose ticket is best on the validation set."""

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

#: Scores that are tried by default: by degrees, at random, by the dense model's predictions, and
#: one that isolates many nodes, which is best on heterophilous graphs.
SCORES_TO_TRY = "teddy+random+gain+degree-low"


def _schemes(scores: str, weights: str, structure: str, weighted: bool) -> list[Scheme]:
    known = ", ".join(SCORES)
    if not isinstance(scores, str):
        raise InputError(f"scores is {scores!r}, expected names joined by '+', of: {known}")
    names = scores.split("+")
    for name in names:
        if name not in SCORES:
            raise InputError(f"scores has '{name}', expected names joined by '+', of: {known}")
        if names.count(name) > 1:
            raise InputError(f"scores has '{name}' {names.count(name)} times, expected once")
    return [Scheme("auto", name, weights, structure=structure, weighted=weighted) for name in names]


def _usable(
    problem: Problem, levels: Sequence[SparsityLevel], schemes: list[Scheme]
) -> list[Scheme]:
    """Schemes that a problem supports; raise if scores that are not the default are unsupported."""
    unsupported: dict[str, str] = {}
    for scheme in schemes:
        try:
            for level in levels:
                scheme.check(problem, level)
        except InputError as error:
            unsupported[str(scheme.score)] = str(error)
    names = [str(scheme.score) for scheme in schemes if scheme.score not in unsupported]
    if problem.views.grows and problem.views.inference == "scored":
        able = [name for name in names if scores_any_graph(name)]
        if able:
            other = (name for name in names if name not in able)
            reason = f"it cannot choose among new edges, as {able[0]} does"
            unsupported |= dict.fromkeys(other, reason)
    usable = [scheme for scheme in schemes if scheme.score not in unsupported]
    if not unsupported:
        return usable
    first, reason = next(iter(unsupported.items()))
    instead = "+".join(str(scheme.score) for scheme in usable)
    if not usable or "+".join(str(scheme.score) for scheme in schemes) != SCORES_TO_TRY:
        known = f"; expected scores={instead}" if usable else ""
        raise InputError(f"auto cannot try {first}: {reason}{known}")
    logger.info("auto tries %s without %s: %s", instead, first, reason)
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
    """Find a ticket by each of several edge scores, and keep the best on the validation set.

    The dense model is trained once, and a sparse ticket for each score. The test set is not read;
    of equal tickets the first is kept. ``ticket.info.score`` is the score that was chosen, and
    ``ticket.info.config["tried"]`` has the validation metric of each. Default scores that the
    problem does not support are left out. In the inductive setting only scores that can choose
    among new edges are compared with each other.

    Args:
        problem: Graph, model, seed and settings.
        levels: Sparsity levels.
        scores: Names in ``teddy.prune.SCORES``, joined by ``+``.
        weights: See :func:`~teddy.methods.teddy.teddy`.
        structure: See :func:`~teddy.methods.teddy.teddy`.
        weighted: See :func:`~teddy.methods.teddy.teddy`.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> method = teddy.Auto(scores="teddy+random")
        >>> ticket = teddy.find_ticket(data, "gcn", method=method, epochs=3, hidden_channels=8)
        >>> sorted(ticket.info.config["tried"])
        ['random', 'teddy']
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


#: The registered method; call it with options.
Auto = METHODS["auto"]
