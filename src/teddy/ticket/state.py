"""The state of a network, in which a parameter may have several names."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from teddy.errors import InputError


def buffers_of(model: nn.Module) -> dict[str, Tensor]:
    """What of a network's state is no parameter, nor another name of one.

    Example:
        >>> sorted(buffers_of(nn.BatchNorm1d(2)))
        ['num_batches_tracked', 'running_mean', 'running_var']
    """
    parameters = dict(model.named_parameters())
    tied = {parameter.data_ptr() for parameter in parameters.values()}
    buffers = {}
    for name, value in model.state_dict().items():
        if not isinstance(value, Tensor):
            kind = type(value).__name__
            raise InputError(f"the model's state has a {kind} '{name}', expected tensors only")
        if name not in parameters and value.data_ptr() not in tied:
            buffers[name] = value
    return buffers


def load_state(model: nn.Module, state: dict[str, Tensor]) -> None:
    """Load a state in which a parameter of several names has only the first."""
    names = {
        parameter.data_ptr(): name
        for name, parameter in model.named_parameters()
        if not isinstance(parameter, UninitializedParameter)
    }
    for name, value in model.state_dict().items():
        if isinstance(value, UninitializedParameter):
            continue
        first = names.get(value.data_ptr())
        if name not in state and first in state:
            state[name] = state[first]
    model.load_state_dict(state)
