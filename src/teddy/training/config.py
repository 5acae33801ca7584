"""Training settings that depend on the model, and the device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from textwrap import shorten
from typing import Any

import torch

from teddy.errors import InputError
from teddy.models import MODELS, parse_model
from teddy.settings import TrainConfig
from teddy.settings.groups import STRENGTH

#: Settings that a model may override, with the paper's values and TEDDY's lambda.
MODEL_DEFAULTS = {"lr": 0.01, "weight_decay": 5e-4, "distill": STRENGTH}

#: Settings that a ticket records elsewhere, if not None.
_ELSEWHERE = ("loader", "tuned")


def with_model_defaults(config: TrainConfig, model: object) -> TrainConfig:
    """Return settings with missing ones filled in by those of the model.

    Args:
        config: The settings.
        model: Name of a model, or a module.

    Example:
        >>> with_model_defaults(TrainConfig(lr=0.1), "gcn").weight_decay
        0.0005
    """
    kind = MODELS[parse_model(model)[0]] if isinstance(model, str) else model
    defaults = {**MODEL_DEFAULTS, **getattr(kind, "TRAINING", {})}
    missing = {name: defaults[name] for name in MODEL_DEFAULTS if getattr(config, name) is None}
    return replace(config, **missing)


def recorded_config(config: TrainConfig) -> dict[str, Any]:
    """Return the settings that a ticket records.

    Example:
        >>> recorded_config(TrainConfig(epochs=3))["epochs"]
        3
    """
    values = asdict(replace(config, loader=None))
    return {name: value for name, value in values.items() if name not in _ELSEWHERE}


def check_device(device: str | torch.device) -> torch.device:
    """Return an available device, or raise.

    Example:
        >>> check_device("cpu")
        device(type='cpu')
    """
    try:
        checked = torch.device(device)
        if checked.type == "meta":
            raise InputError("device is 'meta', expected one that computes")
        torch.zeros(1, device=checked)
        return checked
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = shorten(str(error), 90, placeholder="...")
        raise InputError(f"device is '{device}', expected one that works here ({reason})") from None


@contextmanager
def limited_threads(count: int | None) -> Iterator[None]:
    """Limit the number of torch's threads in the context; None: no change.

    Example:
        >>> with limited_threads(1):
        ...     torch.get_num_threads()
        1
    """
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
