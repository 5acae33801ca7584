"""Figure 2: change of the Laplacian energy by the removal of an edge, against its degree."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from teddy.errors import InputError
from teddy.graph import Edges
from teddy.report.chart import Chart, Panel, Points
from teddy.store.atomic import write_atomically
from teddy.sweep.grid import file_name
from teddy.tasks import load_dataset
from teddy_paper.energy_changes import energy_changes
from teddy_paper.reproduction import Finding, Progress, Result, ResultTable, Scope, reproduction
from teddy_paper.results import Results, display_name

Array = NDArray[np.float64]


def work(scope: Scope, progress: Progress) -> list[str]:
    """Compute and store the change of every edge."""
    failed = []
    for dataset in scope.datasets:
        if read_changes(dataset, scope) is not None:
            continue
        try:
            _compute(dataset, scope, progress)
        except InputError as error:
            failed.append(f"laplacian-energy of {dataset}: {error}")
    return failed


def _compute(dataset: str, scope: Scope, progress: Progress) -> None:
    graph = _graph(dataset, scope)
    # The spectrum comes first, and takes most of the time.
    progress(f"edges of {dataset}", 0, graph.num_edges)
    changes = energy_changes(
        graph.pairs,
        graph.num_nodes,
        progress=lambda done, wanted: progress(f"edges of {dataset}", done, wanted),
    )
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, graph=graph.fingerprint(), degree=changes.edge_degree.numpy(),
        change=changes.delta.numpy(), lone=changes.isolated_ends.double().numpy(),
        error=changes.error,
    )  # fmt: skip
    path = _path(dataset, scope)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())


@reproduction(
    "laplacian-energy", ("Figure 2",), "Change of the Laplacian energy by edge degree", work=work
)
def laplacian_energy(results: Results, scope: Scope) -> Result:
    """Change of energy by quarter of the edge degree, and degrees of the largest changes."""
    rows: list[list[Any]] = []
    panels, notes = [], []
    for dataset in scope.datasets:
        known = read_changes(dataset, scope)
        if known is None:
            continue
        degree, change, lone, error = known
        rank = float(spearmanr(degree, change).statistic)
        means = []
        for number, inside in quartiles(degree).items():
            part, other = change[inside], (change - lone)[inside]
            means.append(float(part.mean()))
            rows.append(
                [dataset, number, float(degree[inside].min()), float(degree[inside].max()),
                 int(inside.sum()), means[-1], 100 * float((part > error).mean()),
                 float(other.mean()), 100 * float((other > error).mean()), rank, f"{error:.0e}"]
            )  # fmt: skip
        low = degree <= np.median(degree)
        notes.append(
            f"{dataset}: of the largest tenth of changes {_share(low, change, 0.9):.0%} are of "
            f"edges of no more than median degree, of the smallest tenth "
            f"{_share(low, -change, 0.9):.0%}, of all edges {low.mean():.0%}; above 0 are "
            f"{(change[low] > error).mean():.0%} of them and {(change[~low] > error).mean():.0%} "
            f"of the others; means {means[0]:+.3f} in the lowest quarter, {means[-1]:+.3f} in the "
            f"highest"
        )
        points = Points("edges", degree.tolist(), change.tolist())
        panels.append(
            Panel(display_name(dataset), "edge degree", "change of energy", [points],
                  level=0.0, level_label="no change")
        )  # fmt: skip
    columns = (
        "dataset", "quarter by degree", "lowest degree", "highest degree", "edges", "mean change",
        "above 0 %", "mean change, lone 0", "above 0 %, lone 0", "rank correlation",
        "error at most",
    )  # fmt: skip
    title = "Change of energy by quarters of the edge degree"
    return Result(
        [ResultTable("laplacian-energy", title, columns, rows)],
        [Chart("laplacian-energy", "Removing one edge", panels)],
        [Finding("energy-low-degree", None, "; ".join(notes) or "not computed")],
        ["A node that loses its last edge has the eigenvalue 0 of the normalised Laplacian, and "
         "so an energy of 1, as in networkx; in the columns of lone 0 it counts 0.",
         "Whether the claim holds depends on its reading: edges of low degree change the energy "
         "most, up and down; but more of the edges of high degree raise it, and with lone "
         "nodes at 0 the mean change is below 0 at low degrees."],
    )  # fmt: skip


def _share(inside: NDArray[np.bool_], values: Array, quantile: float) -> float:
    """Share of the edges with the largest values that is inside."""
    return float(inside[values >= np.quantile(values, quantile)].mean())


def read_changes(dataset: str, scope: Scope) -> tuple[Array, Array, Array, float] | None:
    """Read degrees, changes and isolated ends of all edges, and the maximum error of a change.

    None if they were not computed for this graph, or the file is damaged.
    """
    try:
        with np.load(_path(dataset, scope)) as file:
            if not _is_of(str(file["graph"]), dataset, scope):
                return None
            return file["degree"], file["change"], file["lone"], float(file["error"])
    except (OSError, ValueError, KeyError, BadZipFile):
        return None


def _is_of(fingerprint: str, dataset: str, scope: Scope) -> bool:
    """Return whether a graph is this data set; assumed if the data set cannot be read."""
    try:
        return fingerprint == _graph(dataset, scope).fingerprint()
    except InputError:
        return True


def _path(dataset: str, scope: Scope) -> Path:
    return scope.folder / "energies" / f"{file_name(dataset)}.npz"


def _graph(dataset: str, scope: Scope) -> Edges:
    data = load_dataset(dataset, data_dir=scope.data_dir)
    return Edges.from_columns(data.edge_index, data.num_nodes)[0]


def quartiles(degree: Array) -> dict[int, NDArray[np.bool_]]:
    """Four groups by degree; edges of one degree are in one group, so one may be empty.

    Example:
        >>> groups = quartiles(np.array([1.0, 1, 2, 3, 4, 4, 5, 9]))
        >>> {number: int(group.sum()) for number, group in groups.items()}
        {1: 2, 2: 2, 3: 2, 4: 2}
    """
    bounds = np.quantile(degree, [0.25, 0.5, 0.75])
    group = 1 + np.searchsorted(bounds, degree, side="left")
    return {i: group == i for i in range(1, 5) if (group == i).any()}
