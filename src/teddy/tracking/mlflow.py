"""Tracker for MLflow."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from teddy.tracking.tracker import TRACKERS, check_installed, run_name

#: Seconds between two messages to the server, so that epochs do not wait for it.
_EVERY = 2.0

#: Maximum metrics and parameters in a message.
_METRICS, _PARAMS = 1000, 100


class MLflow:
    """Tracker that makes an MLflow run for each search; an active run is left alone.

    ``MLFLOW_TRACKING_URI`` or ``mlflow.set_tracking_uri`` sets the server.
    """

    def __init__(self, experiment: str = "teddy") -> None:
        check_installed("mlflow", "mlflow")
        self.experiment = experiment

    def start(self, params: Mapping[str, Any]) -> None:
        """Create a run with the settings."""
        from mlflow import MlflowClient
        from mlflow.entities import Param

        self._client = MlflowClient()
        known = self._client.get_experiment_by_name(self.experiment)
        known_id = known and known.experiment_id
        number = known_id or self._client.create_experiment(self.experiment)
        self._run: str = self._client.create_run(number, run_name=run_name(params)).info.run_id
        self._waiting: list[Any] = []
        self._sent = time.monotonic()
        settings = [Param(name, str(value)) for name, value in params.items()]
        for first in range(0, len(settings), _PARAMS):
            self._client.log_batch(self._run, params=settings[first : first + _PARAMS])

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Collect metrics, and send them every two seconds."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        self._waiting += [Metric(name, value, now, step) for name, value in values.items()]
        if time.monotonic() - self._sent >= _EVERY:
            self._send()

    def finish(self, summary: Mapping[str, float] | None) -> None:
        """Send the remaining metrics and end the run; without a summary, as failed."""
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
