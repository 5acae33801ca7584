"""Tracker for TensorBoard."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from teddy.errors import InputError
from teddy.store.atomic import StrPath
from teddy.tracking.tracker import TRACKERS, check_installed


class TensorBoard:
    """Tracker that writes scalars of every epoch, and settings and summary for HPARAMS.

    A search is the run ``seed-N`` of the folder; a later search of the same seed replaces it.
    """

    def __init__(self, folder: StrPath) -> None:
        check_installed("tensorboard", "tensorboard")
        self.folder = Path(folder)
        existing = next(path for path in (self.folder, *self.folder.parents) if path.exists())
        if not existing.is_dir() or not os.access(existing, os.W_OK):
            raise InputError(f"{folder}: cannot be created, expected a folder for TensorBoard")

    def start(self, params: Mapping[str, Any]) -> None:
        """Open an event file that replaces those of an earlier search."""
        from torch.utils.tensorboard import SummaryWriter

        self._params = dict(params)
        self._writer = SummaryWriter(str(self.folder / f"seed-{params['seed']}"), purge_step=0)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Add scalars."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def finish(self, summary: Mapping[str, float] | None) -> None:
        """Add settings and summary, and close the file."""
        if summary is not None:
            plain = {
                name: value if isinstance(value, bool | int | float | str) else str(value)
                for name, value in self._params.items()
            }
            final = {f"final/{name}": value for name, value in summary.items()}
            self._writer.add_hparams(plain, final, run_name=".", global_step=0)
        self._writer.close()


TRACKERS.register("tensorboard")(lambda folder: TensorBoard(folder or "runs"))
