"""Settings found by ``teddy tune`` for the paper's data sets and models, shipped as data."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any


def tuned_settings(dataset: str, model: str) -> dict[str, float]:
    """The tuned settings of a data set and model; empty where nothing was tuned.

    They were chosen by validation accuracy alone, of TEDDY at simulation 20.

    Example:
        >>> sorted(tuned_settings("citeseer", "gin"))
        ['distill']
        >>> tuned_settings("citeseer", "my-model")
        {}
    """
    found: dict[str, float] = _all().get(f"{dataset.lower()} {model}", {}).get("settings", {})
    return dict(found)


@lru_cache(maxsize=1)
def _all() -> dict[str, Any]:
    text = files("teddy.methods").joinpath("tuned.json").read_text(encoding="utf-8")
    entries: dict[str, Any] = json.loads(text)["tuned"]
    return entries
