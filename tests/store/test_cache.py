"""The cache under damage, pressure and company."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import teddy
from teddy.store import cache

KIB = 2**-20  # of a GiB


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("TEDDY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TEDDY_CACHE_GIB", raising=False)
    return tmp_path / "cache" / "tensors"


def block(value, kib=100):
    return {"x": torch.full((256 * kib,), float(value))}


def files(place):
    return sorted(place.glob("*.safetensors"))


def test_saved_tensors_are_loaded():
    tensors = {
        "matrix": torch.randn(3, 4).t(),
        "whole": torch.arange(5),
        "half": torch.ones(3, dtype=torch.bfloat16),
        "one": torch.tensor(2.0),
        "none": torch.zeros(0, 7),
    }
    cache.save("a key / of any form", tensors)
    loaded = cache.load("a key / of any form")
    assert loaded.keys() == tensors.keys()
    assert all(torch.equal(loaded[name], tensors[name]) for name in tensors)
    assert cache.load("another key") is None


def test_a_file_under_a_wrong_name_is_not_believed(place):
    cache.save("a", block(1))
    (path,) = files(place)
    cache.save("b", block(2))
    (other,) = set(files(place)) - {path}
    shutil.copy(other, path)
    assert cache.load("a") is None


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_torn_file_counts_as_none(place, share):
    cache.save("a", block(1))
    (path,) = files(place)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert cache.load("a") is None
    cache.save("a", block(1))
    assert torch.equal(cache.load("a")["x"], block(1)["x"])


def test_a_flipped_byte_is_seen(place):
    tensors = {"x": torch.arange(6.0), "y": torch.ones(2)}
    cache.save("a", tensors)
    (path,) = files(place)
    content = path.read_bytes()
    for index in range(len(content)):
        for bit in (1, 128):
            flipped = bytearray(content)
            flipped[index] ^= bit
            path.write_bytes(flipped)
            loaded = cache.load("a")  # some padding means nothing
            assert loaded is None or all(torch.equal(loaded[n], tensors[n]) for n in tensors)
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 64]))
    assert cache.load("a") is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TEDDY_CACHE", str(tmp_path / "file"))
    cache.save("a", block(1))
    assert cache.load("a") is None


def test_a_full_disk_is_no_error(full_disk, monkeypatch):
    monkeypatch.setenv("TEDDY_CACHE", str(full_disk))
    cache.save("a", block(1))
    assert cache.load("a") is None
    assert list((full_disk / "tensors").iterdir()) == []


def test_least_recently_used_files_are_deleted(place, monkeypatch):
    monkeypatch.setenv("TEDDY_CACHE_GIB", str(250 * KIB))
    for age, key in enumerate("ab"):
        before = set(files(place))
        cache.save(key, block(age))
        (new,) = set(files(place)) - before
        os.utime(new, (100 + age, 100 + age))
    assert cache.load("a") is not None  # used now
    cache.save("c", block(2))
    assert [cache.load(key) is not None for key in "abc"] == [True, False, True]
    assert sum(path.stat().st_size for path in files(place)) <= 250 * 1024


def test_saving_again_takes_no_more_space(place, monkeypatch):
    monkeypatch.setenv("TEDDY_CACHE_GIB", str(250 * KIB))
    for key in "abbb":
        cache.save(key, block(1))
    assert cache.load("a") is not None
    assert len(files(place)) == 2


@pytest.mark.parametrize("most", ["0", str(50 * KIB)])
def test_tensors_above_the_limit_are_not_saved(place, monkeypatch, most):
    cache.save("small", block(1, kib=10))
    monkeypatch.setenv("TEDDY_CACHE_GIB", most)
    cache.save("a", block(1))
    assert cache.load("a") is None
    assert cache.load("small") is not None


def test_an_invalid_limit_raises(monkeypatch):
    monkeypatch.setenv("TEDDY_CACHE_GIB", "much")
    with pytest.raises(teddy.InputError, match="TEDDY_CACHE_GIB is much, expected a number from 0"):
        cache.save("a", block(1))


def test_only_own_files_are_deleted(place, monkeypatch):
    place.mkdir(parents=True)
    for name in (".teddy-old", ".teddy-new", "notes.txt"):
        (place / name).write_bytes(bytes(1000))
        if name != ".teddy-new":
            os.utime(place / name, (100, 100))
    monkeypatch.setenv("TEDDY_CACHE_GIB", str(120 * KIB))
    cache.save("a", block(1))
    cache.save("b", block(1))
    assert sorted(path.name for path in place.iterdir() if path.suffix != ".safetensors") == [
        ".teddy-new",
        "notes.txt",
    ]


def test_many_at_once_see_whole_files_or_none(place, monkeypatch):
    monkeypatch.setenv("TEDDY_CACHE_GIB", str(250 * KIB))

    def work(seed):
        for step in range(25):
            key = (seed * 7 + step) % 5
            loaded = cache.load(str(key))
            assert loaded is None or torch.equal(loaded["x"], block(key)["x"])
            cache.save(str(key), block(key))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert files(place)
    assert not list(place.glob(".teddy-*"))
