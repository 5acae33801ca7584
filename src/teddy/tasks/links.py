"""Kind of problem: links of one graph, for link prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.features import node_ids
from teddy.errors import InputError
from teddy.graph.fingerprint import split_fingerprint
from teddy.tasks.heads import Head, LinkHead
from teddy.tasks.kind import Kind
from teddy.tasks.link_split import check_links, with_links
from teddy.tasks.ranking import hits_at
from teddy.tasks.views import Choice, Views

if TYPE_CHECKING:
    from teddy.settings import Settings, TrainConfig

#: Learning rates of models whose default is too high for inner products: with sums over neighbours,
#: outputs of GIN grow until its units die. Chosen on CiteSeer's validation links.
LEARNING_RATES = {"gin": 0.003}


class LinkKind(Kind):
    """Links of one graph; a link's logit is the inner product of its end nodes' outputs.

    Messages, scores and budgets use the training edges only. A pruned edge carries no message and
    remains a label of the loss. ``y`` and the masks have a row for each link. Distillation uses
    the training links only.

    The task declares ``dimensions``, the outputs of a node, and ``hits_at``, the rank of hits@k.
    """

    name: ClassVar[str] = "link"
    key: ClassVar[str] = "links"
    classes_of_nodes: ClassVar[bool] = False
    exported: ClassVar[str] = "outputs"
    unsupported: ClassVar[Mapping[str, str]] = {
        "heterogeneous": "its inner product is between nodes of one type",
        "inductive": "its split holds out links, not nodes",
        "directed": "its inner product is the same in both directions",
    }
    draws_splits: ClassVar[bool] = True
    row_fields: ClassVar[tuple[str, ...]] = ("edge_label_index",)

    def train_config(self, config: TrainConfig, model: Any) -> TrainConfig:
        """Return settings without weight decay by default, and a learning rate for inner products.

        At outputs of 0 the inner product has no gradient, and weight decay moves outputs there:
        all links would be equally likely, while the AUC still looks good.
        """
        config = replace(config, distill_nodes="training")
        if config.weight_decay is None:
            config = replace(config, weight_decay=0.0)
        if config.lr is None and isinstance(model, str):
            config = replace(config, lr=LEARNING_RATES.get(model.partition(":")[0]))
        changed = self._option("dimensions") != type(self.task).defaults().get("dimensions")
        if changed and not isinstance(model, str):
            raise InputError("dimensions has no effect on your own module, expected them in it")
        return config

    def _option(self, name: str) -> Any:
        return self.task.options().get(name)

    def with_rows(self, data: Any, split: str | None, seed: int, source: str = "data") -> Data:
        """Return a graph with its links, or with those of a drawn split.

        Loaded ``data`` have ``x``, ``edge_index`` and optionally ``edge_weight``.
        """
        return with_links(data, split, seed, source)

    def checked(self, data: Data, source: str = "data", labelled: bool = True) -> Data:
        """Return a graph with links, checked; see :func:`~teddy.tasks.link_split.check_links`."""
        return check_links(data, source, labelled, self.task.targets)

    def split_data(self, data: Any, settings: Settings) -> Data:
        """Return the graph of training edges with its links."""
        seed = settings.data.split_seed
        if seed is not None and isinstance(data, Data) and "edge_label_index" in data:
            raise InputError(f"split_seed is {seed} and data have links, expected one of them")
        return self.with_rows(data, None, seed or 0)

    def prepare(self, data: Any, settings: Settings) -> Data:
        """Return the graph of training edges with its links, checked."""
        return self.checked(data)

    def head(self, network: nn.Module, graph: Data, device: torch.device) -> LinkHead:
        """Return the inner product of the end nodes' outputs."""
        return LinkHead(graph.edge_label_index.to(device))

    def ticket_head(self, graph: Data, device: torch.device) -> Head:
        """Return the inner product for the links of a ticket's data."""
        return LinkHead(graph.edge_label_index.to(device))

    def width(self, num_outputs: int) -> int:
        """Return the dimensions of a node's outputs."""
        dimensions: int = self._option("dimensions") or num_outputs
        return dimensions

    def identity(self, given: Data) -> dict[str, Any]:
        """Return the dimensions and the links."""
        return {"dimensions": self._option("dimensions"), "links": self.split_fingerprint(given)}

    def header_fields(
        self,
        views: Views,
        choice: Choice,
        given: Data,
        logits: Mapping[str, Tensor],
        head: Head | None,
    ) -> dict[str, Any]:
        """Return the decoder and the second metric."""
        found = self.second_metric(views.train.data, logits)
        return {} if found is None else {self.key: found}

    def second_metric(self, data: Data, logits: Mapping[str, Tensor]) -> dict[str, Any] | None:
        """Return the decoder, and hits@k of validation and test links."""
        k = self._option("hits_at")
        if k is None:
            return None
        masks = {"val": data.val_mask, "test": data.test_mask}
        hits = {
            whose: {
                part: hits_at(k, z.to(data.y.device)[m], data.y[m]) for part, m in masks.items()
            }
            for whose, z in logits.items()
        }
        return {"decoder": "inner product", "hits_at": k, "hits": hits}

    def split_fingerprint(self, data: Data) -> str:
        """Return the sha256 of the masks and the links."""
        return split_fingerprint(data, links=True)

    def graph(self, data: Any) -> Data:
        """Return a graph with its links, or with those of the ticket's split."""
        return self._linked(data, labelled=False)

    def labelled(self, data: Any) -> Data:
        """Return the graph with its links, labels and masks."""
        return self._linked(data, labelled=True)

    def with_split(self, data: Any, split: str | None, split_seed: int | None, source: str) -> Data:
        """Return loaded data with the links of the requested split, or of the ticket's."""
        if split is None and split_seed is None:
            return self._linked(data, labelled=False, source=source)
        own = None if self.info.split_seed is None else self.info.split
        if split_seed is None and split == self.info.split:
            split_seed = self.info.split_seed
        return self.with_rows(data, split or own, split_seed or 0, source)

    def row_names(self, data: Any) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return both end nodes of each link."""
        ids = node_ids(data)
        ends = ([ids[node] for node in end] for end in data.edge_label_index.tolist())
        return ("source", "target"), list(zip(*ends, strict=True))

    def targets(self, data: Any) -> Tensor | None:
        """Return the labels of the links."""
        label: Tensor | None = data.get("edge_label")
        return None if label is None else self.task.targets.check(label, label.size(0))

    def rows(self, data: Any, settings: Settings) -> tuple[Tensor, Any]:
        """Return the labels of the links of loaded data."""
        return data.edge_label, data

    def untested_reason(self, data: Any, outputs: int) -> str:
        """Return why there is no test metric; empty if there is one."""
        if any(key not in data for key in ("edge_label", *MASKS)):
            return "data have no labels or no split"
        own = self.split_fingerprint(data) == self.info.split_fingerprint
        return "" if own else "the split differs from the ticket's"

    def _linked(self, data: Any, labelled: bool, source: str = "data") -> Data:
        drawn = isinstance(data, Data) and "edge_label_index" not in data
        if drawn and self.info.split_seed is not None:
            data = self.with_rows(data, self.info.split, self.info.split_seed, source)
        return self.checked(data, source, labelled)
