"""Graphs by name or from your own files, with their splits.

Everything that enters the library is checked once, here.
"""

from teddy.data.catalog import DATASETS, list_datasets
from teddy.data.checks import check_data
from teddy.data.graphs import graph_set
from teddy.data.links import links_of, split_links
from teddy.data.load import load_dataset, load_to_predict
from teddy.data.splits import split_nodes

__all__ = [
    "DATASETS",
    "check_data",
    "graph_set",
    "links_of",
    "list_datasets",
    "load_dataset",
    "load_to_predict",
    "split_links",
    "split_nodes",
]
