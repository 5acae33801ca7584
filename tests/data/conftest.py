"""What several tests start from."""

from pathlib import Path

import pytest
from torch_geometric.data import Data

from .small_graphs import small_data


@pytest.fixture
def raw_files(shared_data: Path) -> Path:
    """Folder with planetoid/{Cora,CiteSeer,PubMed}/raw."""
    return shared_data


@pytest.fixture
def small() -> Data:
    """Six nodes on a path with a chord, all checks fulfilled."""
    return small_data()
