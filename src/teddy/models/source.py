"""Source of a search's models: a name, a module, or a function that makes one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Data

from teddy.data.checks import check_features, warn_of_weight
from teddy.errors import InputError
from teddy.models import GNN, MODELS, build_model, parse_model
from teddy.models.identity import unwrapped
from teddy.models.inputs import dense_input, model_values, warn_of_casts
from teddy.models.module_call import copy_uncached, stop_caching
from teddy.models.own_module import ForwardSignature, check_callable, check_module, needed_arguments

ModelLike = str | nn.Module | Callable[[], nn.Module]


@dataclass(frozen=True)
class ModelSource:
    """Factory of models with initial weights.

    Args:
        model: Name of a model, optionally with options; a module with its initial weights; or a
            function that makes one.
        options: Options of a named model.
        data: Graph, for a function with the argument ``data``.

    Example:
        >>> ModelSource("gcn", {"hidden_channels": 8}).make(features=3, outputs=2)
        GCN(3, 2, hidden_channels=8, num_layers=2, dropout=0.5)
    """

    model: ModelLike
    options: dict[str, Any]
    data: Any = None

    def __post_init__(self) -> None:
        if self.options and not isinstance(self.model, str):
            raise InputError(
                f"option '{min(self.options)}' has no effect on your own module, expected "
                "options of the method or the task, or the name of a built-in model"
            )
        if callable(self.model) and not isinstance(self.model, nn.Module):
            check_callable(self.model)

    def own_module(self) -> nn.Module | None:
        """Return your own module, not a copy; None for a built-in model.

        Example:
            >>> ModelSource("gcn", {}).own_module()
            >>> ModelSource(nn.Linear(3, 2), {}).own_module()
            Linear(in_features=3, out_features=2, bias=True)
        """
        if isinstance(self.model, str):
            return None
        module = self.model if isinstance(self.model, nn.Module) else self.make(0, 0)
        return None if isinstance(module, GNN) else module

    def with_features(self, data: Data) -> Data:
        """Return data with integer features as floats, unless the model is your own module."""
        if data.x.is_floating_point() or self.own_module() is not None:
            return data
        data = copy.copy(data)
        data.x = check_features(data.x)
        return data

    def check_module(self, data: Data) -> None:
        """Raise unless your own module takes features and a graph.

        Args:
            data: The graph.
        """
        module = self.own_module()
        if module is not None:
            check_module(module)
        if module is None or "weight" not in ForwardSignature.from_module(module).names:
            warn_of_weight(data)

    def make(self, features: int, outputs: int) -> nn.Module:
        """Make a model with initial weights; your own module is copied.

        Wrappers of ``torch.compile`` and ``DataParallel`` are removed, and no layer caches a graph.

        Args:
            features: Number of inputs of a named model.
            outputs: Number of outputs of a named model.
        """
        if isinstance(self.model, str):
            return build_model(self.model, features, outputs, **self.options)
        made: Any = self.model
        if isinstance(made, nn.Module):
            return copy_uncached(unwrapped(made))
        if callable(made):
            made = made(self.data) if needed_arguments(made) else made()
        if not isinstance(made, nn.Module):
            raise InputError(
                f"model is a {type(made).__name__}, expected a name, a module or a function "
                "that makes one"
            )
        return stop_caching(unwrapped(made))

    def kind(self) -> nn.Module | type[nn.Module]:
        """Return a model or the class of one, which determines its inputs."""
        if isinstance(self.model, str):
            return MODELS[parse_model(self.model)[0]]
        return self.make(0, 0)

    def takes_self_loops(self) -> bool:
        """Return whether a model gets the listed self-loops; built-in models add their own.

        Example:
            >>> ModelSource("gcn", {}).takes_self_loops()
            False
            >>> ModelSource(nn.Linear(3, 2), {}).takes_self_loops()
            True
        """
        return not isinstance(self.model, str) and not isinstance(self.make(0, 0), GNN)

    def warn_of_casts(self, data: Data) -> None:
        """Warn of values of a graph that lose precision in the dtype of your own module."""
        module = self.own_module()
        if module is not None:
            dtype = dense_input(module, torch.empty(0, dtype=data.x.dtype)).dtype
            warn_of_casts({"x": data.x, **model_values(data)}, dtype)
