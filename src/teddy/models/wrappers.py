"""The module inside a wrapper that computes nothing itself, such as that of ``torch.compile``."""

from __future__ import annotations

from torch import nn
from torch.jit import ScriptModule

#: The prefix that ``torch.compile`` puts before the names of a module's parameters.
_COMPILED = "_orig_mod."

_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel)


def unwrapped(module: nn.Module) -> nn.Module:
    """Return the module that ``torch.compile``, ``DataParallel`` or DDP was given.

    They hide its signature and rename its parameters, and ``DataParallel`` would split a graph's
    nodes over devices.

    Example:
        >>> unwrapped(nn.DataParallel(nn.Linear(2, 1)))
        Linear(in_features=2, out_features=1, bias=True)
    """
    while True:
        inner = getattr(module, "_orig_mod", None)
        if isinstance(module, _PARALLEL):
            inner = module.module
        if not isinstance(inner, nn.Module):
            return module
        module = inner


def plain_name(name: str) -> str:
    """Return the name of a parameter without what ``torch.compile`` puts before it.

    Example:
        >>> plain_name("convs.0._orig_mod.bias")
        'convs.0.bias'
    """
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
    """Return whether a module is of a recorded class, wherever that is defined now.

    A class is the same in a script, a notebook or an imported file, and inside a function.

    Args:
        module: The module.
        path: As of :func:`class_path`.

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
