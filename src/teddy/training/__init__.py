"""One training loop: dense or projected, distilled or not, full batch or any loader.

May import: data, edges, weights, models.
"""

from teddy.settings import TrainConfig
from teddy.training.checkpoint import Checkpoint
from teddy.training.distillation import distillation_loss
from teddy.training.distributed import World, connected
from teddy.training.evaluation import Unseen
from teddy.training.loaders import FromFunction, Loader
from teddy.training.loop import TrainResult, train
from teddy.training.objective import Objective
from teddy.training.partitions import LoaderLike, Partitions, as_loader
from teddy.training.seeding import seeded
from teddy.training.state import Epoch
from teddy.training.tasks import TASKS, ClassWeight, Task, accuracy

__all__ = [
    "TASKS",
    "Checkpoint",
    "ClassWeight",
    "Epoch",
    "FromFunction",
    "Loader",
    "LoaderLike",
    "Objective",
    "Partitions",
    "Task",
    "TrainConfig",
    "TrainResult",
    "Unseen",
    "World",
    "accuracy",
    "as_loader",
    "connected",
    "distillation_loss",
    "seeded",
    "train",
]
