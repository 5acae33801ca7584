"""Commands and settings behind the runs of a page, rebuilt from what the sweep recorded."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from teddy.errors import InputError
from teddy.methods.spec import MethodSpec
from teddy.models import MODELS, parse_model
from teddy.names import is_in_file
from teddy.report.style import method_order
from teddy.settings import ENTRIES, MODEL_ENTRIES, Settings
from teddy.sweep.grid import Series, settings_for
from teddy.sweep.summary import Row
from teddy.training.config import with_model_defaults

#: Values that commands use where a setting is not given.
_DEFAULTS: dict[str, Any] = {"device": "cpu", "split_seed": 0, "evaluate_every": 1}

#: Settings that hold for a search but say nothing about it where they are not given.
_SILENT = ("class_weight", "target", "loader", "weight_exclude", "data_dir", "nodes", "tuned")


def command_line(command: str, arguments: Sequence[str], options: Mapping[str, Any]) -> str:
    """Write a command for a shell; options that are None, False or empty are left out.

    Example:
        >>> command_line("find", ["my graph"], {"model": "gcn", "epochs": 20, "inductive": True})
        "teddy find 'my graph' --model gcn --epochs 20 --inductive"
    """
    words = ["teddy", command, *arguments]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)) and not (name in ENTRIES and ENTRIES[name].many):
            words += [flag, ",".join(map(str, value))] if value else []
        elif isinstance(value, (list, tuple)):
            words += [word for item in value for word in (flag, str(item))]
        elif value is not None and value is not False:
            words += [flag, str(value)]
    return shlex.join(words)


def sweep_command(rows: Sequence[Row], metadata: Mapping[str, Any]) -> str | None:
    """Return the command whose grid has all of these rows; None if no settings are recorded.

    Example:
        >>> rows = [{"dataset": "citeseer", "model": "gcn", "method": method, "simulation": 5,
        ...     "seed": seed} for method in ("teddy", "random") for seed in (0, 1)]
        >>> sweep_command(rows, {"settings": {"epochs": 20, "lr": None}})
        'teddy sweep citeseer --models gcn --methods teddy,random --levels 5 --seeds 2
        --epochs 20'
    """
    if metadata.get("command"):
        return str(metadata["command"])
    if not metadata.get("settings"):
        return None
    grid = {
        "models": sorted({str(row["model"]) for row in rows}),
        "methods": method_order(row["method"] for row in rows),
        "levels": sorted({row["simulation"] for row in rows}),
        "seeds": 1 + max(row["seed"] for row in rows),
    }
    options = {**grid, **_given(metadata), **_plugins(metadata, rows)}
    return command_line("sweep", sorted({str(row["dataset"]) for row in rows}), options)


def cell_command(rows: Sequence[Row], metadata: Mapping[str, Any]) -> str | None:
    """Return the command that finds the tickets of one cell; None if no settings are recorded.

    Example:
        >>> row = {"dataset": "citeseer", "model": "gcn", "method": "teddy", "simulation": 5,
        ...     "graph_sparsity": 0.25, "weight_sparsity": 0.5, "seed": 0}
        >>> cell_command([row], {"settings": {"epochs": 20}})
        'teddy find citeseer --model gcn --method teddy --graph-sparsity 0.25 --weight-sparsity 0.5
        --epochs 20 --threads 1'
    """
    if not metadata.get("settings"):
        return None
    first, seeds = rows[0], sorted(row["seed"] for row in rows)
    if first["simulation"] == 0:  # the dense model alone: a ticket that removes nothing
        first = {**first, "method": str(first["method"]).partition(":")[0]}
    ticket = {
        "model": first["model"],
        "method": first["method"],
        "graph_sparsity": first["graph_sparsity"],
        "weight_sparsity": first["weight_sparsity"],
        "seed": seeds[0] or None,
        "seeds": len(seeds) if len(seeds) > 1 else None,
    }
    options = {**ticket, **_given(metadata), **_plugins(metadata, rows)}
    options.setdefault("threads", 1)
    return command_line("find", [str(first["dataset"])], options)


def real_settings(row: Row, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a run with every default resolved; empty if no settings are recorded.

    Values that cannot be resolved here, such as those of your own model, are as recorded.

    Example:
        >>> row = {"dataset": "citeseer", "model": "gcn", "method": "teddy", "simulation": 5,
        ...     "seed": 0, "split": "public", "distill": 10.0}
        >>> values = real_settings(row, {"settings": {"epochs": 20, "lr": None}})
        >>> values["epochs"], values["lr"], values["hidden_channels"], values["split"]
        (20, 0.01, 512, 'public')
    """
    recorded = dict(_mapping(metadata.get("settings")))
    if not recorded:
        return {}
    options = dict(_mapping(recorded.pop("model_options", None)))
    recorded.pop("version", None)
    values = {**recorded, **options}
    model, method = str(row["model"]), str(row["method"])
    try:
        settings = Settings.from_dict({k: v for k, v in recorded.items() if k in ENTRIES})
        series = Series(str(row["dataset"]), model, method, row["seed"], (row["simulation"],))
        values |= _resolved(series, settings)
        if not is_in_file(model):
            name, own = parse_model(model)
            values |= {**MODELS[name].OPTIONS, **options, **own}
        spec = MethodSpec.parse(method)
        values |= {**spec.method.options, **dict(spec.options)}
    except (InputError, TypeError):
        pass  # a method, task or model of the user's that is not loaded here
    exact = ("split", "distill") if row["simulation"] else ("split",)  # dense models distil nothing
    known = {name: row[name] for name in exact if row.get(name) is not None}
    return {name: value for name, value in {**values, **known}.items() if _is_said(name, value)}


def _resolved(series: Series, settings: Settings) -> dict[str, Any]:
    """Declared settings of a series by name, with the model's and the method's own values."""
    settings = settings_for(series, settings)
    model = series.model
    name: Any = model if is_in_file(model) else parse_model(model)[0]
    train = settings.train if is_in_file(model) else with_model_defaults(settings.train, model)
    values = {entry.name: value for entry, value in settings.items()}
    values |= {n: getattr(train, n) for n in ("lr", "weight_decay", "distill")}
    values["weight_scope"] = settings.weights.scope_for(MODELS.get(name))
    if settings.weights.schedule == "constant":
        values.pop("weight_ramp")
    defaults = {n: value for n, value in _DEFAULTS.items() if values[n] is None}
    return {**values, **defaults}


def split_settings(
    settings: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, Any], list[str]]:
    """Return settings that all runs share, and the names of those in which they differ.

    Example:
        >>> split_settings([{"epochs": 20, "distill": 10.0}, {"epochs": 20, "distill": 0.0}])
        ({'epochs': 20}, ['distill'])
    """
    names = list(dict.fromkeys(name for values in settings for name in values))
    missing = object()
    shared, differing = {}, []
    for name in names:
        values = [one.get(name, missing) for one in settings]
        if all(value == values[0] for value in values):
            shared[name] = values[0]
        else:
            differing.append(name)
    return shared, differing


def _given(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Recorded settings that are not the defaults, as options of a command."""
    recorded = dict(_mapping(metadata.get("settings")))
    options = _mapping(recorded.pop("model_options", None))
    known = {**ENTRIES, **MODEL_ENTRIES}
    given = {}
    for name, value in {**recorded, **options}.items():
        default = known[name].default if name in known else value
        if value not in (None, default, _DEFAULTS.get(name)) and (name, value) != ("threads", 1):
            given[name] = value
    return given


def _plugins(metadata: Mapping[str, Any], rows: Iterable[Row]) -> dict[str, Any]:
    """``--load`` of the user's file, whose name is not recorded, where a run needs one."""
    methods = _mapping(metadata.get("methods"))
    keys = {f"{row['dataset']} {row['model']} {row['method']}" for row in rows}
    files = [_mapping(methods.get(key)) for key in keys]
    return {"load": "FILE.py"} if any(f.get("file") or f.get("task") for f in files) else {}


def _is_said(name: str, value: Any) -> bool:
    return value not in (None, (), []) and not (name in _SILENT and value in (False, ""))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
