"""The settings tree: all settings of a search by their public names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from teddy.errors import InputError
from teddy.settings.declare import Config, Entry, declared_settings
from teddy.settings.groups import DataConfig, ModelConfig, RunConfig, TaskConfig, TrainConfig
from teddy.settings.weights import WeightBudget

#: Settings that are always recorded, as in older sweeps; others only where they differ from their
#: defaults.
_ALWAYS = (
    "epochs", "lr", "weight_decay", "distill", "temperature", "divergence", "patience",
    "distill_nodes", "evaluate_every", "tuned", "split", "split_seed", "inductive", "device",
    "threads",
)  # fmt: skip
#: Settings that locate files and do not affect results.
_PLACES = ("data_dir", "nodes")


@dataclass(frozen=True)
class Settings:
    """Settings of a search, apart from the graph, the method, levels and seeds.

    Attributes:
        model_options: Options of a built-in model.

    Example:
        >>> settings = Settings(TrainConfig(epochs=20), model_options={"hidden_channels": 8})
        >>> settings == Settings.from_dict({"epochs": 20, "hidden_channels": 8})
        True
        >>> settings.updated(weight_scope="matrix", lr=0.1).train.lr
        0.1
    """

    train: TrainConfig = field(default_factory=TrainConfig)
    weights: WeightBudget = field(default_factory=WeightBudget)
    task: TaskConfig = field(default_factory=TaskConfig)
    data: DataConfig = field(default_factory=DataConfig)
    run: RunConfig = field(default_factory=RunConfig)
    model_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, group in _GROUPS.items():
            if not isinstance(getattr(self, name), group):
                got = type(getattr(self, name)).__name__
                raise InputError(f"{name} is a {got}, expected a {group.__name__}")

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Settings:
        """Settings by their public names; other names are options of the model."""
        return Settings().updated(**values)

    def updated(self, **values: Any) -> Settings:
        """The same settings with new values, by their public names."""
        changes: dict[str, Any] = {}
        options = dict(self.model_options)
        for name, value in values.items():
            if name in HOME:
                group, attribute = HOME[name]
                changes.setdefault(group, {})[attribute] = value
            else:
                options[name] = MODEL_ENTRIES[name].check(value) if name in MODEL_ENTRIES else value
        groups: dict[str, Any] = {
            group: replace(getattr(self, group), **new) for group, new in changes.items()
        }
        return replace(self, **groups, model_options=options)

    def loaded(self) -> Settings:
        """The same settings without those that only load the data set."""
        return replace(self, data=DataConfig())

    def items(self) -> Iterator[tuple[Entry, Any]]:
        """Every setting's declaration and value."""
        for name, entry in ENTRIES.items():
            group, attribute = HOME[name]
            yield entry, getattr(getattr(self, group), attribute)

    def to_dict(self) -> dict[str, Any]:
        """Settings that affect the results, as plain data.

        Example:
            >>> Settings(task=TaskConfig(directed=True)).to_dict()["directed"]
            True
        """
        plain = {
            entry.name: _plain(value)
            for entry, value in self.items()
            if entry.name not in _PLACES and (entry.name in _ALWAYS or value != entry.default)
        }
        plain["split_seed"] = plain["split_seed"] or 0
        plain["threads"] = plain["threads"] or 1
        return {**plain, "model_options": dict(self.model_options)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool | int | float | None) else str(value)


_GROUPS: dict[str, type[Config]] = {
    "train": TrainConfig, "weights": WeightBudget, "task": TaskConfig, "data": DataConfig,
    "run": RunConfig,
}  # fmt: skip

#: Every declared setting by its public name.
ENTRIES: dict[str, Entry] = {
    entry.name: entry for group in _GROUPS.values() for entry in declared_settings(group)
}

#: Group and field of every declared setting.
HOME: dict[str, tuple[str, str]] = {
    entry.name: (name, entry.attribute)
    for name, group in _GROUPS.items()
    for entry in declared_settings(group)
}

#: Settings that only load the data set.
LOADING: frozenset[str] = frozenset(entry.name for entry in declared_settings(DataConfig))

#: Options that models have in common, by name.
MODEL_ENTRIES: dict[str, Entry] = {entry.name: entry for entry in declared_settings(ModelConfig)}
