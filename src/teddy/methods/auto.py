"""The edge score that does best on validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teddy.edges import SCORES
from teddy.errors import InputError
from teddy.methods.level import Level
from teddy.methods.method import METHODS, method
from teddy.methods.problem import Problem
from teddy.methods.search import Scheme
from teddy.ticket import Ticket
from teddy.ticket.inference import scores_any_graph

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


def _check_taken(problem: Problem, schemes: list[Scheme]) -> None:
    """Raise if the problem hasn't got what a score looks at, and say which it takes."""
    wrong: dict[str, InputError] = {}
    for scheme in schemes:
        try:
            scheme.check(problem)
        except InputError as error:
            wrong[str(scheme.score)] = error
    if wrong:
        able = [str(scheme.score) for scheme in schemes if scheme.score not in wrong]
        instead = f"; here auto has scores={'+'.join(able)}" if able else ""
        raise InputError(f"{next(iter(wrong.values()))}{instead}")


def _check_new_edges(problem: Problem, scores: list[str]) -> None:
    """Raise if scores would be judged on grown graphs of which only some remove edges."""
    if problem.growth.grown is None or problem.growth.inference != "scored":
        return
    able = [score for score in scores if scores_any_graph(score)]
    if 0 < len(able) < len(scores):
        other = next(score for score in scores if score not in able)
        raise InputError(
            f"{other} can't choose among new edges and {able[0]} can, so they would be compared on "
            f"different graphs, expected inference=training or none, or scores={'+'.join(able)}"
        )


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
    ``ticket.info.config["tried"]`` the validation accuracy of each. In the inductive setting scores
    that can choose among new edges are compared with each other only.

    Args:
        problem: Graph, model, seed and settings.
        levels: How sparse.
        scores: Names in ``teddy.edges.SCORES``, joined by ``+``.
        weights: As of :func:`~teddy.methods.teddy.teddy`.
        structure: As of :func:`~teddy.methods.teddy.teddy`.
        weighted: As of :func:`~teddy.methods.teddy.teddy`.
    """
    schemes = _schemes(scores, weights, structure, weighted)
    _check_taken(problem, schemes)
    _check_new_edges(problem, scores.split("+"))
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
