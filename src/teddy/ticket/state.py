"""State of a network: parameters, buffers and the class of your own module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from teddy.errors import InputError, warn
from teddy.models import MODELS, build_model
from teddy.models.identity import (
    class_path,
    has_settings,
    module_digest,
    module_settings,
    plain_name,
    same_class,
    unwrapped,
)
from teddy.models.module_call import copy_uncached, stop_caching
from teddy.models.own_module import check_state
from teddy.registry import short_class
from teddy.store.atomic import StrPath
from teddy.ticket.file import Content

#: Header entries by which the settings of your own module are compared.
STRUCTURE = ("structure", "varying")

# Classes in older files that hide the class of the module inside.
_WRAPPERS = ("OptimizedModule", "DataParallel", "DistributedDataParallel")


def network_from(
    path: StrPath, content: Content, model: nn.Module | Callable[[], nn.Module] | None
) -> nn.Module:
    """Return the network of a ticket's file, or raise.

    Args:
        path: File of the ticket, for messages.
        content: Content of the file.
        model: See :func:`module_for`; None: a built-in model.
    """
    spec = content.info.model
    if model is None and "name" not in spec:
        raise InputError(
            f"{path}: its model is your own module ({short_class(str(spec.get('class')))}), "
            "expected that module: Ticket.load(path, model=...) (--module FILE.py:NAME)"
        )
    try:
        if model is None:
            channels = spec["in_channels"], spec["out_channels"]
            network: nn.Module = build_model(spec["name"], *channels, **spec["options"])
        else:
            network = module_for(spec, model)
        same = same_settings(spec, network)
        load_state(network, {**content.parameters, **content.buffers})
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: the weights do not fit the model ({reason})") from None
    if not same:
        warn_of_settings(path, network)
    return network.eval()


def module_for(spec: Mapping[str, Any], model: nn.Module | Callable[[], nn.Module]) -> nn.Module:
    """Return a module for a ticket's weights: a copy, or the result of a function.

    Args:
        spec: Entry ``model`` of the ticket's header.
        model: The module or the function.

    Raises:
        InputError: if its class is not that of the ticket.

    Example:
        >>> module_for({"class": "torch.nn.modules.linear.Linear"}, nn.Bilinear(1, 1, 1))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: its model is a Linear (torch.nn.modules.linear.Linear), got a
        Bilinear; expected that class, or one renamed to it: Bilinear.__qualname__ = 'Linear'
    """
    made: Any = model
    if isinstance(made, nn.Module):
        network = copy_uncached(unwrapped(made))
    else:
        made = made()
        if not isinstance(made, nn.Module):
            raise InputError(
                f"model returned a {type(made).__name__}, expected a function that returns a module"
            )
        network = stop_caching(unwrapped(made))
    expected = spec["class"] if "class" in spec else class_path(MODELS[spec["name"]])
    name = expected.rpartition("<locals>.")[2].rpartition(".")[2]
    if name not in _WRAPPERS and not same_class(network, expected):
        got = type(network).__name__
        raise InputError(
            f"its model is a {name} ({expected}), got a {got}; expected that class, or one renamed "
            f"to it: {got}.__qualname__ = '{name}'"
        )
    return network


def structure_of(initial: nn.Module, trained: nn.Module) -> dict[str, Any]:
    """Return the header entries that identify the settings of a ticket's module.

    Settings that forward changes, such as a counter, are left out of the digest and listed. The
    result is empty for modules with lazy parameters or scripted layers.

    Args:
        initial: The module before training, without wrappers and caches.
        trained: The same after training.

    Example:
        >>> sorted(structure_of(nn.Dropout(0.5), nn.Dropout(0.5)))
        ['structure']
        >>> structure_of(nn.Dropout(0.5), nn.Dropout(0.6))["varying"]
        ['p']
        >>> structure_of(nn.LazyLinear(2), nn.Linear(3, 2))
        {}
    """
    if not has_settings(initial):
        return {}
    before, after = module_settings(initial), module_settings(trained)
    varying = sorted(n for n in {**before, **after} if before.get(n) != after.get(n))
    digest = module_digest(initial, gradients=False, without=varying)
    return {"structure": digest, **({"varying": varying} if varying else {})}


def same_settings(spec: Mapping[str, Any], network: nn.Module) -> bool:
    """Return whether a module has the settings of the module that a ticket was found with.

    Args:
        spec: Entry ``model`` of the header; older files have no digest and fit any settings.
        network: The module, as :func:`module_for` returns it, before weights are loaded.

    Example:
        >>> spec = structure_of(nn.Dropout(0.5), nn.Dropout(0.5))
        >>> same_settings(spec, nn.Dropout(0.5)), same_settings(spec, nn.Dropout(0.6))
        (True, False)
    """
    expected, varying = spec.get("structure"), spec.get("varying", ())
    if expected is None or not has_settings(network):
        return True
    return bool(module_digest(network, gradients=False, without=varying) == expected)


def warn_of_settings(path: StrPath, network: nn.Module) -> None:
    """Warn that a ticket was found with a module of other settings."""
    warn(
        f"{path}: the ticket was found with other settings of {type(network).__name__}, so that "
        "predictions may differ: make the module with the same arguments"
    )


def parameters_of(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters of a network, by their names without those of ``torch.compile``."""
    return {plain_name(name): parameter for name, parameter in model.named_parameters()}


def buffers_of(model: nn.Module) -> dict[str, Tensor]:
    """Return the state of a network without its parameters and other names of them.

    Example:
        >>> sorted(buffers_of(nn.BatchNorm1d(2)))
        ['num_batches_tracked', 'running_mean', 'running_var']
    """
    parameters = dict(model.named_parameters())
    tied = {parameter.data_ptr() for parameter in parameters.values()}
    buffers = {}
    check_state(model)
    for name, value in model.state_dict().items():
        if name not in parameters and value.data_ptr() not in tied:
            buffers[plain_name(name)] = value
    return buffers


def load_state(model: nn.Module, state: dict[str, Tensor]) -> None:
    """Load a state that stores a parameter with several names under the first one.

    Prefixes of ``torch.compile`` and, in the file, of ``DataParallel`` are ignored.
    """
    state = {plain_name(name): value for name, value in state.items()}
    full_names = {plain_name(name): name for name in model.state_dict()}
    if state and not full_names.keys() & state.keys():
        state = {name.removeprefix("module."): value for name, value in state.items()}
    state = {full_names.get(name, name): value for name, value in state.items()}
    names = {
        parameter.data_ptr(): name
        for name, parameter in model.named_parameters()
        if not is_lazy(parameter)
    }
    for name, value in model.state_dict().items():
        if is_lazy(value):
            continue
        first = names.get(value.data_ptr())
        if name not in state and first in state:
            state[name] = state[first]
    model.load_state_dict(state)
