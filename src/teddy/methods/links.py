"""A search for a ticket that predicts links."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data.links import LINKS, check_links, with_links
from teddy.errors import InputError
from teddy.methods.headed import HeadedProblem
from teddy.methods.model_source import ModelLike
from teddy.methods.record import Dense
from teddy.models.link_head import LinkHead
from teddy.numbers import check_count
from teddy.ticket.fingerprint import split_fingerprint
from teddy.ticket.links import link_facts
from teddy.training import TrainConfig, TrainResult

#: Outputs of a node, unless asked for.
DIMENSIONS = 64
#: Learning rates, where a model's own is too high for inner products: by sums over neighbours GIN's
#: outputs grow until its units die. Chosen on CiteSeer's validation links.
LEARNING_RATES = {"gin": 0.003}
#: Rank of the second metric, hits@k, unless asked for.
HITS_AT = 50


class LinkProblem(HeadedProblem):
    """A graph of training edges, and links to tell from pairs without one.

    Messages run along the training edges; scores and budgets are of them. An edge that is pruned
    carries no message, and remains an example of the loss: links are labels.

    Args:
        data: As of :func:`teddy.data.split_links`; or a graph without links, which is split so.
        model: The encoder.
        settings: Those of :class:`~teddy.methods.problem.Problem`.
        dimensions: Outputs of a node, of an encoder that is made by its name.
        hits_at: Rank of hits@k.
        split_seed: Of the split of a graph without links.
        directed: Must not be.
    """

    OPTIONS: ClassVar[tuple[str, ...]] = ("dimensions", "hits_at", "split_seed")

    def __init__(
        self,
        data: Data,
        model: ModelLike,
        *settings: Any,
        dimensions: int | None = None,
        hits_at: int = HITS_AT,
        split_seed: int | None = None,
        directed: bool = False,
        **named: Any,
    ) -> None:
        if directed:
            raise InputError(f"links have no direction, expected directed=False for {LINKS}")
        if dimensions is not None and not isinstance(model, str):
            raise InputError("dimensions came with a module of your own, expected them in it")
        width = DIMENSIONS if dimensions is None else dimensions
        self.dimensions = check_count(width, "dimensions")
        self.hits_at = check_count(hits_at, "hits_at")
        if split_seed is not None and isinstance(data, Data) and "edge_label_index" in data:
            raise InputError(f"split_seed is {split_seed}, and data have links; expected none")
        seed = 0 if split_seed is None else split_seed
        super().__init__(with_links(data, seed=seed), model, *settings, **named)

    def _config(self, config: TrainConfig, model: ModelLike) -> TrainConfig:
        """Without weight decay, unless asked for, and with a learning rate for inner products.

        At outputs of 0 the inner product has no gradient, and a penalty draws them there: all links
        would be as likely, in an order that AUC still takes for good.
        """
        if config.weight_decay is None:
            config = replace(config, weight_decay=0.0)
        if config.lr is None and isinstance(model, str):
            config = replace(config, lr=LEARNING_RATES.get(model.partition(":")[0]))
        return super()._config(config, model)

    def _checked(self, data: Data, task: str) -> Data:
        return check_links(data)

    def head(self) -> nn.Module:
        """The inner product of both ends' outputs."""
        return LinkHead(self.given.edge_label_index)

    @property
    def num_encoded(self) -> int:
        """Outputs of a node."""
        return self.dimensions

    def settings(self) -> dict[str, Any]:
        """What decides the result beside the graph, the model and the training."""
        return {"dimensions": self.dimensions, "links": split_fingerprint(self.given, links=True)}

    def facts(self, keep: Tensor, sparse: TrainResult, dense: Dense) -> dict[str, Any]:
        """What a ticket says of links: how they are made, and hits@k."""
        logits = {"dense": dense.logits, "ticket": sparse.logits}
        return {"links": link_facts(self.data, self.hits_at, logits)}
