"""Errors of invalid paths and files of any kind."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teddy.errors import InputError
from teddy.tasks import load_dataset

from .small_graphs import message, small_data, write_fields

EDGES = "source,target\n0,1\n"
NODES = "id,label,f\n0,0,1\n1,1,2\n"


def test_paths(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    assert message(folder) == f"{folder}: has no edges table, expected edges.csv or edges.parquet"
    assert message(tmp_path / "no.npz") == f"{tmp_path / 'no.npz'}: no such file or folder"
    assert message("some/where") == "some/where: no such file or folder"
    (folder / "edges.csv").write_text(EDGES)
    expected = (
        f"{folder}: has no nodes table, expected nodes.csv or nodes.parquet, "
        "or the node table as nodes (--nodes FILE)"
    )
    assert message(folder) == message(folder / "edges.csv") == expected
    nodes = folder / "people.csv"
    assert message(folder, nodes=nodes) == f"{nodes}: no such file, expected a node table"
    (folder / "people.txt").write_text(NODES)
    text = message(folder, nodes=folder / "people.txt")
    assert text == "people.txt: ends in '.txt', expected .csv or .parquet"
    expected = "people.txt: ends in '.txt', expected .npz, .csv, .parquet, .pt or .pth, or a folder"
    assert message(folder / "people.txt") == expected
    (folder / "edges.parquet").write_bytes(b"")
    assert message(folder) == f"{folder}: has two edges tables, expected edges.csv or edges.parquet"


def test_nodes_beside_something_that_has_its_own(tmp_path):
    np.savez(tmp_path / "graph.npz")
    for name in ("citeseer", tmp_path / "graph.npz"):
        text = message(name, nodes="n.csv")
        assert text == "nodes (--nodes) is 'n.csv', expected only with an edge list"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hello", pickle.dumps({"x": 1})])
@pytest.mark.parametrize("file", ["graph.npz", "graph.pt"])
def test_content_that_is_no_graph(file, content, tmp_path):
    (tmp_path / file).write_bytes(content)
    assert message(tmp_path / file).startswith(f"{file}: ")


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("kind", ["graph.npz", "graph.pt"])
def test_no_damage_gives_another_kind_of_error(kind, tmp_path, data):
    path = tmp_path / kind
    write_fields(tmp_path) if kind == "graph.npz" else torch.save(small_data(), path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.sampled_from([None, len(content) // 2]))])
    try:
        load_dataset(path)
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - it may as well be read
