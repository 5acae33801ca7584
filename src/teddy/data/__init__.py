"""Graphs in: bundled sets, PyG's sets, the user's own files; splits; checks of what came in.

Everything that enters the library is checked once, here. Imports only :mod:`teddy.errors`,
:mod:`teddy.registry` and :mod:`teddy.sparsity`.
"""

from teddy.data.catalog import DATASETS, list_datasets
from teddy.data.checks import check_data
from teddy.data.graphs import graph_set
from teddy.data.links import links_of, split_links
from teddy.data.load import load_dataset, load_to_predict
from teddy.data.simple_edges import normalise_edges
from teddy.data.splits import split_nodes

__all__ = [
    "DATASETS",
    "check_data",
    "graph_set",
    "links_of",
    "list_datasets",
    "load_dataset",
    "load_to_predict",
    "normalise_edges",
    "split_links",
    "split_nodes",
]
