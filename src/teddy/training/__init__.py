"""One training loop: dense or projected, distilled or not.

May import: data, edges, weights, models.
"""

from teddy.training.config import TrainConfig
from teddy.training.evaluation import Unseen, accuracy
from teddy.training.loop import Epoch, TrainResult, train
from teddy.training.objective import Objective
from teddy.training.seeding import seeded

__all__ = [
    "Epoch",
    "Objective",
    "TrainConfig",
    "TrainResult",
    "Unseen",
    "accuracy",
    "seeded",
    "train",
]
