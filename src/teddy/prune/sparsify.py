"""Pruning as a PyG transform."""

from __future__ import annotations

from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.transforms import BaseTransform

from teddy.errors import InputError
from teddy.graph.columns import keep_messages, keep_relations
from teddy.graph.groups import check_budget
from teddy.numbers import check_sparsity
from teddy.prune.choose import check_weighted, needed_signals
from teddy.prune.hetero import prune_relations
from teddy.prune.prune import prune_edges, prune_graphs
from teddy.prune.scores import SCORES


class SparsifyEdges(BaseTransform):
    r"""Keep the edges that matter, from `"TEDDY: Trimming Edges with Degree-based Discrimination
    strategY" <https://openreview.net/forum?id=4UIBysXjVq>`_ (Eq. 6 to 8).

    Everything that belongs to an edge (``edge_attr``, ``edge_weight``, edge masks) goes along.
    All nodes stay, and all links to predict (``edge_label_index``, ``edge_label``). Of a
    ``HeteroData`` each relation is pruned; see :func:`teddy.prune_relations`. Of a ``Batch`` each
    graph is, as it would be alone; see :func:`teddy.prune_graphs`.

    Args:
        sparsity: Share of undirected edges to remove, in [0, 1].
        method: A name in ``teddy.prune.SCORES``. One that looks at nodes takes ``data.x``,
            ``data.logits``, ... (:class:`~teddy.prune.scores.score.Signals`).
        seed: For scores that draw.
        weighted: Whether degrees are sums of ``edge_weight``; an edge whose columns have several
            weights has their mean.
        relations: Of a ``HeteroData``: ``each`` relation has degrees and a budget of its own, or
            ``all`` have them together.

    Example:
        >>> import torch, teddy
        >>> edge_index = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> data = Data(edge_index=edge_index, edge_weight=torch.arange(4.0), num_nodes=4)
        >>> teddy.SparsifyEdges(0.5)(data).edge_weight
        tensor([0., 3.])
        >>> teddy.SparsifyEdges(0.5)
        SparsifyEdges(sparsity=0.5, method='teddy')
    """

    def __init__(
        self,
        sparsity: float,
        method: str = "teddy",
        seed: int = 0,
        weighted: bool = False,
        relations: str = "each",
    ) -> None:
        self.sparsity = check_sparsity(sparsity)
        SCORES[method]  # an unknown name is an error here, not at the first graph
        if weighted:
            check_weighted(method)
        self.method = method
        self.seed = seed
        self.weighted = weighted
        self.relations = check_budget(relations, "relations")

    def forward(self, data: Data | HeteroData) -> Data | HeteroData:
        """Return the graph with fewer edges (called through ``transform(data)``, on a copy)."""
        if isinstance(data, HeteroData):
            settings = self.method, self.seed, self.relations, self.weighted
            return keep_relations(data, prune_relations(data, self.sparsity, *settings))
        if not isinstance(data, Data) or data.edge_index is None:
            raise InputError(
                f"SparsifyEdges got {type(data).__name__}, expected a Data with an edge_index or a "
                "HeteroData"
            )
        if isinstance(data, Batch):
            if self.weighted:
                raise InputError(
                    "SparsifyEdges(weighted=True) got a Batch, expected one graph at a time, as a "
                    "data set's transform gets them"
                )
            return prune_graphs(data, self.sparsity, self.method, self.seed)
        weights = None
        if self.weighted:
            weights = data.get("edge_weight")
            if weights is None:
                raise InputError("SparsifyEdges(weighted=True) got no edge_weight, expected one")
        signals = {name: data[name] for name in needed_signals(self.method) if name in data}
        keep = prune_edges(
            data.edge_index, self.sparsity, data.num_nodes, self.method, self.seed, weights,
            **signals,
        )  # fmt: skip
        return keep_messages(data, keep)

    def __repr__(self) -> str:
        more = f", seed={self.seed}" if self.seed else ""
        more += ", weighted=True" if self.weighted else ""
        more += f", relations='{self.relations}'" if self.relations != "each" else ""
        return f"{type(self).__name__}(sparsity={self.sparsity}, method='{self.method}'{more})"
