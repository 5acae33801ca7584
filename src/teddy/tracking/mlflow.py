"""A search in MLflow."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from teddy.tracking.tracker import TRACKERS, check_installed, run_name

#: Seconds from one message to the server to the next: an epoch should not wait for it.
_EVERY = 2.0

#: What a message may have at most.
_METRICS, _PARAMS = 1000, 100


class MLflow:
    """Makes a run of its own for each search; a run that is active stays so, untouched.

    Where it goes is MLflow's to say: ``MLFLOW_TRACKING_URI``, or ``mlflow.set_tracking_uri``.
    """

    def __init__(self, experiment: str = "teddy") -> None:
        check_installed("mlflow", "mlflow")
        self.experiment = experiment

    def start(self, params: Mapping[str, Any]) -> None:
        """Make a run with the settings."""
        from mlflow import MlflowClient
        from mlflow.entities import Param

        self._client = MlflowClient()
        known = self._client.get_experiment_by_name(self.experiment)
        place = known.experiment_id if known else self._client.create_experiment(self.experiment)
        self._run: str = self._client.create_run(place, run_name=run_name(params)).info.run_id
        self._waiting: list[Any] = []
        self._sent = time.monotonic()
        settings = [Param(name, str(value)) for name, value in params.items()]
        for first in range(0, len(settings), _PARAMS):
            self._client.log_batch(self._run, params=settings[first : first + _PARAMS])

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Keep metrics, and send them every other second."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        self._waiting += [Metric(name, value, now, step) for name, value in values.items()]
        if time.monotonic() - self._sent >= _EVERY:
            self._send()

    def finish(self, summary: Mapping[str, float] | None) -> None:
        """Send what is left, and end the run; without a summary, as failed."""
        try:
            self.log(0, summary or {})
            self._send()
        finally:
            status = "FAILED" if summary is None else "FINISHED"
            self._client.set_terminated(self._run, status)

    def _send(self) -> None:
        while self._waiting:
            self._client.log_batch(self._run, metrics=self._waiting[:_METRICS])
            del self._waiting[:_METRICS]
        self._sent = time.monotonic()


TRACKERS.register("mlflow")(lambda experiment: MLflow(experiment or "teddy"))
