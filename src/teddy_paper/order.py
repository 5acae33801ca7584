"""All reproductions, in the order of the paper; importing their modules registers them."""

from importlib import import_module

from teddy_paper.reproduction import REPRODUCTIONS, Scope

_MODULES = (
    "dataset_sizes", "toy_example", "degree_importance", "laplacian_energy", "accuracy", "macs",
    "pruned_degrees", "extreme", "transformers", "edges_only", "ablation", "timing", "attribution",
    "inductive", "large_scale",
)  # fmt: skip
for _module in _MODULES:
    import_module(f"teddy_paper.{_module}")
# Whichever module was imported first.
REPRODUCTIONS.arrange(
    [name.replace("dataset_sizes", "datasets").replace("_", "-") for name in _MODULES]
)

__all__ = ["REPRODUCTIONS", "Scope"]
