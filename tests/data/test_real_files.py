"""Every set whose raw files lie in ../shared/data, against PyG's own classes."""

import shutil

import numpy as np
import pytest
import torch
from torch_geometric.datasets import Amazon, Coauthor, HeterophilousGraphDataset, Planetoid

from teddy.data import DATASETS
from teddy.data.checks import MASKS
from teddy.graph import Edges
from teddy.tasks import load_dataset


@pytest.fixture
def copied(shared_data, tmp_path):
    """Copies a raw file or folder to where PyG may write beside it; skips where it is missing."""

    def copy(source, target):
        if not (shared_data / source).exists():
            pytest.skip(f"no ../shared/data/{source}")
        place = tmp_path / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if (shared_data / source).is_dir():
            shutil.copytree(shared_data / source, place)
        else:
            shutil.copy(shared_data / source, place)
        return str(tmp_path)

    return copy


def same_graph(data, reference, name):
    info, num_nodes = DATASETS[name].info, reference.num_nodes
    assert data.num_nodes == num_nodes == info.nodes
    assert data.x.shape == reference.x.shape == (info.nodes, info.features)
    assert int(data.y.max()) + 1 == int(reference.y.max()) + 1 == info.classes
    dense = data.x if data.x.layout == torch.strided else data.x.to_dense()
    torch.testing.assert_close(dense, reference.x)
    assert torch.equal(data.y, reference.y)
    graph, _ = Edges.from_columns(reference.edge_index, num_nodes)
    ours, _ = Edges.from_columns(data.edge_index, num_nodes)
    assert torch.equal(ours.pairs, graph.pairs)
    assert ours.num_edges == info.edges


@pytest.mark.parametrize("name", ["Cora", "CiteSeer", "PubMed"])
def test_planetoid(name, shared_data, copied):
    root = copied(f"planetoid/{name}", name)
    reference = Planetoid(root, name)[0]
    reference.x = reference.x / reference.x.sum(dim=1, keepdim=True).clamp(min=1e-12)
    data = load_dataset(name, data_dir=shared_data)
    same_graph(data, reference, name.lower())
    for mask in MASKS:
        assert torch.equal(data[mask], reference[mask])


@pytest.mark.parametrize(
    ("family", "name", "split"),
    [(Amazon, "Photo", "amazon-photo_split"), (Coauthor, "CS", "coauthor-cs_split")],
)
def test_benchmarks(family, name, split, shared_data, copied):
    source = f"{family.__name__.lower()}/{name}/raw"
    reference = family(copied(source, f"{name}/raw"), name)[0]
    same_graph(load_dataset(name, split="60/20/20", data_dir=shared_data), reference, name.lower())
    # A file of the split makes it the public one.
    if not (shared_data / "splits" / f"{split}.npz").is_file():
        pytest.skip(f"no ../shared/data/splits/{split}.npz")
    data = load_dataset(name, data_dir=shared_data)
    assert data.split == "public"
    with np.load(shared_data / "splits" / f"{split}.npz") as parts:
        for mask, part in zip(MASKS, ("train", "valid", "test"), strict=True):
            nodes = data[mask].nonzero().flatten().numpy()
            np.testing.assert_array_equal(nodes, np.sort(parts[part]))


def test_minesweeper(shared_data, copied):
    file = "minesweeper.npz"
    root = copied(f"heterophilous/{file}", f"minesweeper/raw/{file}")
    reference = HeterophilousGraphDataset(root, "Minesweeper")[0]
    # From the folder of the authors' repository, and from PyG's.
    for folder in (shared_data, root):
        data = load_dataset("minesweeper", data_dir=folder)
        same_graph(data, reference, "minesweeper")
        for mask in MASKS:
            assert torch.equal(data[mask], reference[mask])


@pytest.mark.parametrize("name", ["chameleon", "squirrel"])
def test_filtered_wikipedia(name, shared_data):
    path = shared_data / "heterophilous" / f"{name}_filtered.npz"
    if not path.is_file():
        pytest.skip(f"no ../shared/data/heterophilous/{path.name}")
    data = load_dataset(f"{name}-filtered", data_dir=shared_data)
    info = DATASETS[f"{name}-filtered"].info
    assert (data.num_nodes, data.num_edges) == (info.nodes, 2 * info.edges)
    assert (data.x.size(1), int(data.y.max()) + 1) == (info.features, info.classes)
    with np.load(path) as arrays:  # PyG has no class for it
        np.testing.assert_array_equal(data.x.to_dense(), arrays["node_features"])
        np.testing.assert_array_equal(data.y, arrays["node_labels"])
        edges = {tuple(sorted(edge)) for edge in arrays["edges"].tolist() if edge[0] != edge[1]}
        assert {tuple(sorted(edge)) for edge in data.edge_index.t().tolist()} == edges
        for mask in MASKS:
            np.testing.assert_array_equal(data[mask].t(), arrays[f"{mask}s"])
