"""Search for the sparsest ticket against the full grid: answers and trainings.

    python -m benchmarks.search --runs citeseer:gin,pubmed:gcn --jobs 2 --json search.json

Both are computed in one folder, so nothing is trained twice, and a rerun resumes. Every point of
the grid has all seeds, and is judged by the same rule with the same share of the error. So the
answers can differ only by points that the search did not try.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from teddy.methods.spec import MethodSpec
from teddy.sweep import LevelPair, SearchResult, Settings, TriedPair, search_sparsest
from teddy.sweep.candidates import Candidates
from teddy.sweep.grid import file_name
from teddy.sweep.level_search import bisect_levels, trace_frontier
from teddy.sweep.search import grid_points
from teddy.training import TrainConfig


def full_grid(result: SearchResult, candidates: Candidates) -> list[TriedPair]:
    """Train and judge all points that a search could try."""
    points = grid_points(result.levels, result.frontier)
    return [_judged(result, candidates, point) for point in points]


def _judged(result: SearchResult, candidates: Candidates, point: LevelPair) -> TriedPair:
    seeds = candidates.differences(point, result.rule.seeds)
    decision = result.rule.run(lambda count: seeds[:count], _share(result, point))
    return TriedPair(point, *candidates.sparsities(point, result.rule.seeds), decision)


def sparsest_of(grid: Sequence[TriedPair]) -> list[LevelPair]:
    """Accepted points with none sparser; on the diagonal that is the last one."""
    good = [tried.point for tried in grid if tried.decision.verdict == "accepted"]
    return [p for p in good if not any(p != q and p.within(q) for q in good)]


def levels_apart(
    levels: Sequence[int], ours: Sequence[LevelPair], theirs: Sequence[LevelPair]
) -> int:
    """Largest difference of two answers in levels, of edges or weights.

    Example:
        >>> levels_apart([5, 10, 15], [LevelPair(10, 10)], [LevelPair(15, 15)])
        1
    """
    place = {level: index for index, level in enumerate([0, *levels])}
    one, other = ([*points] or [LevelPair(0, 0)] for points in (ours, theirs))

    def nearest(point: LevelPair, points: Sequence[LevelPair]) -> int:
        return min(
            max(abs(place[point.edges] - place[q.edges]),
                abs(place[point.weights] - place[q.weights]))
            for q in points
        )  # fmt: skip

    return max(*(nearest(p, other) for p in one), *(nearest(p, one) for p in other))


def _share(result: SearchResult, point: LevelPair) -> float:
    """Error that a search ending at this point may spend on it."""
    shares: dict[LevelPair, float] = {}

    def accepts(other: LevelPair, share: float) -> bool:
        shares[other] = share
        return other.within(point)

    walk = trace_frontier if result.frontier else bisect_levels
    walk(result.levels, result.rule.error, accepts)
    return shares[point]


def compare(
    dataset: str, model: str, out: Path, settings: Settings, jobs: int = 1, **options: Any
) -> dict[str, Any]:
    """Search, then compute the grid in the same folder."""
    result = search_sparsest(dataset, model, out, settings=settings, jobs=jobs, **options)
    spec = MethodSpec.parse(result.method)
    grid = full_grid(result, Candidates(dataset, model, spec, out, settings, jobs))
    ours, theirs = [answer.tried.point for answer in result.answers], sparsest_of(grid)
    return {
        "dataset": dataset,
        "model": model,
        "method": result.method,
        "tolerance": result.rule.tolerance,
        "search": [vars(point) for point in ours],
        "grid": [vars(point) for point in theirs],
        "apart": levels_apart(result.levels, ours, theirs),
        "trainings": {"search": result.tickets + result.dense, "grid": result.grid},
        "found": result.to_dict(),
        "full_grid": [tried.to_dict() for tried in grid],
    }


def _comparisons(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    settings = Settings(
        TrainConfig(arguments.epochs),
        model_options={}
        if arguments.hidden_channels is None
        else {"hidden_channels": arguments.hidden_channels},
    )
    for run in arguments.runs.split(","):
        dataset, _, model = run.partition(":")
        yield compare(
            dataset, model, arguments.out / file_name(dataset, model), settings, arguments.jobs,
            seeds=arguments.seeds, tolerance=arguments.tolerance, frontier=arguments.frontier,
            levels=[int(level) for level in arguments.levels.split(",")], method=arguments.method,
        )  # fmt: skip


def main() -> None:
    """Print a line for each data set and model, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", default="citeseer:gin,pubmed:gcn", help="data sets and models")
    parser.add_argument("--levels", default=",".join(map(str, range(1, 41))))
    parser.add_argument(
        "--frontier", action="store_true", help="separate levels for edges and weights"
    )
    parser.add_argument("--method", default="teddy", help="with options, as for teddy search")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tolerance", type=float, default=0.5)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--hidden-channels", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/search-benchmark"))
    parser.add_argument("--json", type=Path, default=Path("search.json"))
    arguments = parser.parse_args()
    rows = []
    for row in _comparisons(arguments):
        rows.append(row)
        answers = (
            " ".join(f"{p['edges']}/{p['weights']}" for p in row[kind]) or "none"
            for kind in ("search", "grid")
        )
        ours, theirs = answers
        same = "within one level" if row["apart"] <= 1 else f"{row['apart']} levels apart"
        print(
            f"{row['dataset']} {row['model']} {row['method']}: search {ours}, "
            f"{row['trainings']['search']} trainings; full grid {theirs}, "
            f"{row['trainings']['grid']}; {same}",
            flush=True,
        )
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
