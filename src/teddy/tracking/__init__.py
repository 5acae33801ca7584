"""Trackers that follow a search: TensorBoard, MLflow, wandb, or your own object.

A backend is one file with a class that has the methods of :class:`Tracker`.
"""

from teddy.tracking.mlflow import MLflow
from teddy.tracking.tensorboard import TensorBoard
from teddy.tracking.tracker import TRACKERS, Tracker, Tracking, TrackLike, as_trackers
from teddy.tracking.wandb import Wandb

__all__ = [
    "TRACKERS",
    "MLflow",
    "TensorBoard",
    "TrackLike",
    "Tracker",
    "Tracking",
    "Wandb",
    "as_trackers",
]
