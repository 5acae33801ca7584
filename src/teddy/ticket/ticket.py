"""A graph lottery ticket (Definition 1)."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.edges import SimpleGraph
from teddy.edges.prune import keep_columns
from teddy.errors import InputError
from teddy.models import build_model
from teddy.ticket.file import read_ticket, write_ticket
from teddy.ticket.fingerprint import graph_fingerprint
from teddy.ticket.info import TicketInfo
from teddy.training import accuracy
from teddy.training.forward import forward_passes


@dataclass
class Ticket:
    """A sparse subgraph and a sparse network that belong together.

    Attributes:
        info: Everything about it but its tensors.
        keep: bool ``[M]`` over the canonical order of the graph's undirected edges.
        model: The network, with the sparse weights.
        seconds: Time that finding it took (``dense``, ``sparse``); not stored in its file.

    Example:
        >>> import teddy, tempfile, pathlib
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, model="gcn", graph_sparsity=0.2, epochs=2, hidden=8)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "citeseer-gcn.ticket"
        >>> ticket.save(path)
        >>> again = teddy.Ticket.load(path)
        >>> bool((again.predict(data) == ticket.predict(data)).all())
        True
        >>> again.info.edges
        Count(total=4552, kept=3641)
    """

    info: TicketInfo
    keep: Tensor
    model: nn.Module
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ticket to one file, whole or not at all."""
        parameters = dict(self.model.named_parameters())
        state = self.model.state_dict()
        buffers = {name: value for name, value in state.items() if name not in parameters}
        write_ticket(path, self.info.to_dict(), self.keep, parameters, buffers)

    @staticmethod
    def load(path: str | os.PathLike[str], model: nn.Module | None = None) -> Ticket:
        """Read a ticket and verify its checksum.

        Args:
            path: The file.
            model: A module of the ticket's class; needed when it isn't one of ours. It is copied.
        """
        plain, keep, parameters, buffers = read_ticket(path)
        try:
            info = TicketInfo.from_dict(plain)
        except (InputError, TypeError) as error:
            raise InputError(f"{os.fspath(path)}: {error}") from None
        if model is not None:
            model = copy.deepcopy(model)
        elif "name" in info.model:
            spec = info.model
            model = build_model(
                spec["name"], spec["in_channels"], spec["out_channels"], **spec["options"]
            )
        else:
            raise InputError(
                f"{os.fspath(path)}: its model is a {info.model['class']}, "
                "expected one like it: Ticket.load(path, model=...)"
            )
        try:
            model.load_state_dict({**parameters, **buffers})
        except RuntimeError as error:
            reason = "; ".join(line.strip() for line in str(error).splitlines()[1:])
            raise InputError(f"{os.fspath(path)}: the weights don't fit ({reason})") from None
        return Ticket(info, keep, model)

    def apply(self, data: Data) -> Data:
        """Return the graph with the kept edges only, and what belongs to them.

        Raises:
            InputError: if this isn't the graph that the ticket was found on.
        """
        graph, pair_of_column = SimpleGraph.of(data.edge_index, data.num_nodes)
        expected = self.info.graph
        if graph_fingerprint(graph) != expected["fingerprint"]:
            raise InputError(
                f"the ticket belongs to {self.info.dataset} with {expected['nodes']} nodes and "
                f"{expected['edges']} edges, got another graph with {graph.num_nodes} nodes and "
                f"{graph.num_edges} edges"
            )
        if data.x is None or data.x.size(-1) != expected["features"]:
            got = "none" if data.x is None else data.x.size(-1)
            raise InputError(f"the ticket expects {expected['features']} features, got {got}")
        keep = self.keep.to(data.edge_index.device)
        return data.edge_subgraph(keep_columns(keep, pair_of_column))

    @torch.no_grad()
    def logits(self, data: Data) -> Tensor:
        """Run the sparse network on the sparse graph: logits ``[N, C]``."""
        sparse = self.apply(data)
        model = self.model.to(data.edge_index.device)
        return forward_passes(model, sparse.x, sparse.edge_index).evaluation_logits()

    def predict(self, data: Data) -> Tensor:
        """Predict the class of every node, int64 ``[N]``; ``data`` is the whole graph."""
        return self.logits(data).argmax(dim=-1)

    def evaluate(self, data: Data) -> dict[str, float]:
        """Accuracy in percent on the training, validation and test nodes."""
        predicted = self.predict(data)
        masks = {"train": data.train_mask, "val": data.val_mask, "test": data.test_mask}
        return {name: accuracy(predicted, data.y, mask) for name, mask in masks.items()}

    def verify(self, data: Data, tolerance: float = 0.5) -> dict[str, float]:
        """Evaluate, and raise if the test accuracy isn't the recorded one.

        Args:
            data: The graph, with the split that the ticket was found on.
            tolerance: Allowed difference in points; another machine rounds otherwise.
        """
        here = self.evaluate(data)
        if abs(here["test"] - self.info.ticket.test) > tolerance:
            raise InputError(
                f"the ticket has a test accuracy of {here['test']:.2f} here, "
                f"expected the recorded {self.info.ticket.test:.2f}"
            )
        return here
