"""Data sets that PyG can download, read from its raw files; PyG's folders are not modified."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch_geometric.data import Data
from torch_geometric.io import read_planetoid_data

from teddy.data.checks import MASKS
from teddy.data.features import csr_tensor, normalise_rows
from teddy.data.reading import reading, reason
from teddy.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Without a timeout PyG can wait forever for a server that does not respond.
_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class PygSet:
    """Reader of a data set from the user's folder or the cache, with a download into the cache.

    Attributes:
        family: Name of PyG's class in :mod:`torch_geometric.datasets`.
        name: PyG's name of the data set.
        files: Names of its raw files.
        read_raw: Function that reads the folder of raw files.
        fetch: Function that downloads the data set into a folder and returns the folder that
            contains ``raw``; by default PyG's class.
        flat: Folder for the files of several data sets in the authors' repository, if any.
        split_file: File in the user's folder with the node indices of ``train``, ``valid`` and
            ``test``, if any; with it the data set has a public split.
    """

    family: str
    name: str
    files: tuple[str, ...]
    read_raw: Callable[[Path], Data]
    fetch: Callable[[Path], Path] | None = None
    flat: str | None = None
    split_file: str | None = None

    def __call__(self, data_dir: Path | None = None) -> Data:
        """Read the data set, from ``data_dir`` or ``TEDDY_DATA`` if it is in that folder."""
        folder = user_folder(data_dir)
        raw = self._find(folder) or self._find(_cache()) or self._download()
        with reading(raw / self.files[0], f"PyG's raw files of {self.name}"):
            data = self.read_raw(raw)
        split = None if folder is None or self.split_file is None else folder / self.split_file
        if split is None or not split.is_file():
            return data
        kind = "node indices train, valid and test"
        with reading(split, kind), np.load(split, allow_pickle=False) as parts:
            return with_split(data, [parts[part] for part in ("train", "valid", "test")])

    @property
    def layout(self) -> str:
        """Path of the raw files in a data folder."""
        return f"{self.family.lower()}/{self.name}/raw"

    def _find(self, folder: Path | None) -> Path | None:
        if folder is None:
            return None
        for raw in (folder / self.layout, folder / self.name / "raw"):
            if raw.is_dir():
                for file in self.files:
                    if not (raw / file).is_file():
                        raise InputError(f"{raw}: no {file}, expected PyG's raw files")
                return raw
        if self.flat is not None and all(
            (folder / self.flat / file).is_file() for file in self.files
        ):
            return folder / self.flat
        return None

    def _download(self) -> Path:
        target = _cache() / self.layout
        try:
            _cache().mkdir(parents=True, exist_ok=True)
            # PyG would use a partial file: only a complete data set is moved to its folder.
            with tempfile.TemporaryDirectory(dir=_cache(), prefix=".download-") as unfinished:
                with _timeout(_TIMEOUT_SECONDS):
                    downloaded = (self.fetch or self._by_class)(Path(unfinished))
                shutil.rmtree(downloaded / "processed", ignore_errors=True)
                # Another process may have been faster.
                if not target.is_dir():
                    target.parent.parent.mkdir(parents=True, exist_ok=True)
                    downloaded.replace(target.parent)
        # Any error: from an unknown host to HTML in place of a pickle.
        except Exception as error:
            silence = f"no answer in {_TIMEOUT_SECONDS:g} seconds"
            why = silence if isinstance(error, TimeoutError) else reason(error)
            raise InputError(
                f"{self.name.lower()}: not bundled and the download failed ({why}); "
                f"pass --data-dir DIR or set TEDDY_DATA=DIR with DIR/{self.layout}/{self.files[0]}"
                f"{' and the other raw files' if len(self.files) > 1 else ''}"
            ) from error
        return target

    def _by_class(self, folder: Path) -> Path:
        from torch_geometric import datasets

        getattr(datasets, self.family)(str(folder), self.name)
        return folder / self.name


def planetoid(name: str) -> PygSet:
    """Return the reader of a citation graph with the public split; rows of ``x`` sum to 1.

    Example:
        >>> planetoid("Cora").layout
        'planetoid/Cora/raw'
    """
    parts = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
    prefix = name.lower()

    def read_raw(raw: Path) -> Data:
        data = read_planetoid_data(str(raw), prefix)
        data.x = csr_tensor(normalise_rows(csr_matrix(data.x.numpy())))
        return data

    return PygSet("Planetoid", name, tuple(f"ind.{prefix}.{part}" for part in parts), read_raw)


def amazon(name: str) -> PygSet:
    """Return the reader of a co-purchase graph without a split.

    Example:
        >>> amazon("Photo").files
        ('amazon_electronics_photo.npz',)
    """
    return _benchmark("Amazon", name, f"amazon_electronics_{name.lower()}.npz")


def coauthor(name: str) -> PygSet:
    """Return the reader of a co-authorship graph without a split.

    Example:
        >>> coauthor("Physics").files
        ('ms_academic_phy.npz',)
    """
    return _benchmark("Coauthor", name, f"ms_academic_{name[:3].lower()}.npz")


def _benchmark(family: str, name: str, file: str) -> PygSet:
    def read_raw(raw: Path) -> Data:
        with np.load(raw / file, allow_pickle=False) as arrays:
            x, adjacency = _matrix(arrays, "attr"), _matrix(arrays, "adj").tocoo()
            y = torch.from_numpy(arrays["labels"].astype(np.int64))
        x.sum_duplicates()  # sorts the columns, too; those of Photo's file are not sorted
        # Binary as in PyG, but sparse: dense features take 1 GB for Physics.
        x.data[x.data > 0] = 1
        edge_index = torch.from_numpy(np.stack([adjacency.row, adjacency.col]).astype(np.int64))
        return Data(x=csr_tensor(x), edge_index=edge_index, y=y)

    split_file = f"splits/{family.lower()}-{name.lower()}_split.npz"
    return PygSet(family, name, (file,), read_raw, split_file=split_file)


def heterophilous(name: str) -> PygSet:
    """Return the reader of a heterophilous graph of Platonov et al. (2023) with ten splits.

    Args:
        name: Stem of its file, such as ``roman_empire``. PyG's class has no ``*_filtered`` ones.

    Example:
        >>> heterophilous("minesweeper").files
        ('minesweeper.npz',)
    """
    file = f"{name}.npz"

    def read_raw(raw: Path) -> Data:
        with np.load(raw / file, allow_pickle=False) as arrays:
            data = Data(
                x=torch.from_numpy(arrays["node_features"].astype(np.float32, copy=False)),
                edge_index=torch.from_numpy(arrays["edges"].T.astype(np.int64)),
                y=torch.from_numpy(arrays["node_labels"].astype(np.int64, copy=False)),
            )
            for mask in MASKS:
                data[mask] = torch.from_numpy(arrays[f"{mask}s"].T.astype(np.bool_))
        return data

    def fetch(folder: Path) -> Path:
        from torch_geometric.data import download_url
        from torch_geometric.datasets import HeterophilousGraphDataset

        raw = folder / name / "raw"
        download_url(f"{HeterophilousGraphDataset.url}/{file}", str(raw), log=False)
        return folder / name

    family = "HeterophilousGraphDataset"
    return PygSet(family, name, (file,), read_raw, fetch, flat="heterophilous")


def with_split(data: Data, parts: list[np.ndarray]) -> Data:
    """Add the training, validation and test masks from node indices."""
    for mask, nodes in zip(MASKS, parts, strict=True):
        data[mask] = torch.zeros(data.x.size(0), dtype=torch.bool)
        data[mask][torch.from_numpy(nodes.astype(np.int64))] = True
    return data


def _matrix(arrays: np.lib.npyio.NpzFile, key: str) -> csr_matrix:
    parts = (arrays[f"{key}_data"], arrays[f"{key}_indices"], arrays[f"{key}_indptr"])
    return csr_matrix(parts, shape=tuple(arrays[f"{key}_shape"]))


def user_folder(data_dir: Path | None) -> Path | None:
    """Return the user's folder of raw data sets, if any."""
    path = os.environ.get("TEDDY_DATA") if data_dir is None else data_dir
    if not path:
        return None
    folder = Path(path).expanduser()
    if not folder.is_dir():
        source = "TEDDY_DATA" if data_dir is None else "data_dir (--data-dir)"
        raise InputError(f"{source} is '{path}', expected an existing folder")
    return folder


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "teddy"


@contextmanager
def _timeout(seconds: float) -> Iterator[None]:
    """Limit the wait for a response in urllib and fsspec, which PyG downloads with."""
    from aiohttp import ClientTimeout
    from fsspec.config import conf  # type: ignore[import-untyped]

    limit = {"timeout": ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds)}
    socket_before, conf_before = socket.getdefaulttimeout(), dict(conf)
    socket.setdefaulttimeout(seconds)
    conf.update(http={"client_kwargs": limit}, https={"client_kwargs": limit})
    try:
        yield
    finally:
        socket.setdefaulttimeout(socket_before)
        conf.clear()
        conf.update(conf_before)
