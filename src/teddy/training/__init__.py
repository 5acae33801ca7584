"""Training loop of dense models and tickets, in full batch or mini-batches.

It has loaders, checkpoints, several processes and the distillation loss.
"""

from teddy.settings import TrainConfig
from teddy.training.checkpoint import Checkpoint, Epoch
from teddy.training.distillation import distillation_loss
from teddy.training.distributed import World, connected
from teddy.training.function_loader import FunctionLoader
from teddy.training.loader_specs import LoaderLike, as_loader
from teddy.training.loaders import Loader
from teddy.training.loop import TrainResult, train
from teddy.training.neighbourhoods import Neighbourhoods
from teddy.training.partitions import Graphs, Partitions
from teddy.training.seeding import seeded

__all__ = [
    "Checkpoint",
    "Epoch",
    "FunctionLoader",
    "Graphs",
    "Loader",
    "LoaderLike",
    "Neighbourhoods",
    "Partitions",
    "TrainConfig",
    "TrainResult",
    "World",
    "as_loader",
    "connected",
    "distillation_loss",
    "seeded",
    "train",
]
