"""Settings of a training that depend on the model."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from teddy.models import MODELS, parse_model
from teddy.settings import TrainConfig
from teddy.settings.groups import STRENGTH

#: Settings that a model can have of its own, with the paper's values, and TEDDY's lambda.
OWN = {"lr": 0.01, "weight_decay": 5e-4, "distill": STRENGTH}

#: Settings that a ticket records elsewhere, where they are not None.
_ELSEWHERE = ("loader", "tuned")


def resolved(config: TrainConfig, model: object) -> TrainConfig:
    """Fill in settings that are not given by those of the model.

    Args:
        config: The settings.
        model: Its name, or a module.

    Example:
        >>> resolved(TrainConfig(lr=0.1), "gcn").weight_decay
        0.0005
    """
    kind = MODELS[parse_model(model)[0]] if isinstance(model, str) else model
    own = {**OWN, **getattr(kind, "TRAINING", {})}
    missing = {name: own[name] for name in OWN if getattr(config, name) is None}
    return replace(config, **missing)


def recorded(config: TrainConfig) -> dict[str, Any]:
    """Settings as a ticket records them.

    Example:
        >>> recorded(TrainConfig(epochs=3))["epochs"]
        3
    """
    values = asdict(replace(config, loader=None))
    return {name: value for name, value in values.items() if name not in _ELSEWHERE}
