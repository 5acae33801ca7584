"""Settings, each declared once with its default, help text, allowed values and help panel.

Keywords, command-line options, messages and the ticket's metadata all come from these
declarations. This subpackage does not import torch.
"""

from teddy.settings.declare import PANELS, Config, Entry, declared_settings, setting
from teddy.settings.groups import DataConfig, ModelConfig, RunConfig, TaskConfig, TrainConfig
from teddy.settings.tree import ENTRIES, MODEL_ENTRIES, Settings
from teddy.settings.weights import WeightBudget

__all__ = [
    "ENTRIES",
    "MODEL_ENTRIES",
    "PANELS",
    "Config",
    "DataConfig",
    "Entry",
    "ModelConfig",
    "RunConfig",
    "Settings",
    "TaskConfig",
    "TrainConfig",
    "WeightBudget",
    "declared_settings",
    "setting",
]
