"""``search_sparsest``: the sparsest winning ticket, by few trainings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from teddy.errors import InputError
from teddy.methods.spec import MethodSpec
from teddy.settings import Settings
from teddy.sparsity import check_count
from teddy.store.atomic import StrPath, check_writable, write_atomically
from teddy.sweep.candidates import Candidates, Progress
from teddy.sweep.level_search import LevelPair, bisect_levels, trace_frontier
from teddy.sweep.sequential import SequentialTest
from teddy.sweep.sparsest import SearchResult, SparsestPair, TriedPair
from teddy.sweep.statistics import paired_difference


def search_sparsest(
    dataset: str,
    model: str,
    out: StrPath,
    *,
    method: str = "teddy",
    tolerance: float = 0.5,
    confidence: float = 0.95,
    seeds: int = 10,
    levels: Sequence[int] = range(1, 41),
    frontier: bool = False,
    settings: Settings | None = None,
    jobs: int = 1,
    plugins: Sequence[str | Path] = (),
    ticket: StrPath | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Find the sparsest level at which tickets are not worse than dense models.

    1. Bisection chooses levels to try (:mod:`teddy.sweep.level_search`).
    2. At each level a sequential test (:mod:`teddy.sweep.sequential`) trains seeds until a bound
       on the mean validation difference, ticket minus dense, is above or below ``-tolerance``.
    3. The test metric of the accepted level is read once, at the end.

    Every training is a cell of a sweep: the same call resumes, and reuses cells of a sweep with the
    same settings. The result does not depend on them.

    Args:
        dataset: Name or path of the graph.
        model: The model.
        out: Folder of a sweep, which is created.
        method: The method, with options.
        tolerance: Points of the metric that a ticket may be below dense.
        confidence: Probability that no accepted level is below by more.
        seeds: Maximum number of seeds of a level: 0, 1, ...
        levels: Levels of the paper's schedule to choose from.
        frontier: Whether edges and weights have separate levels; finds all sparsest pairs.
        settings: Settings of all trainings.
        jobs: Number of processes, which train seeds in parallel.
        plugins: Python files of your own methods.
        ticket: File for the accepted ticket of highest validation metric, which is trained once
            more unless the folder has it.
        progress: Called with the name of the work, the finished amount and the total.

    Example:
        >>> import tempfile
        >>> from teddy.training import TrainConfig
        >>> settings = Settings(TrainConfig(epochs=2), model_options={"hidden_channels": 8})
        >>> result = search_sparsest("citeseer", "gcn", tempfile.mkdtemp(), tolerance=30, seeds=2,
        ...     levels=[5, 10], settings=settings)
        >>> result.sparsest.tried.point, result.tickets, result.grid
        (LevelPair(edges=10, weights=10), 2, 6)
    """
    spec = MethodSpec.parse(method)
    wanted = sorted({check_count(level, "level") for level in levels})
    if not wanted:
        raise InputError("got no levels, expected at least one")
    if frontier and (spec.only is not None or spec.weight_level is not None):
        raise InputError(
            f"method is {method} for a frontier, expected one without only and weight_level"
        )
    if ticket is not None:
        check_writable(ticket)
    rule = SequentialTest(1.0, tolerance, confidence, seeds)  # raises before the graph is read
    candidates = Candidates(
        dataset, model, spec, out, settings or Settings(), jobs, plugins, progress
    )
    rule = replace(rule, resolution=candidates.held_out("val_mask").resolution)
    tried: list[TriedPair] = []

    def accepts(point: LevelPair, share: float) -> bool:
        decision = rule.run(partial(candidates.differences, point), share)
        tried.append(TriedPair(point, *candidates.sparsities(point, decision.seeds), decision))
        return decision.verdict == "accepted"

    corners = (trace_frontier if frontier else bisect_levels)(wanted, rule.error, accepts)
    points = grid_points(wanted, frontier)
    against = _contradictions(candidates, rule, points, tried, corners)
    # The search has ended, so the test metric may be read.
    answers = [
        _answer(candidates, next(t for t in tried if t.point == corner)) for corner in corners
    ]
    result = SearchResult(
        dataset=candidates.dataset,
        model=model,
        method=str(spec),
        rule=rule,
        levels=wanted,
        frontier=frontier,
        tried=tried,
        answers=answers,
        against=against,
        tickets=sum(t.decision.seeds for t in tried),
        dense=max(t.decision.seeds for t in tried),
        grid=(len(points) + 1) * seeds,
        computed=candidates.computed,
        metric=candidates.metric,
    )
    if ticket is not None and result.sparsest is not None:
        best = result.sparsest
        write_atomically(ticket, candidates.ticket(best.tried.point, best.seed).read_bytes())
    return result


def grid_points(levels: Sequence[int], frontier: bool) -> list[LevelPair]:
    """All pairs of a full grid, without the dense one.

    Example:
        >>> [str(point) for point in grid_points([5], frontier=True)]
        ['0/5', '5/0', '5']
    """
    if not frontier:
        return [LevelPair(level, level) for level in levels]
    steps = [0, *levels]
    return [LevelPair(edges, weights) for edges in steps for weights in steps if edges or weights]


def _contradictions(
    candidates: Candidates,
    rule: SequentialTest,
    points: list[LevelPair],
    tried: list[TriedPair],
    corners: list[LevelPair],
) -> list[TriedPair]:
    """Trained pairs of the folder that contradict the assumption of the search."""
    others = []
    for point in points:
        if all(point != t.point for t in tried):
            known = candidates.known(point, rule.seeds)
            if len(known) >= 3:
                decision = replace(rule, seeds=len(known)).decide(known, rule.error)
                shares = candidates.sparsities(point, rule.seeds)
                others.append(TriedPair(point, *shares, decision))
    unexpected = []
    for pair in others:
        inside = any(pair.point.within(corner) for corner in corners)
        if pair.decision.verdict == ("rejected" if inside else "accepted"):
            unexpected.append(pair)
    return unexpected


def _answer(candidates: Candidates, tried: TriedPair) -> SparsestPair:
    ticket, dense = candidates.test_accuracies(tried.point, tried.decision.seeds)
    test = candidates.held_out("test_mask")
    return SparsestPair(
        tried=tried,
        seed=candidates.best_seed(tried.point, tried.decision.seeds),
        ticket=ticket,
        dense=dense,
        test=paired_difference(ticket, dense, test_rows=test.rows, resolution=test.resolution),
        hits=candidates.test_hits(tried.point, tried.decision.seeds),
    )
