"""Defaults of models and methods in help texts, read from them when help is printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand


class CommandWithDefaults(TyperCommand):
    """A command whose help texts may name defaults: ``{hidden}``, ``{lr}``, ``{distill}``, ...

    See :func:`default_texts` for the names. torch is only imported if help is asked for, of a
    command that has such a text.
    """

    def get_help(self, ctx: Any) -> str:
        """Return the help with the defaults filled in."""
        texts: dict[str, str] = {}
        for parameter in self.params:
            text = getattr(parameter, "help", None) or ""
            if "{" in text:
                texts = texts or default_texts()
                parameter.help = text.format_map(texts)  # type: ignore[attr-defined]
        return super().get_help(ctx)


def default_texts() -> dict[str, str]:
    """Return the defaults of all models and methods, as help texts show them.

    Example:
        >>> texts = default_texts()
        >>> texts["heads"], texts["layers"]
        ('8 (gat, nagphormer), 2 (unimp), 4 (specformer)',
        '2 (gcn, gat, gin, sage, unimp, specformer), 1 (nagphormer)')
        >>> texts["distill"]
        '10, 0 (ugs, wd-glt)'
    """
    from teddy.methods import METHODS
    from teddy.methods.links import DIMENSIONS, HITS_AT, LEARNING_RATES
    from teddy.models import MODELS
    from teddy.training import TrainConfig

    training = {name: TrainConfig().of(name) for name in MODELS}
    strengths = {name: METHODS[name].distill for name in METHODS}
    usual = strengths["teddy"]
    others = {name: value for name, value in strengths.items() if value != usual}
    return {
        "models": ", ".join(MODELS),
        **{
            option: _by_name(
                {name: MODELS[name].OPTIONS[option] for name in MODELS
                 if option in MODELS[name].OPTIONS}
            )
            for option in ("hidden", "layers", "heads", "dropout")
        },
        "lr": _by_name({name: config.lr for name, config in training.items()}),
        "weight_decay": _by_name({name: config.weight_decay for name, config in training.items()}),
        "link_lr": _by_name(LEARNING_RATES),
        "dimensions": f"{DIMENSIONS}",
        "hits_at": f"{HITS_AT}",
        "distilling": f"{usual:g}",
        "distill": ", ".join([f"{usual:g}", _by_name(others)]),
    }  # fmt: skip


def _by_name(values: Mapping[str, Any]) -> str:
    """Values with the names that have them.

    Example:
        >>> _by_name({"gcn": 0.5, "gat": 0.6, "sage": 0.5})
        '0.5 (gcn, sage), 0.6 (gat)'
    """
    names: dict[Any, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    return ", ".join(f"{value:g} ({', '.join(having)})" for value, having in names.items())
