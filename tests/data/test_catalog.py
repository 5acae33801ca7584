import pytest

from teddy.data import DATASETS, list_datasets
from teddy.errors import InputError
from teddy.tasks import load_dataset


def test_every_set_is_listed_once_under_its_own_name():
    assert [info.name for info in list_datasets()] == list(DATASETS)
    names = (
        "citeseer pubmed solubility cora computers photo cs physics roman-empire amazon-ratings "
        "minesweeper tolokers questions chameleon-filtered squirrel-filtered arxiv arxiv-surrogate "
        "reddit"
    )
    assert list(DATASETS) == names.split()
    bundled = {info.name for info in list_datasets() if info.bundled}
    assert bundled == {"citeseer", "pubmed", "solubility"}
    assert [info.name for info in list_datasets() if info.graphs > 1] == ["solubility"]


def test_names_in_any_case():
    assert load_dataset("CiteSeer").name == "citeseer"


def test_unknown_name_suggests_one():
    with pytest.raises(InputError, match=r"unknown data set 'citeser'.*did you mean 'citeseer'"):
        load_dataset("citeser")
    with pytest.raises(InputError, match="unknown data set ''"):
        load_dataset("")
