"""Edge pruning as a PyG transform."""

from __future__ import annotations

from typing import Any

from torch_geometric.data.datapipes import functional_transform
from torch_geometric.transforms import BaseTransform

from teddy.graph.edge_subgraph import keep_edges
from teddy.graph.groups import check_budget
from teddy.prune.choose import check_weighted
from teddy.prune.prune import prune_edges
from teddy.prune.scores import SCORES
from teddy.sparsity import check_sparsity


@functional_transform("sparsify_edges")
class SparsifyEdges(BaseTransform):
    r"""Removes the edges of lowest score, as in the `"TEDDY: Trimming Edges with Degree-based
    Discrimination strategY" <https://openreview.net/forum?id=4UIBysXjVq>`_ paper (Eq. 6 to 8)
    (functional name: :obj:`sparsify_edges`).

    Exactly :math:`\lceil p_g M \rceil` of the :math:`M` undirected edges are removed, with their
    attributes (``edge_attr``, ``edge_weight``, edge masks). All nodes are kept, and all links to
    predict (``edge_label_index``, ``edge_label``). A ``HeteroData``, a ``Batch`` or a list of
    graphs is pruned as by :func:`teddy.prune_edges`.

    Args:
        sparsity: Share :math:`p_g` of undirected edges to remove, in [0, 1].
        score: Name of a score in ``teddy.prune.SCORES``. A score with node signals
            reads ``data.x``, ``data.logits``, ... (:class:`~teddy.prune.scores.score.Signals`).
        seed: Seed of random scores.
        budget: ``each``: the sparsity holds for each relation and for each graph of a batch;
            ``all``: for all of them together.
        weighted: True for degrees that are sums of ``edge_weight``. An edge has the mean weight of
            its columns.

    Example:
        >>> import torch, teddy
        >>> from torch_geometric.data import Data
        >>> edge_index = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> data = Data(edge_index=edge_index, edge_weight=torch.arange(4.0), num_nodes=4)
        >>> teddy.SparsifyEdges(0.5)(data).edge_weight
        tensor([0., 3.])
        >>> teddy.SparsifyEdges(0.5)
        SparsifyEdges(sparsity=0.5, score='teddy')
    """

    def __init__(
        self,
        sparsity: float,
        score: str = "teddy",
        *,
        seed: int = 0,
        budget: str = "each",
        weighted: bool = False,
    ) -> None:
        self.sparsity = check_sparsity(sparsity)
        SCORES[score]  # raises for an unknown name
        if weighted:
            check_weighted(score)
        self.score = score
        self.seed = seed
        self.budget = check_budget(budget)
        self.weighted = weighted

    def forward(self, data: Any) -> Any:
        """Return a copy of the graph with the kept edges; called by ``transform(data)``."""
        keep = prune_edges(
            data, self.sparsity, self.score, seed=self.seed, budget=self.budget,
            weighted=self.weighted,
        )  # fmt: skip
        return keep_edges(data, keep)

    def __repr__(self) -> str:
        more = f", seed={self.seed}" if self.seed else ""
        more += f", budget='{self.budget}'" if self.budget != "each" else ""
        more += ", weighted=True" if self.weighted else ""
        return f"{type(self).__name__}(sparsity={self.sparsity}, score='{self.score}'{more})"
