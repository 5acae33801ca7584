"""Graphs by name or from your own files, as they came, and the splits of their nodes.

Features, edges, targets and masks of one graph are checked here.
"""

from teddy.data.catalog import DATASETS, list_datasets
from teddy.data.checks import check_data
from teddy.data.splits import split_nodes

__all__ = [
    "DATASETS",
    "check_data",
    "list_datasets",
    "split_nodes",
]
