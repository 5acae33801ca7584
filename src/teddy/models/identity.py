"""The identity of modules and functions: without wrappers, by class path, and by digest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import torch
from torch import Tensor, nn
from torch.jit import ScriptModule
from torch.nn.parameter import is_lazy

#: The prefix that ``torch.compile`` puts before the names of a module's parameters.
_COMPILED = "_orig_mod."

_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel)


def unwrapped(module: nn.Module) -> nn.Module:
    """Return the module inside ``torch.compile``, ``DataParallel`` or DDP.

    They hide its signature and rename its parameters, and ``DataParallel`` would split a graph's
    nodes over devices.
    """
    while True:
        inner = getattr(module, "_orig_mod", None)
        if isinstance(module, _PARALLEL):
            inner = module.module
        if not isinstance(inner, nn.Module):
            return module
        module = inner


def plain_name(name: str) -> str:
    """Return the name of a parameter without the prefix of ``torch.compile``."""
    return name.replace(_COMPILED, "")


def class_path(module: nn.Module | type[nn.Module]) -> str:
    """Return the path of a module's class; of a scripted module the name of its class alone.

    Example:
        >>> class_path(nn.Linear(2, 1))
        'torch.nn.modules.linear.Linear'
    """
    if isinstance(module, ScriptModule):
        return str(module.original_name)
    kind = module if isinstance(module, type) else type(module)
    return f"{kind.__module__}.{kind.__qualname__}"


def same_class(module: nn.Module, path: str) -> bool:
    """Return whether a module is of a recorded class path, wherever that class is defined now.

    A class is the same in a script, a notebook or an imported file, and inside a function.

    Example:
        >>> same_class(nn.Linear(2, 1), "__main__.Linear"), same_class(nn.Linear(2, 1), "a.Line")
        (True, False)
    """
    if isinstance(module, ScriptModule):
        name = str(module.original_name)
    else:
        name = type(module).__qualname__
    name, recorded = (text.rpartition("<locals>.")[2] for text in (name, path))
    return recorded == name or recorded.endswith(f".{name}")


# Attributes that change no result: the mode, caches, which searches turn off, and the declared
# inputs, which a ticket records by itself.
_IGNORED = ("training", "cached", "forward_inputs")
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def module_digest(
    model: nn.Module, *, gradients: bool = True, without: Collection[str] = ()
) -> str:
    """Return the sha256 of a module's classes, settings and parameter shapes, not its weights.

    Args:
        model: The module, without ``DataParallel`` around it.
        gradients: Whether ``requires_grad`` of the parameters counts.
        without: Names of settings to leave out.

    Example:
        >>> module_digest(nn.Dropout(0.5)) == module_digest(nn.Dropout(0.5).eval())
        True
    """
    settings = module_settings(model)
    settings = {name: text for name, text in settings.items() if name not in without}
    if gradients:
        parameters = model.named_parameters()
        settings |= {f"{plain_name(name)} trained": str(p.requires_grad) for name, p in parameters}
    return _sha256(settings)


def module_settings(model: nn.Module) -> dict[str, str]:
    """Return the settings of a module as text: classes, plain attributes and parameter shapes.

    Plain attributes are numbers, strings, functions, and lists, tuples and dicts of them.
    Private ones are left out, and so are layers of ``torch.compile``.

    Example:
        >>> module_settings(nn.Sequential(nn.Dropout(0.5)))
        {'': 'Sequential', '0': 'Dropout', '0.inplace': 'False', '0.p': '0.5'}
    """
    settings: dict[str, str] = {}
    for path, module in model.named_modules():
        if isinstance(getattr(module, "_orig_mod", None), nn.Module):
            continue
        prefix = plain_name(f"{path}.") if path else ""
        settings[prefix.removesuffix(".")] = class_path(module).rpartition(".")[2]
        for name, value in sorted({} if isinstance(module, ScriptModule) else vars(module).items()):
            # An attribute that is None may be one that forward sets.
            text = None if value is None or name in _IGNORED else _plain(value)
            if text is not None and not name.startswith("_"):
                settings[prefix + name] = text
    for name, parameter in model.named_parameters():
        shape = "lazy" if is_lazy(parameter) else str(list(parameter.shape))
        settings[f"{plain_name(name)} shape"] = shape
    return settings


def has_settings(model: nn.Module) -> bool:
    """Return whether all settings are known: no lazy parameter, no scripted layer."""
    if any(isinstance(module, ScriptModule) for module in model.modules()):
        return False
    return not any(is_lazy(tensor) for tensor in (*model.parameters(), *model.buffers()))


def function_digest(function: Callable[..., Any]) -> str:
    """Return the sha256 of a function's bytecode, and of the values that it was defined with."""
    return _sha256(_function(function, ()))


def _function(value: Any, outer: tuple[object, ...]) -> Any:
    """Return a function, or a value it refers to, as data with the same text in each process."""
    if any(value is each for each in outer):  # a function that refers to itself
        return "recursion"
    outer = (*outer, value)
    if isinstance(value, partial):
        return [_function(part, outer) for part in (value.func, value.args, value.keywords)]
    if isinstance(value, MethodType):
        return [_function(part, outer) for part in (value.__func__, value.__self__)]
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if _filled(cell)]
        defaults = value.__defaults__, value.__kwdefaults__
        known = {name: _plain(value.__globals__.get(name)) for name in _names(value.__code__)}
        return [_code(value.__code__), known, _function((*defaults, *cells), outer)]
    if isinstance(value, tuple | list):
        return [_function(each, outer) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(str(_function(each, outer)) for each in value)
    if isinstance(value, dict):
        return [_function(pair, outer) for pair in value.items()]
    if isinstance(value, Tensor):
        return str(value.layout), value.shape, _tensor_digest(value)
    if callable(value) and not isinstance(value, _FUNCTIONS):
        return [type(value).__qualname__, _function(vars(value), outer)]
    return _plain(value) or _ADDRESS.sub("", repr(value))


def _tensor_digest(tensor: Tensor) -> str:
    values = tensor.detach().cpu().to_dense().contiguous().view(-1)
    return hashlib.sha256(values.view(torch.uint8).numpy().tobytes()).hexdigest()


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _code(code: CodeType) -> list[Any]:
    return [code.co_code.hex(), code.co_names, [_constant(value) for value in code.co_consts]]


def _constant(value: object) -> Any:
    if isinstance(value, CodeType):
        return _code(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _names(code: CodeType) -> list[str]:
    inner = [name for each in code.co_consts if isinstance(each, CodeType) for name in _names(each)]
    return sorted({*code.co_names, *inner})


def _plain(value: Any) -> str | None:
    """Return plain data as text; None for anything else."""
    if isinstance(value, bool | None | torch.dtype):
        return str(value)
    for kind in (int, float, str):
        if isinstance(value, kind):
            return repr(kind(value))
    if isinstance(value, _FUNCTIONS):
        return _local(value.__qualname__)
    if isinstance(value, partial):
        value = ("partial", value.func, value.args, value.keywords)
    if isinstance(value, dict):
        value = ("dict", *value.items())
    if isinstance(value, tuple | list):
        parts = [_plain(each) for each in value]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    return None


def _local(qualname: str) -> str:
    """Return the name of a class or function without its enclosing function."""
    return qualname.rpartition("<locals>.")[2]


def _sha256(data: object) -> str:
    return hashlib.sha256(repr(data).encode()).hexdigest()
