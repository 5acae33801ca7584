"""Catalogue of data sets by name, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teddy.data.bundled_sets import read_bundled, read_solubility
from teddy.data.large_sets import arxiv, arxiv_surrogate, reddit
from teddy.data.pyg_sets import amazon, coauthor, heterophilous, planetoid
from teddy.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch_geometric.data import Data


@dataclass(frozen=True)
class DatasetInfo:
    """Sizes of a data set, available before it is read.

    Attributes:
        name: The name that :func:`teddy.load_dataset` takes.
        edges: Number of undirected edges of the simple graph.
        bundled: True if the package includes it.
        graphs: Number of graphs; above 1, the other numbers are totals.
    """

    name: str
    nodes: int
    edges: int
    features: int
    classes: int
    bundled: bool
    graphs: int = 1


@dataclass(frozen=True)
class DatasetEntry:
    """Sizes of a data set, and its reader, which takes a folder of raw files or None."""

    info: DatasetInfo
    read: Callable[[Path | None], Data]


DATASETS: Registry[DatasetEntry] = Registry("data set")


def list_datasets() -> list[DatasetInfo]:
    """Return the sizes of all data sets in the catalogue.

    Example:
        >>> [info.name for info in list_datasets() if info.bundled]
        ['citeseer', 'pubmed', 'solubility']
        >>> list_datasets()[0].edges
        4552
    """
    return [DATASETS[name].info for name in DATASETS]


def _add(
    name: str,
    nodes: int,
    edges: int,
    features: int,
    classes: int,
    read: Callable[[Path | None], Data],
    bundled: bool = False,
    graphs: int = 1,
) -> None:
    info = DatasetInfo(name, nodes, edges, features, classes, bundled, graphs)
    DATASETS.register(name)(DatasetEntry(info, read))


_add("citeseer", 3327, 4552, 3703, 6, read_bundled("citeseer"), bundled=True)
_add("pubmed", 19717, 44324, 500, 3, read_bundled("pubmed"), bundled=True)
_add("solubility", 16671, 17153, 14, 3, read_solubility, bundled=True, graphs=1282)
_add("cora", 2708, 5278, 1433, 7, planetoid("Cora"))
_add("computers", 13752, 245861, 767, 10, amazon("Computers"))
_add("photo", 7650, 119081, 745, 8, amazon("Photo"))
_add("cs", 18333, 81894, 6805, 15, coauthor("CS"))
_add("physics", 34493, 247962, 8415, 5, coauthor("Physics"))
_add("roman-empire", 22662, 32927, 300, 18, heterophilous("roman_empire"))
_add("amazon-ratings", 24492, 93050, 300, 5, heterophilous("amazon_ratings"))
_add("minesweeper", 10000, 39402, 7, 2, heterophilous("minesweeper"))
_add("tolokers", 11758, 519000, 10, 2, heterophilous("tolokers"))
_add("questions", 48921, 153540, 301, 2, heterophilous("questions"))
_add("chameleon-filtered", 890, 8854, 2325, 5, heterophilous("chameleon_filtered"))
_add("squirrel-filtered", 2223, 46998, 2089, 5, heterophilous("squirrel_filtered"))
_add("arxiv", 169343, 1157799, 128, 40, arxiv())
_add("arxiv-surrogate", 169343, 1157799, 128, 40, arxiv_surrogate)
_add("reddit", 232965, 11606919, 602, 41, reddit())
