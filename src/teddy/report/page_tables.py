"""The tables of the page, as texts and what to sort them by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

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
    ("simulation", "level", True),
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


def verdict_columns(metric: Metric) -> tuple[tuple[str, str, bool], ...]:
    """Columns of the table of verdicts; with hits@k where there is such a second metric.

    Example:
        >>> names = [name for name, _, _ in verdict_columns(Metric("link-prediction", "AUC", 20))]
        >>> names[9:12]
        ['difference', 'dense_hits', 'hits']
    """
    if metric.hits is None:
        return _COLUMNS
    place = 1 + [name for name, _, _ in _COLUMNS].index("difference")
    hits = ("dense_hits", f"dense {metric.hits}", True), ("hits", f"ticket {metric.hits}", True)
    return *_COLUMNS[:place], *hits, *_COLUMNS[place:]


def verdict_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """A row a ticket; where there is none, one of the dense models.

    Example:
        >>> cell = {"dataset": "cora", "model": "gcn", "method": "teddy", "simulation": 5,
        ...     "graph": 22.6, "weight": 22.6, "dense": 81.0, "verdict": "winning", "seeds": 3,
        ...     "best": {"mean": 82.0, "deviation": 0.5,
        ...              "difference": {"mean": 1.0, "low": 0.2, "high": 1.8}},
        ...     "last": {"mean": 81.5}, "seconds": 3.2, "place": 0}
        >>> row, = verdict_rows([cell])
        >>> row["texts"]["ticket"], row["texts"]["difference"], row["sorts"]["difference"]
        ('82.00 ± 0.50', '+1.00 [+0.20, +1.80]', 1.0)
    """
    methods = {name: i for i, name in enumerate(method_order(c["method"] for c in cells))}
    places = {cell["place"] for cell in cells if cell["verdict"] != "dense"}
    keys = [(cell["place"], methods[cell["method"]]) for cell in cells]
    rows = []
    for position in sorted(range(len(cells)), key=keys.__getitem__):
        cell = cells[position]
        row = {name: cell[name] for name in ("place", "verdict")}
        if cell["verdict"] == "dense":
            if cell["place"] in places:
                continue
            places.add(cell["place"])
        rows.append({"position": position, **row, "texts": _texts(cell), "sorts": _sorts(cell)})
    return rows


def settings_rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the cells have in common, a line each.

    Example:
        >>> options = {"hidden_channels": 8}
        >>> settings_rows({"settings": {"epochs": 200, "model_options": options, "lr": None}})
        [('epochs', '200'), ('hidden_channels', '8'), ('lr', 'default')]
        >>> settings_rows({"methods": {"cora gin teddy": {"distill": 2.34}}})
        [('lambda, gin on cora', '2.34')]
    """
    found: list[tuple[str, str]] = []
    for name, value in _mapping(facts.get("settings")).items():
        if isinstance(value, Mapping):
            found.extend((str(inner), _text(part)) for inner, part in value.items())
        else:
            found.append((str(name), _text(value)))
    strengths: dict[str, list[str]] = {}
    for name, value in _mapping(facts.get("methods")).items():
        dataset, _, rest = str(name).partition(" ")
        model, _, method = rest.partition(" ")
        strength = value.get("distill") if isinstance(value, Mapping) else None
        if strength and "distill=" not in method:  # else the method's name says it
            strengths.setdefault(f"lambda, {model} on {dataset}", []).append(f"{strength:g}")
    found.extend((name, ", ".join(dict.fromkeys(values))) for name, values in strengths.items())
    for name, value in _mapping(facts.get("data")).items():
        # Enough of a sha256 to tell graphs apart.
        fingerprint = isinstance(value, str) and len(value) == 64
        found.append((f"graph of {name}", value[:12] if fingerprint else _text(value)))
    return found


def _texts(cell: Cell) -> dict[str, str]:
    best, last, dense = cell["best"], cell["last"], cell["verdict"] == "dense"
    spread = f" ± {best['deviation']:.2f}" if cell["seeds"] > 1 else ""
    return {
        "dataset": cell["dataset"],
        "model": cell["model"],
        "method": "dense" if dense else cell["method"],
        "simulation": str(cell["simulation"]),
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


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    if value is None:
        return "default"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value)
