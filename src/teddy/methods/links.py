"""A search for a ticket that predicts links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data.links import check_links, with_links
from teddy.errors import InputError
from teddy.methods.headed import HeadedProblem
from teddy.methods.model_source import ModelLike
from teddy.methods.record import Dense
from teddy.models.link_head import LinkHead
from teddy.settings import Settings
from teddy.ticket.fingerprint import split_fingerprint
from teddy.ticket.links import link_facts
from teddy.training import TrainConfig, TrainResult
from teddy.training.tasks import LinkPrediction, parse_task

#: Learning rates, where a model's own is too high for inner products: by sums over neighbours GIN's
#: outputs grow until its units die. Chosen on CiteSeer's validation links.
LEARNING_RATES = {"gin": 0.003}


class LinkProblem(HeadedProblem):
    """A graph of training edges, and links to tell from pairs without one.

    Messages run along the training edges; scores and budgets are of them. An edge that is pruned
    carries no message, and remains an example of the loss: links are labels.

    Args:
        data: A graph with links, see :func:`teddy.data.split_links`; or a graph without, which is
            split so.
        model: The encoder.
        settings: The settings tree.
        named: Further arguments of :class:`~teddy.methods.problem.Problem`.
    """

    def __init__(
        self, data: Data, model: ModelLike, settings: Settings, seed: int = 0, **named: Any
    ) -> None:
        options = parse_task(settings.task.task).options()
        own = LinkPrediction(**options)
        self.dimensions, self.hits_at = own.dimensions, own.hits_at
        if own.dimensions != LinkPrediction.dimensions and not isinstance(model, str):
            raise InputError("dimensions came with a module of your own, expected them in it")
        split_seed = settings.data.split_seed
        if split_seed is not None and isinstance(data, Data) and "edge_label_index" in data:
            raise InputError(f"split_seed is {split_seed}, and data have links; expected none")
        super().__init__(with_links(data, seed=split_seed or 0), model, settings, seed, **named)

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

    def _checked(self, data: Data) -> Data:
        return check_links(data)

    def head_for(self, network: nn.Module) -> nn.Module:
        """The inner product of both ends' outputs."""
        return LinkHead(self.given.edge_label_index.to(self.device))

    @property
    def num_encoded(self) -> int:
        """Outputs of a network that is made here."""
        return self.dimensions

    def identity(self) -> dict[str, Any]:
        """What decides the result beside the graph, the model and the training."""
        return {"dimensions": self.dimensions, "links": split_fingerprint(self.given, links=True)}

    def second_metric(self, logits: Mapping[str, Tensor]) -> dict[str, Any]:
        """The decoder, and hits@k of validation and test links."""
        here = {name: found.to(self.device) for name, found in logits.items()}
        return link_facts(self.data, self.hits_at, here)

    def facts(self, keep: Tensor, sparse: TrainResult, dense: Dense) -> dict[str, Any]:
        """The header's field ``links``."""
        return {"links": self.second_metric({"dense": dense.logits, "ticket": sparse.logits})}
