"""Graphs by name or from your own files, and splits of their nodes.

Readers return a graph unchanged; :func:`check_data` checks features, edges, targets and masks.
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
