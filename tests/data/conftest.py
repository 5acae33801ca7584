"""What several tests start from."""

from pathlib import Path

import pytest
from torch_geometric.data import Data

from .small_graphs import small_data

SHARED_DATA = Path(__file__).parents[3] / "shared/data"


@pytest.fixture
def raw_files() -> Path:
    """Folder with planetoid/{Cora,CiteSeer,PubMed}/raw."""
    if not (SHARED_DATA / "planetoid").is_dir():
        pytest.skip("no ../shared/data/planetoid beside the repository")
    return SHARED_DATA


@pytest.fixture
def small() -> Data:
    """Six nodes on a path with a chord, all checks fulfilled."""
    return small_data()
