"""Searches followed by TensorBoard, MLflow, wandb, or an object of one's own.

May import: data, edges, weights, models, training, ticket.
"""

from teddy.tracking.mlflow import MLflow
from teddy.tracking.search import Tracking
from teddy.tracking.tensorboard import TensorBoard
from teddy.tracking.tracker import TRACKERS, Tracker, TrackLike, as_trackers
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
