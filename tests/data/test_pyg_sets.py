import http.server
import shutil
import socket
import threading

import fsspec.config
import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.datasets import Amazon, Planetoid
from torch_geometric.io import read_npz
from torch_geometric.utils import is_undirected

from teddy.data import pyg_sets
from teddy.errors import InputError
from teddy.tasks import load_dataset


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.delenv("TEDDY_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def no_network(monkeypatch):
    """Names don't resolve, as on a machine without network; the rest of the download is real."""

    def getaddrinfo(*_args, **_kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.mark.parametrize("layout", ["planetoid", "."])
@pytest.mark.parametrize("through", ["data_dir", "TEDDY_DATA"])
def test_cora_offline_and_nothing_is_written(through, layout, raw_files, tmp_path, monkeypatch):
    folder = tmp_path / "raw files"
    shutil.copytree(raw_files / "planetoid/Cora", folder / layout / "Cora")
    before = sorted(folder.rglob("*"))
    if through == "TEDDY_DATA":
        monkeypatch.setenv("TEDDY_DATA", str(folder))
    data = load_dataset("Cora", data_dir=folder if through == "data_dir" else None)
    assert (data.num_nodes, data.num_edges, data.num_features) == (2708, 2 * 5278, 1433)
    assert int(data.y.max()) + 1 == 7
    assert [int(m.sum()) for m in (data.train_mask, data.val_mask, data.test_mask)] == [
        140,
        500,
        1000,
    ]
    assert data.x.layout == torch.sparse_csr
    torch.testing.assert_close(data.x.to_dense().sum(dim=1), torch.ones(2708))
    assert sorted(folder.rglob("*")) == before
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("photo", "amazon/Photo/raw/amazon_electronics_photo.npz"),
        ("computers", "Computers/raw/amazon_electronics_computers.npz"),
        ("cs", "coauthor/CS/raw/ms_academic_cs.npz"),
        ("physics", "coauthor/Physics/raw/ms_academic_phy.npz"),
    ],
)
def test_benchmark_files_read_as_pyg_does(name, file, tmp_path):
    random = np.random.default_rng(0)
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    adjacency = scipy.sparse.random(30, 30, 0.1, "csr", random_state=random)
    features = scipy.sparse.random(30, 8, 0.1, "csr", random_state=random)
    # As in Photo's file: columns of a row are in any order, and may come twice.
    for row in range(30):
        part = slice(*features.indptr[row : row + 2])
        features.indices[part] = features.indices[part][::-1]
    features.indices[features.indptr[0] : features.indptr[1]] = 3
    features.has_sorted_indices = features.has_canonical_format = False
    parts = {}
    for key, matrix in {"adj": adjacency, "attr": features}.items():
        parts |= {f"{key}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}
        parts[f"{key}_shape"] = matrix.shape
    np.savez(path, labels=random.integers(0, 3, 30), **parts)

    reference = read_npz(str(path))
    data = load_dataset(name, data_dir=tmp_path, split="20/40/40")
    assert torch.equal(data.x.to_dense(), reference.x)
    assert torch.equal(data.y, reference.y)
    assert torch.equal(data.edge_index, reference.edge_index)
    assert is_undirected(data.edge_index)
    with pytest.raises(InputError, match=rf"^{name}: has no split.*--split 20/40/40"):
        load_dataset(name, data_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("cora", "DIR/planetoid/Cora/raw/ind.cora.x and the other raw files"),
        ("photo", "DIR/amazon/Photo/raw/amazon_electronics_photo.npz"),
    ],
)
def test_no_network(name, file, no_network, tmp_path):
    for _ in range(2):  # the first failure leaves nothing that changes the second
        with pytest.raises(InputError) as caught:
            load_dataset(name)
        message = str(caught.value)
        assert message.startswith(f"{name}: not bundled and the download failed (")
        assert "ame or service not known" in message
        assert message.endswith(f"pass --data-dir DIR or set TEDDY_DATA=DIR with {file}")
        assert "\n" not in message
    assert list((tmp_path / "cache/teddy").iterdir()) == []


@pytest.fixture
def server(tmp_path):
    """A web server on this machine; yields the folder it serves and its address."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_message(self, *_args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()


def test_download_with_pygs_own_class(raw_files, server, tmp_path, monkeypatch):
    folder, address = server
    monkeypatch.setattr(Planetoid, "url", address)
    for file in (raw_files / "planetoid/Cora/raw").iterdir():
        if file.name != "ind.cora.graph":
            shutil.copy(file, folder)
    with pytest.raises(InputError, match=r"^cora: not bundled and the download failed \(.*graph"):
        load_dataset("cora")
    assert list((tmp_path / "cache/teddy").iterdir()) == []

    shutil.copy(raw_files / "planetoid/Cora/raw/ind.cora.graph", folder)
    assert load_dataset("cora").num_nodes == 2708
    shutil.rmtree(folder)  # from now on out of the cache
    assert load_dataset("cora").num_edges == 2 * 5278
    files = [path for path in (tmp_path / "cache/teddy").rglob("*") if path.is_file()]
    assert len(files) == 8
    assert {file.parent for file in files} == {tmp_path / "cache/teddy/planetoid/Cora/raw"}


@pytest.mark.parametrize(("name", "family"), [("cora", Planetoid), ("photo", Amazon)])
def test_a_silent_server_is_given_up(name, family, tmp_path, monkeypatch):
    monkeypatch.setattr(pyg_sets, "_TIMEOUT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(family, "url", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        expected = rf"^{name}: not bundled and the download failed \((no answer in 0.3|.*timed out)"
        with pytest.raises(InputError, match=expected):
            load_dataset(name)
    assert socket.getdefaulttimeout() is None
    assert not fsspec.config.conf.get("http")
    assert list((tmp_path / "cache/teddy").iterdir()) == []


def test_missing_and_damaged_raw_files(tmp_path, monkeypatch):
    raw = tmp_path / "Cora/raw"
    raw.mkdir(parents=True)
    with pytest.raises(InputError, match=r"raw: no ind\.cora\.x, expected PyG's raw files"):
        load_dataset("cora", data_dir=tmp_path)
    for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"):
        (raw / f"ind.cora.{part}").write_bytes(b"version https://git-lfs")
    with pytest.raises(
        InputError, match=r"^ind\.cora\.x: can't be read as PyG's raw files of Cora"
    ):
        load_dataset("cora", data_dir=tmp_path)
    with pytest.raises(
        InputError, match=r"^data_dir \(--data-dir\) is '.*nowhere', expected an exist"
    ):
        load_dataset("cora", data_dir=tmp_path / "nowhere")
    monkeypatch.setenv("TEDDY_DATA", "nowhere")
    with pytest.raises(InputError, match=r"^TEDDY_DATA is 'nowhere', expected an exist"):
        load_dataset("cora")
