"""Tracker for Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teddy.tracking.tracker import TRACKERS, check_installed, run_name


class Wandb:
    """Tracker that makes a wandb run for each search.

    Args:
        project: Name of the project.
        settings: Arguments of ``wandb.init``, such as ``entity`` or ``mode="offline"``.
    """

    def __init__(self, project: str = "teddy", **settings: Any) -> None:
        check_installed("wandb", "wandb")
        self.project, self.settings = project, settings

    def start(self, params: Mapping[str, Any]) -> None:
        """Create a run with the settings, and charts over epochs."""
        import wandb

        options = {"name": run_name(params), **self.settings}
        self._run = wandb.init(
            project=self.project, config=dict(params), reinit="create_new", **options
        )
        # Trainings follow each other, and each counts its own epochs.
        self._run.define_metric("*", step_metric="epoch")

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Log values of an epoch."""
        self._run.log({**values, "epoch": step})

    def finish(self, summary: Mapping[str, float] | None) -> None:
        """Set the summary of the run and end it; without one, as failed."""
        self._run.summary.update(dict(summary or {}))
        self._run.finish(exit_code=int(summary is None))


TRACKERS.register("wandb")(lambda project: Wandb(project or "teddy"))
