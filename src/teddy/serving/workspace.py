"""Memory for one answer at a time, used again for the next."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Array = NDArray[Any]
_locks: weakref.WeakSet[SharedLock] = weakref.WeakSet()


class Workspace:
    """Numbers of the nodes of an answer, and buffers for their rows.

    Attributes:
        nodes: int64 ``[N]``: nodes of an answer in the order of their numbers.
        position: int32 ``[N]``: number of each node in the answer; -1 for all others.
        count: Number of nodes in the answer.
    """

    def __init__(self, num_nodes: int) -> None:
        self.nodes = np.empty(num_nodes, np.int64)
        self.position = np.full(num_nodes, -1, np.int32)
        self.count = 0
        self._buffers: dict[str, torch.Tensor] = {}

    def clear(self) -> None:
        """Forget the nodes of an answer."""
        self.position[self.nodes[: self.count]] = -1
        self.count = 0

    def buffer(self, name: str, rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
        """A matrix that is not initialised; of one name only the latest may be in use."""
        size = rows * columns
        block = self._buffers.get(name)
        if block is None or block.numel() < size or block.dtype != dtype:
            block = self._buffers[name] = torch.empty(max(size, 1), dtype=dtype)
        return block[:size].view(rows, columns)


class Workspaces:
    """A pool of workspaces: each answer takes one, and puts it back as it was.

    Example:
        >>> pool = Workspaces()
        >>> with pool.take(3) as first, pool.take(3) as second:
        ...     first is second
        False
        >>> with pool.take(3) as again:
        ...     again is first
        True
    """

    def __init__(self) -> None:
        self._free: list[Workspace] = []

    @contextmanager
    def take(self, num_nodes: int) -> Iterator[Workspace]:
        """Hand out a workspace for a graph of this size; nodes numbered meanwhile are cleared."""
        try:
            workspace = self._free.pop()
        except IndexError:
            workspace = Workspace(num_nodes)
        if workspace.nodes.size < num_nodes:
            workspace = Workspace(max(num_nodes, 2 * workspace.nodes.size))
        yield workspace
        workspace.clear()
        self._free.append(workspace)  # after an error it is dropped

    def __getstate__(self) -> dict[str, Any]:
        return {"_free": []}


class SharedLock:
    """A lock that many readers hold at once, or one writer alone.

    Example:
        >>> lock = SharedLock()
        >>> with lock.reading(), lock.reading():
        ...     pass
        >>> with lock.writing():
        ...     pass
    """

    def __init__(self) -> None:
        self._changed, self._readers, self._writing = threading.Condition(), 0, False
        _locks.add(self)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock beside other readers."""
        with self._changed:
            while self._writing:
                self._changed.wait()
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                if not self._readers:
                    self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock alone."""
        with self._changed:
            while self._writing:
                self._changed.wait()
            self._writing = True
            while self._readers:
                self._changed.wait()
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]


def _release() -> None:
    """Release all locks of a forked process: the threads that held them are not in it."""
    for lock in list(_locks):
        lock.__setstate__({})


os.register_at_fork(after_in_child=_release)
