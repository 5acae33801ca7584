"""One module a table or figure of the paper, beside the published numbers.

A module says which sweeps it takes and makes tables, charts and findings of their results
(reproduction); run does both. The numbers are in published, the claims in claims. May import:
sweep and the rooms before it.
"""

# In the order of the paper, our own study last: this is the order in which they are made.
# isort: off
from teddy.paper import (
    datasets,
    toy_example,
    degree_importance,
    laplacian_energy,
    accuracy,
    macs,
    pruned_degrees,
    extreme,
    transformers,
    edges_only,
    ablation,
    timing,
    attribution,
    inductive,
    large_scale,
)

# isort: on
from teddy.paper.reproduction import REPRODUCTIONS, Result, Scope, reproduction

__all__ = [
    "REPRODUCTIONS",
    "Result",
    "Scope",
    "ablation",
    "accuracy",
    "attribution",
    "datasets",
    "degree_importance",
    "edges_only",
    "extreme",
    "inductive",
    "laplacian_energy",
    "large_scale",
    "macs",
    "pruned_degrees",
    "reproduction",
    "timing",
    "toy_example",
    "transformers",
]
