"""A graph lottery ticket (Definition 1)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from teddy.errors import InputError
from teddy.serving import Server
from teddy.serving.checks import Nodes
from teddy.store.atomic import StrPath
from teddy.tasks.graph_split import GraphsLike
from teddy.ticket.apply import apply_ticket
from teddy.ticket.compiled import CompiledTicket
from teddy.ticket.description import describe, one_line
from teddy.ticket.export import export_ticket
from teddy.ticket.file import Content, read_ticket, write_ticket
from teddy.ticket.hub import download, push
from teddy.ticket.operations import check_operation
from teddy.ticket.state import STRUCTURE, buffers_of, network_from, parameters_of
from teddy.ticket.transfer import transfer
from teddy.ticket.view import TicketEdges

#: A graph; for graph classification one, a list of them or a ``Batch``.
DataLike: TypeAlias = GraphsLike | HeteroData


@dataclass(eq=False)
class Ticket(TicketEdges):
    """Graph lottery ticket: a sparse subgraph and a sparse network that belong together.

    :func:`teddy.find_ticket` returns one. ``print(ticket)`` shows its accuracy and what it saves.

    Attributes:
        info: Metadata.
        keep: Mask of the kept edges, bool ``[M]``, in canonical order of undirected edges.
        model: Network with the sparse weights.
        seconds: Seconds of the trainings (``dense``, ``sparse``); not stored in the file.

    Example:
        >>> import teddy, tempfile, pathlib
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", 0.2, epochs=2, hidden_channels=8)
        >>> ticket.save(path := pathlib.Path(tempfile.mkdtemp()) / "citeseer-gcn.ticket")
        >>> again = teddy.Ticket.load(path)
        >>> bool((again.predict(data) == ticket.predict(data)).all())
        True
        >>> again.info.edges
        Count(total=4552, kept=3641)
    """

    model: nn.Module
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    def save(self, path: StrPath) -> None:
        """Write the ticket to one file, atomically."""
        parameters = parameters_of(self.model)
        write_ticket(path, Content(self.info, self.keep, parameters, buffers_of(self.model)))

    @staticmethod
    def load(path: StrPath, model: nn.Module | Callable[[], nn.Module] | None = None) -> Ticket:
        """Read a ticket and verify its checksum.

        Args:
            path: File, or ``hub:owner/name`` on the Hugging Face Hub.
            model: Module of the ticket's class, which is copied, or a function that makes one.
                Required for a ticket of your own module. The class may be in another file now.
        """
        content = read_ticket(path)
        return Ticket(content.info, content.keep, network_from(path, content, model))

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool = False,
        revision: str | None = None,
        token: str | None = None,
    ) -> str:
        """Upload the ticket and its card to the Hugging Face Hub (extra ``hub``).

        Args:
            repo_id: ``owner/name``; a missing repository or branch is created.
            private: Whether only its owner may see it.
            revision: Branch.
            token: Token of the Hub; by default that of ``hf auth login``.

        Returns:
            Address of the commit.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "a.ticket"
            self.save(file)
            return push(file, self.info, repo_id, private, revision, token)

    @staticmethod
    def from_hub(
        repo_id: str,
        *,
        revision: str | None = None,
        token: str | None = None,
        model: nn.Module | Callable[[], nn.Module] | None = None,
    ) -> Ticket:
        """Read a ticket from the Hugging Face Hub, or from its cache; see :meth:`load`.

        Args:
            repo_id: ``owner/name``.
            revision: Branch, tag or commit.
            token: Token of the Hub; by default that of ``hf auth login``.
            model: See :meth:`load`.
        """
        return Ticket.load(download(repo_id, revision, token), model)

    def apply(self, data: DataLike) -> Data | HeteroData:
        """Return the pruned graph, as the ticket's network takes it; of several graphs a ``Batch``.

        See :func:`teddy.ticket.apply.apply_ticket`.

        Args:
            data: Graph or graphs that the ticket was found on.

        Raises:
            InputError: if it is another graph.

        Example:
            >>> import teddy
            >>> data = teddy.load_dataset("citeseer")
            >>> ticket = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
            >>> sparse = ticket.apply(data)
            >>> outputs = ticket.model(sparse.x, sparse.edge_index)
            >>> bool(torch.allclose(outputs, ticket.logits(data), atol=1e-5))
            True
        """
        return apply_ticket(self, data)

    def edge_index(self, data: GraphsLike) -> Tensor:
        """Return the kept messages of data, int64 ``[2, E]``, sorted, each once.

        Listed self-loops are included for your own module. Nodes of several graphs are numbered as
        in their ``Batch``.
        """
        self.kind.check_one_edge_index()
        _, edges, keep = self.chosen(data, inputs=False)
        edge_index: Tensor = edges.fields(keep)["edge_index"]
        return edge_index

    def fields(self, data: GraphsLike) -> dict[str, Any]:
        """Return ``edge_index`` and other inputs of the model, such as ``edge_weight``, by name."""
        self.kind.check_one_edge_index()
        _, edges, keep = self.chosen(data)
        return edges.fields(keep)

    @torch.no_grad()
    def logits(self, data: DataLike) -> Tensor:
        """Run the sparse network on the sparse graph.

        Args:
            data: Graph or graphs that the ticket was found on.

        Returns:
            Logits ``[N, C]`` of nodes, ``[G, C]`` of graphs, or ``[P, 1]`` of the links in
            ``data.edge_label_index``.
        """
        return self.view(data).logits(self.model)

    def compile(self, data: DataLike) -> CompiledTicket:
        """Prepare for fast inference on a graph: ``compiled()`` returns the logits ``[N, C]``.

        Dead parts of the network are removed, and the pruned graph is prepared once.
        ``compiled(x)`` takes other features of the same nodes, with the columns of ``data.x``.

        Args:
            data: Graph or graphs that the ticket was found on.

        Example:
            >>> import teddy
            >>> data = teddy.load_dataset("citeseer")
            >>> ticket = teddy.find_ticket(
            ...     data, "gcn", epochs=2, hidden_channels=128, structure="neurons")
            >>> compiled = ticket.compile(data)
            >>> bool(torch.allclose(compiled(), ticket.logits(data), atol=1e-5))
            True
        """
        compiled = self.view(data).compile(self.model)
        compiled.recorded = {n: v for n, v in self.info.model.items() if n in STRUCTURE}
        return compiled

    def server(self, data: DataLike, **options: Any) -> Server:
        """Prepare for exact predictions of a few nodes at a time, and for changes of the graph.

        Args:
            data: Graph, whole or pruned by :meth:`apply`.
            options: ``hops``, ``shrink`` and ``store_products`` of
                :class:`teddy.serving.Server`.

        Raises:
            InputError: if the task does not predict nodes, or the network needs the whole graph.

        Example:
            >>> import teddy
            >>> data = teddy.load_dataset("citeseer")
            >>> ticket = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
            >>> server = ticket.server(data)
            >>> bool((server.predict([3, 17]) == ticket.predict(data)[[3, 17]]).all())
            True
        """
        check_operation("serve", self.info)
        return self.view(data).server(self.model, self.task, **options)

    def predict(self, data: DataLike, nodes: Nodes | None = None) -> Tensor:
        """Predict the targets of every node, link or graph, or of some nodes.

        An inductive ticket takes other graphs, too, and prunes and normalises them by their
        degrees. A part of a graph, such as a loader's batch, has other degrees and therefore other
        predictions: a warning is issued if ``data`` have ``n_id`` or few nodes.

        Args:
            data: Whole graph, or the result of :meth:`apply`.
            nodes: Numbers of nodes ``[B]``, whose neighbourhoods only are computed. Use
                :meth:`server` for many such predictions.

        Returns:
            Classes, int64 ``[N]``; 0 or 1 for each of several labels, int64 ``[N, C]``; numbers
            in the scale and shape of the training targets; 0 or 1 for each link in
            ``data.edge_label_index``; or a class of each graph, int64 ``[G]``.
        """
        if nodes is not None:
            return self.server(data).predict(nodes)
        return self.task.predict(self.logits(data))

    def predict_proba(self, data: DataLike) -> Tensor:
        """Return probabilities of classes or labels ``[N, C]``, or of links ``[P]``.

        Raises:
            InputError: if the task is regression.

        Example:
            >>> import teddy
            >>> data = teddy.load_dataset("citeseer")
            >>> ticket = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
            >>> ticket.predict_proba(data).shape
            torch.Size([3327, 6])
        """
        return self.task.predict_proba(self.logits(data))

    __call__ = logits

    def to(self, device: str | torch.device) -> Ticket:
        """Move the network and the edge mask to a device, and return the ticket."""
        self.model, self.keep = self.model.to(device), self.keep.to(device)
        return self

    def evaluate(self, data: DataLike) -> dict[str, float]:
        """Return the task's metric, such as accuracy, in percent on each part of the split.

        ``data`` have targets and masks.
        """
        task, rows = self.task, self.kind.labelled(data)
        logits, y = self.logits(data), task.encode(rows.y)
        masks = {"train": rows.train_mask, "val": rows.val_mask, "test": rows.test_mask}
        return {name: task.score(logits[mask], y[mask]) for name, mask in masks.items()}

    def verify(self, data: DataLike, tolerance: float = 0.5) -> dict[str, float]:
        """Evaluate, and raise if the test metric differs by more points from the recorded one."""
        scores = self.evaluate(data)
        if abs(scores["test"] - self.info.ticket.test) > tolerance:
            raise InputError(
                f"the ticket has a test {self.task.metric} of {scores['test']:.2f} here, "
                f"expected the recorded {self.info.ticket.test:.2f}"
            )
        return scores

    def transfer(
        self, data: Data, inference: str = "scored", original: Data | None = None
    ) -> Ticket:
        """Return the ticket for a changed graph; see :func:`teddy.ticket.transfer.transfer`."""
        return transfer(self, data, inference, original)

    def export(self, path: StrPath, data: DataLike | None = None) -> None:
        """Export the network or the kept edges for other programs; see :mod:`teddy.ticket.export`.

        Args:
            path: ``.onnx`` or ``.pt2`` (``torch.export``) for the network,
                ``logits(x, edge_index)``; ``.parquet`` for the kept edges.
            data: Graph or graphs, for ``.parquet``.
        """
        export_ticket(self, path, data)

    def __repr__(self) -> str:
        return one_line(self.info)

    def __str__(self) -> str:
        return describe(self.info)
