"""Tables of the page: texts, and the values that sort them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from teddy.report.commands import split_settings
from teddy.report.headline import signed
from teddy.report.style import method_order
from teddy.sweep.metric import Metric
from teddy.sweep.statistics import TOO_FEW

Cell = dict[str, Any]

#: Name, heading, whether it is a number.
_COLUMNS = (
    ("dataset", "data set", False),
    ("model", "model", False),
    ("method", "method", False),
    ("level", "level", True),
    ("graph", "edges removed", True),
    ("weight", "weights removed", True),
    ("dense", "dense", True),
    ("ticket", "ticket", True),
    ("last", "last epoch", True),
    ("difference", "difference", True),
    ("verdict", "verdict", False),
    ("seeds", "seeds", True),
    ("seconds", "seconds", True),
)

#: Columns that fit on a phone.
NARROW = ("method", "level", "difference", "verdict")


def verdict_columns(metric: Metric) -> tuple[tuple[str, str, bool], ...]:
    """Return the columns of the table of verdicts; link prediction has hits@k, too.

    Example:
        >>> names = [name for name, _, _ in verdict_columns(Metric("link-prediction", "AUC", 20))]
        >>> names[9:12]
        ['difference', 'dense_hits', 'hits']
    """
    if metric.hits is None:
        return _COLUMNS
    after = 1 + [name for name, _, _ in _COLUMNS].index("difference")
    hits = ("dense_hits", f"dense {metric.hits}", True), ("hits", f"ticket {metric.hits}", True)
    return *_COLUMNS[:after], *hits, *_COLUMNS[after:]


def verdict_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return a row for each ticket; one of the dense model where there is no ticket.

    Example:
        >>> cell = {"dataset": "cora", "model": "gcn", "method": "teddy", "level": 5,
        ...     "graph": 22.6, "weight": 22.6, "dense": 81.0, "verdict": "winning", "seeds": 3,
        ...     "best": {"mean": 82.0, "deviation": 0.5,
        ...              "difference": {"mean": 1.0, "low": 0.2, "high": 1.8}},
        ...     "last": {"mean": 81.5}, "seconds": 3.2, "problem": 0}
        >>> row, = verdict_rows([cell])
        >>> row["texts"]["ticket"], row["texts"]["difference"], row["sorts"]["difference"]
        ('82.00 ± 0.50', '+1.00 [+0.20, +1.80]', 1.0)
    """
    methods = {name: i for i, name in enumerate(method_order(c["method"] for c in cells))}
    shown = {cell["problem"] for cell in cells if cell["verdict"] != "dense"}
    keys = [(cell["problem"], methods[cell["method"]]) for cell in cells]
    rows = []
    for position in sorted(range(len(cells)), key=keys.__getitem__):
        cell = cells[position]
        row = {name: cell[name] for name in ("problem", "verdict")}
        if cell["verdict"] == "dense":
            if cell["problem"] in shown:
                continue
            shown.add(cell["problem"])
        rows.append({"position": position, **row, "texts": _texts(cell), "sorts": _sorts(cell)})
    return rows


def shared_settings(
    settings: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return names and values of the settings that all runs share, and the graphs' fingerprints.

    Args:
        settings: Resolved settings of each method, from the page's data.
        metadata: Metadata of the sweep.

    Example:
        >>> values = {"epochs": 200, "lr": 0.01, "tuned": False}
        >>> shared_settings([{"method": "teddy", "settings": values}], {})
        [('epochs', '200'), ('lr', '0.01'), ('tuned', 'no')]
    """
    shared, _ = split_settings([one["settings"] for one in settings])
    lines = [(name, _text(value)) for name, value in shared.items()]
    graphs = metadata.get("data")
    for name, value in (graphs if isinstance(graphs, Mapping) else {}).items():
        # Enough of a sha256 to tell graphs apart.
        fingerprint = isinstance(value, str) and len(value) == 64
        lines.append((f"graph of {name}", value[:12] if fingerprint else _text(value)))
    return lines


def method_settings(
    settings: Sequence[Mapping[str, Any]],
) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of the settings in which the methods differ.

    Example:
        >>> names = {"dataset": "cora", "model": "gcn"}
        >>> method_settings([{**names, "method": name, "settings": {"distill": strength}}
        ...     for name, strength in (("teddy", 10.0), ("ugs", 0.0))])
        (['data set', 'model', 'method', 'distill'],
        [['cora', 'gcn', 'teddy', '10'], ['cora', 'gcn', 'ugs', '0']])
    """
    _, differing = split_settings([one["settings"] for one in settings])
    if not differing:
        return [], []
    rows = [
        [one["dataset"], one["model"], one["method"]]
        + [_text(one["settings"].get(name)) for name in differing]
        for one in settings
    ]
    return ["data set", "model", "method", *differing], rows


def _texts(cell: Cell) -> dict[str, str]:
    best, last, dense = cell["best"], cell["last"], cell["verdict"] == "dense"
    spread = f" ± {best['deviation']:.2f}" if cell["seeds"] > 1 else ""
    return {
        "dataset": cell["dataset"],
        "model": cell["model"],
        "method": "dense" if dense else cell["method"],
        "level": str(cell["level"]),
        "graph": f"{cell['graph']:.1f}%",
        "weight": f"{cell['weight']:.1f}%",
        "dense": f"{cell['dense']:.2f}",
        "ticket": f"{best['mean']:.2f}{spread}",
        "last": "" if last is None else f"{last['mean']:.2f}",
        "difference": "" if dense else _difference(best["difference"]),
        **{n: "" if cell.get(n) is None else f"{cell[n]:.2f}" for n in ("dense_hits", "hits")},
        "verdict": "" if dense else cell["verdict"],
        "seeds": str(cell["seeds"]),
        "seconds": "" if dense else f"{cell['seconds']:.1f}",
    }


def _sorts(cell: Cell) -> dict[str, Any]:
    best, last = cell["best"], cell["last"]
    order = {"losing": 0, "undecided": 1, "winning": 2, "dense": 3, TOO_FEW: 4}
    return {
        **{name: cell[name] for name, _, _ in _COLUMNS if name in cell},
        **{name: cell.get(name) for name in ("dense_hits", "hits")},
        "ticket": best["mean"],
        "last": None if last is None else last["mean"],
        "difference": best["difference"]["mean"],
        "verdict": order.get(cell["verdict"], -1),
    }


def _difference(difference: Mapping[str, Any]) -> str:
    low, high = difference["low"], difference["high"]
    interval = "" if low is None or high is None else f" [{signed(low)}, {signed(high)}]"
    return signed(difference["mean"]) + interval


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value)
