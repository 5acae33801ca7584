"""Backends that run the series: this process, others here, or a cluster; all through joblib."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from teddy.errors import InputError
from teddy.sweep.folder import Folder
from teddy.sweep.worker import Done, Job, run_series

#: Names, and the module that a backend needs.
BACKENDS = {"loky": "joblib", "dask": "distributed", "ray": "ray"}


def check_backend(backend: str) -> None:
    """Raise unless a backend can be used here.

    Example:
        >>> check_backend("slurm")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: unknown backend 'slurm', expected one of: loky, dask, ray
    """
    if backend not in BACKENDS:
        raise InputError(f"unknown backend '{backend}', expected one of: {', '.join(BACKENDS)}")
    if importlib.util.find_spec(BACKENDS[backend]) is None:
        raise InputError(f"backend '{backend}' isn't installed: pip install 'teddy-glt[{backend}]'")


def run_jobs(work: Sequence[Job], jobs: int, backend: str) -> list[Done]:
    """Do the work; what it came to, in the same order."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    if not work:
        return []
    if backend == "loky" and jobs > 1:
        work = [replace(job, parent=os.getpid()) for job in work]
    elif backend != "loky":  # a machine elsewhere has a memory of its own
        work = [replace(job, memory=None) for job in work]
    try:
        with _cluster(backend, jobs), parallel_config(backend=backend):
            done: list[Done] = Parallel(n_jobs=jobs, batch_size=1, pre_dispatch="2*n_jobs")(
                delayed(run_series)(job) for job in work
            )
            return done
    except TerminatedWorkerError:
        return [_run_alone(job) for job in work]


def _run_alone(job: Job) -> Done:
    """Run one series in a process of its own, to see whether it is the one that kills it."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    try:
        # Two, since one would be this very process.
        (done,) = Parallel(n_jobs=2)([delayed(run_series)(job)])
        assert isinstance(done, Done)
        return done
    except TerminatedWorkerError:
        for cell in job.missing():
            reason = "its process was killed, by the system for memory or by someone"
            Folder(job.folder).write_failure(cell, reason, "")
        return Done()


@contextmanager
def _cluster(backend: str, jobs: int) -> Iterator[None]:
    """Connect to Dask or Ray as their own settings say, or start them on this machine."""
    client: AbstractContextManager[Any] = nullcontext()
    if backend == "dask":
        import dask
        from distributed import Client

        address = dask.config.get("scheduler-address", None)
        here = {"n_workers": jobs, "threads_per_worker": 1, "processes": True}
        client = Client(**here) if address is None else Client(address)
    elif backend == "ray":
        from ray.util.joblib import register_ray

        register_ray()
    with client:
        yield
