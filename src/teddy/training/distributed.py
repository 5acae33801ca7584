"""Processes of a job under torchrun, or another launcher with its environment variables."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from teddy.errors import InputError, ProcessError
from teddy.sparsity import check_number

T = TypeVar("T")

#: Seconds without an answer after which a process counts as dead; TEDDY_TIMEOUT changes it.
TIMEOUT = 600.0

_NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True)
class World:
    """Rank of this process and number of processes of the job; a single one sends nothing.

    Attributes:
        rank: Rank of this process; rank zero writes files.
        size: Number of processes.

    Example:
        >>> world = World.current()
        >>> world, world.is_rank_zero, world.shared("value")
        (World(rank=0, size=1), True, 'value')
    """

    rank: int = 0
    size: int = 1

    @staticmethod
    def current() -> World:
        """Return the world of torch.distributed, or that of a single process."""
        if dist.is_available() and dist.is_initialized():
            return World(dist.get_rank(), dist.get_world_size())
        return World()

    @property
    def is_rank_zero(self) -> bool:
        """True for the rank-zero process, which writes files."""
        return self.rank == 0

    def sum_(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over all processes."""
        if self.size > 1:
            with _connection_errors():
                dist.all_reduce(tensor)

    def broadcast_(self, tensor: Tensor, source: int = 0) -> None:
        """Replace a contiguous tensor by that of one process."""
        if self.size > 1 and tensor.numel():
            with _connection_errors():
                dist.broadcast(tensor, source)

    def shared(self, value: T) -> T:
        """Return the value of the rank-zero process in all processes."""
        if self.size == 1:
            return value
        holder = [value if self.is_rank_zero else None]
        with _connection_errors():
            dist.broadcast_object_list(holder, 0)
        shared: T = holder[0]  # type: ignore[assignment]
        return shared

    def check_same(self, tensors: Iterable[Tensor], when: str) -> None:
        """Raise unless tensors are equal in all processes, by a hash of their bytes."""
        if self.size == 1:
            return
        digests: list[str | None] = [None] * self.size
        with _connection_errors():
            dist.all_gather_object(digests, digest_of(tensors))
        for rank, digest in enumerate(digests):
            if digest != digests[0]:
                raise ProcessError(
                    f"the weights of process {rank} differ from those of process 0 {when}, "
                    "expected the same software, data and kind of machine everywhere"
                )


def digest_of(tensors: Iterable[Tensor]) -> str:
    """Return the sha256 of a sequence of tensors.

    Example:
        >>> digest_of([torch.zeros(1)]) == digest_of([torch.zeros(2)])
        False
    """
    digest = hashlib.sha256()
    for tensor in tensors:
        plain = tensor.detach().cpu().contiguous().view(-1)
        digest.update(plain.view(torch.uint8).numpy().data)
    return digest.hexdigest()


@contextmanager
def connected(device: torch.device | str = "cpu") -> Iterator[World]:
    """Connect this process with the others of torchrun in the context.

    Nothing is done without torchrun's environment variables, or if the caller is connected
    already. ``gloo`` is the backend for the CPU, ``nccl`` for GPUs.

    Args:
        device: Device of the training; with ``cuda`` each process of a machine has its own GPU.

    Example:
        >>> with connected() as world:
        ...     world.size
        1
    """
    size = os.environ.get("WORLD_SIZE", "1")
    if dist.is_initialized() or size == "1" or any(name not in os.environ for name in _NEEDED):
        yield World.current()
        return
    seconds = check_number(os.environ.get("TEDDY_TIMEOUT", TIMEOUT), "TEDDY_TIMEOUT", True)
    cuda = torch.device(device).type == "cuda"
    if cuda and not dist.is_nccl_available():
        raise InputError(f"device is '{device}' in {size} processes, expected nccl in torch")
    if cuda:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    with _connection_errors():
        dist.init_process_group(
            "cpu:gloo,cuda:nccl" if cuda else "gloo", timeout=timedelta(seconds=seconds)
        )
    try:
        yield World.current()
    finally:
        # A connection to a dead process cannot be closed.
        if not _lost:
            dist.destroy_process_group()


_lost: list[str] = []


@contextmanager
def _connection_errors() -> Iterator[None]:
    """Turn errors of torch.distributed into one line."""
    try:
        yield
    except RuntimeError as error:
        # The first sentence, without its place in the source.
        plain = re.sub(r"\[\S*:\d+\]", "", str(error)).split(". ")[0]
        reason = " ".join(plain.split())[:120]
        _lost.append(reason)
        raise ProcessError(
            f"another process of the job has ended or does not answer ({reason})"
        ) from None
