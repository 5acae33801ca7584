"""The large sets from files in their own layouts; as small as the layouts allow."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile

import numpy as np
import pytest
import scipy.sparse
import torch

from data.test_pyg_sets import no_network, own_folders, server  # noqa: F401
from teddy.data import large_sets
from teddy.data.large_sets import class_features
from teddy.errors import InputError
from teddy.tasks import load_dataset


def write_arxiv(folder):
    """Six nodes as OGB lays them out."""
    x = np.arange(12, dtype=np.float32).reshape(6, 2) / 3
    tables = {
        "raw/edge": [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [1, 0]],
        "raw/node-feat": x.tolist(),
        "raw/node-label": [[0], [1], [0], [1], [0], [1]],
        "split/time/train": [[0], [1]],
        "split/time/valid": [[2], [3]],
        "split/time/test": [[4], [5]],
    }
    for name, rows in tables.items():
        path = folder / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt") as file:
            file.writelines(",".join(map(str, row)) + "\n" for row in rows)
    return x


@pytest.mark.parametrize("layout", ["ogbn_arxiv", "ogb/ogbn_arxiv"])
def test_arxiv_from_ogbs_files(tmp_path, layout):
    x = write_arxiv(tmp_path / layout)
    data = load_dataset("arxiv", data_dir=tmp_path)
    np.testing.assert_allclose(data.x, x, rtol=1e-6)
    assert data.edge_index.tolist() == [
        [0, 0, 1, 1, 2, 2, 3, 4, 4, 5],
        [1, 2, 0, 2, 0, 1, 4, 3, 5, 4],
    ]
    assert data.y.tolist() == [0, 1, 0, 1, 0, 1]
    assert data.train_mask.tolist() == [True, True, False, False, False, False]
    assert data.test_mask.nonzero().flatten().tolist() == [4, 5]


def test_arxiv_downloaded(tmp_path, server, monkeypatch):  # noqa: F811
    served, address = server
    write_arxiv(tmp_path / "zipped" / "arxiv")
    with zipfile.ZipFile(served / "arxiv.zip", "w") as file:
        for path in (tmp_path / "zipped").rglob("*"):
            file.write(path, path.relative_to(tmp_path / "zipped"))
    monkeypatch.setattr(large_sets, "_ARXIV_URL", f"{address}/arxiv.zip")
    assert load_dataset("arxiv").num_nodes == 6
    shutil.rmtree(served)  # from now on out of the cache
    assert load_dataset("arxiv").num_edges == 10
    assert [path.name for path in (tmp_path / "cache/teddy").iterdir()] == ["ogb"]


def test_no_network_no_arxiv(tmp_path, no_network):  # noqa: F811
    for name, file in (("arxiv", "ogb/ogbn_arxiv/raw/edge.csv.gz"),
                       ("reddit", "reddit2/Reddit2/raw/adj_full.npz")):  # fmt: skip
        with pytest.raises(
            InputError, match=rf"{name}.*: not bundled and the download failed"
        ) as e:
            load_dataset(name)
        assert f"DIR/{file} and the other raw files" in str(e.value)
    assert list((tmp_path / "cache/teddy").iterdir()) == []


def test_reddit_from_pygs_files(tmp_path):
    raw = tmp_path / "Reddit2" / "raw"
    raw.mkdir(parents=True)
    adjacency = scipy.sparse.csr_matrix(np.ones((4, 4)) - np.eye(4))
    scipy.sparse.save_npz(raw / "adj_full.npz", adjacency)
    np.save(raw / "feats.npy", np.eye(4))
    (raw / "class_map.json").write_text(json.dumps({str(i): i % 2 for i in range(4)}))
    (raw / "role.json").write_text(json.dumps({"tr": [0, 1], "va": [2], "te": [3]}))
    data = load_dataset("reddit", data_dir=tmp_path)
    assert data.num_edges == 12
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.val_mask.tolist() == [False, False, True, False]


def test_arxiv_surrogate(shared_data):
    data = load_dataset("arxiv-surrogate", data_dir=shared_data)
    assert (data.num_nodes, data.num_edges) == (169343, 2 * 1157799)
    sizes = [int(data[f"{part}_mask"].sum()) for part in ("train", "val", "test")]
    assert sizes == [90941, 29799, 48603]
    assert torch.equal(data.x, class_features(data.y))
    # The best guess from features alone, by who knows the directions and how common classes are.
    centres = np.random.default_rng(0).standard_normal((40, 128))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    common = np.log(np.bincount(data.y) / data.num_nodes)
    guessed = (2 * data.x.numpy() @ centres.T + common).argmax(axis=1)
    assert (guessed == data.y.numpy()).mean() == pytest.approx(0.57, abs=0.005)


def test_no_surrogate_without_its_file(tmp_path):
    with pytest.raises(InputError, match=r"arxiv-surrogate: no download; pass --data-dir"):
        load_dataset("arxiv-surrogate", data_dir=tmp_path)
