"""Experiment trackers of a search: TensorBoard, MLflow, Weights & Biases, or your own object.

A tracker is a class with the methods of :class:`Tracker`, one file each.
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
