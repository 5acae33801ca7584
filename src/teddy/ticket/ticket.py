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
from teddy.ticket.description import describe, model_name
from teddy.ticket.export import export_ticket
from teddy.ticket.file import Content, read_ticket, write_ticket
from teddy.ticket.hub import download, push
from teddy.ticket.operations import check_operation
from teddy.ticket.state import STRUCTURE, buffers_of, network_from, parameters_of
from teddy.ticket.transfer import transfer
from teddy.ticket.view import TicketEdges

#: A graph; or, of a ticket that classifies graphs, one, a list of them or a ``Batch``.
DataLike: TypeAlias = GraphsLike | HeteroData


@dataclass(eq=False)
class Ticket(TicketEdges):
    """A sparse subgraph and a sparse network that belong together.

    Attributes:
        info: Everything about it but its tensors.
        keep: bool ``[M]`` over the canonical order of the graph's undirected edges.
        model: The network, with the sparse weights.
        seconds: Time that finding it took (``dense``, ``sparse``); not stored in its file.

    Example:
        >>> import teddy, tempfile, pathlib
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", 0.2, epochs=2, hidden_channels=8)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "citeseer-gcn.ticket"
        >>> ticket.save(path)
        >>> again = teddy.Ticket.load(path)
        >>> bool((again.predict(data) == ticket.predict(data)).all())
        True
        >>> again.info.edges
        Count(total=4552, kept=3641)
    """

    model: nn.Module
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    def save(self, path: StrPath) -> None:
        """Write the ticket to one file, whole or not at all."""
        parameters = parameters_of(self.model)
        write_ticket(path, Content(self.info, self.keep, parameters, buffers_of(self.model)))

    @staticmethod
    def load(path: StrPath, model: nn.Module | Callable[[], nn.Module] | None = None) -> Ticket:
        """Read a ticket and verify its checksum.

        Args:
            path: The file; or ``hub:owner/name``, on the Hugging Face Hub.
            model: A module of the ticket's class, which is copied, or a function that makes one;
                needed when it isn't one of ours. The class may be defined in another file by now.
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
        """Put it on the Hugging Face Hub with a card (extra ``hub``); return the commit's address.

        Args:
            repo_id: ``owner/name``; it and the branch ``revision`` are made unless they are there.
            private: Whether only its owner may see it.
            revision: A branch.
            token: Token of the Hub; by default the one that is logged in.
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
            revision: A branch, tag or commit.
            token: Token of the Hub; by default the one that is logged in.
            model: See :meth:`load`.
        """
        return Ticket.load(download(repo_id, revision, token), model)

    def apply(self, data: DataLike) -> Data | HeteroData:
        """Return the graph that the ticket's network runs on; of several graphs a ``Batch``.

        See :func:`teddy.ticket.apply.apply_ticket`.

        Raises:
            InputError: if this isn't the graph that the ticket was found on.

        Example:
            >>> import teddy
            >>> data = teddy.load_dataset("citeseer")
            >>> ticket = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
            >>> sparse = ticket.apply(data)
            >>> outputs = ticket.model(sparse.x, sparse.edge_index)
            >>> bool(torch.allclose(outputs, ticket.logits(data), atol=1e-5))
            True
            >>> ticket.logits(sparse).equal(ticket.logits(data))
            True
        """
        return apply_ticket(self, data)

    def edge_index(self, data: GraphsLike) -> Tensor:
        """The kept messages of some data, int64 ``[2, E]``, sorted, each once.

        Self-loops that are listed are among them if the network is a module of your own; models of
        ours add theirs. Of several graphs, nodes are numbered as in their ``Batch``.
        """
        self.kind.check_one_edge_index()
        _, edges, keep = self.chosen(data, inputs=False)
        edge_index: Tensor = edges.fields(keep)["edge_index"]
        return edge_index

    def fields(self, data: GraphsLike) -> dict[str, Any]:
        """The same as ``edge_index``, with whatever else of the graph the ticket's model takes.

        Such as ``edge_weight`` and ``edge_attr`` of each column, as its forward names them.
        """
        self.kind.check_one_edge_index()
        _, edges, keep = self.chosen(data)
        return edges.fields(keep)

    @torch.no_grad()
    def logits(self, data: DataLike) -> Tensor:
        """Run the sparse network on the sparse graph: logits ``[N, C]``, of the target's nodes.

        Of graphs ``[G, C]``; of links ``[P, 1]``, those in ``data.edge_label_index``, whatever
        pairs they are.
        """
        return self.view(data).logits(self.model)

    def compile(self, data: DataLike) -> CompiledTicket:
        """Prepare for fast inference on a graph: ``compiled()`` gives the logits ``[N, C]``.

        Dead parts of the network are removed, and the pruned graph is prepared once.
        ``compiled(x)`` takes other features of the same nodes, in columns as ``data``'s.

        Example:
            >>> import teddy
            >>> data = teddy.load_dataset("citeseer")
            >>> ticket = teddy.find_ticket(
            ...     data, "gcn", epochs=2, hidden_channels=128, structure="neurons")
            >>> compiled = ticket.compile(data)
            >>> bool(torch.allclose(compiled(), ticket.logits(data), atol=1e-5))
            True
            >>> compiled.num_weights, ticket.info.weights
            (237376, Count(total=474752, kept=170614))
        """
        compiled = self.view(data).compile(self.model)
        compiled.recorded = {n: v for n, v in self.info.model.items() if n in STRUCTURE}
        return compiled

    def server(self, data: DataLike, **options: Any) -> Server:
        """Prepare for exact answers about a few nodes at a time, and for changes of the graph.

        Args:
            data: The graph, whole or pruned by :meth:`apply`.
            options: ``hops`` and ``shrink`` of :class:`teddy.serving.Server`.

        Raises:
            InputError: if the task does not predict nodes, or the network looks at the whole graph.

        Example:
            >>> import teddy
            >>> data = teddy.load_dataset("citeseer")
            >>> ticket = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
            >>> server = ticket.server(data)
            >>> bool((server.predict([3, 17]) == ticket.predict(data)[[3, 17]]).all())
            True
            >>> server.gathered([3, 17])
            Gathered(nodes=..., edges=...)
        """
        check_operation("serve", self.info)
        return self.view(data).server(self.model, self.task, **options)

    def predict(self, data: DataLike, nodes: Nodes | None = None) -> Tensor:
        """Predict what the task asks for, for every node, or for some.

        Args:
            data: The graph or graphs.
            nodes: Numbers of nodes ``[B]``; only their neighbourhoods are computed. Use
                :meth:`server` where many such answers are needed.

        ``data`` is the whole graph, or what :meth:`apply` returned for it. An inductive ticket
        takes other graphs, too, and prunes and normalises them by their degrees. A piece of a
        graph, such as a loader's batch, has other degrees, and so other predictions; a warning is
        logged if it has ``n_id`` or few nodes.

        A class, int64 ``[N]``; 0 or 1 of several labels, int64 ``[N, C]``; numbers in the scale of
        the training's ``y``, and of its shape; 0 or 1 of the links in ``data.edge_label_index``;
        a class of each graph, int64 ``[G]``.
        """
        if nodes is not None:
            return self.server(data).predict(nodes)
        return self.task.predict(self.logits(data))

    def predict_proba(self, data: DataLike) -> Tensor:
        """Probabilities: of classes ``[N, C]`` (softmax), labels ``[N, C]``, links ``[P]``.

        Raises:
            InputError: if the task is regression.

        Example:
            >>> import teddy
            >>> data = teddy.load_dataset("citeseer")
            >>> ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, epochs=2, hidden_channels=8)
            >>> ticket.predict_proba(data).shape
            torch.Size([3327, 6])
        """
        return self.task.predict_proba(self.logits(data))

    __call__ = logits

    def to(self, device: str | torch.device) -> Ticket:
        """Move the network and the kept edges, and return the ticket; it runs where data is."""
        self.model, self.keep = self.model.to(device), self.keep.to(device)
        return self

    def evaluate(self, data: DataLike) -> dict[str, float]:
        """The task's metric, such as accuracy, in percent on training, validation, test nodes."""
        task, rows = self.task, self.kind.labelled(data)
        logits, y = self.logits(data), task.encode(rows.y)
        masks = {"train": rows.train_mask, "val": rows.val_mask, "test": rows.test_mask}
        return {name: task.score(logits[mask], y[mask]) for name, mask in masks.items()}

    def verify(self, data: DataLike, tolerance: float = 0.5) -> dict[str, float]:
        """Evaluate, and raise if the test metric differs from the recorded one by more points."""
        here = self.evaluate(data)
        if abs(here["test"] - self.info.ticket.test) > tolerance:
            raise InputError(
                f"the ticket has a test {self.task.metric} of {here['test']:.2f} here, "
                f"expected the recorded {self.info.ticket.test:.2f}"
            )
        return here

    def transfer(
        self, data: Data, inference: str = "scored", original: Data | None = None
    ) -> Ticket:
        """The ticket for a changed graph; see :func:`teddy.ticket.transfer.transfer`."""
        return transfer(self, data, inference, original)

    def export(self, path: StrPath, data: DataLike | None = None) -> None:
        """Write it for other programs, by the ending of the file; whole or not at all.

        Args:
            path: ``.onnx`` or ``.pt2`` (``torch.export``): the network, ``logits(x, edge_index)``,
                with ``edge_weight`` where it was found with weights, and ``batch`` of graphs; of a
                ``HeteroData`` an input for each type and relation. ``.parquet``: the kept edges.
                See :mod:`teddy.ticket.export`.
            data: The graph or graphs, for ``.parquet``.
        """
        export_ticket(self, path, data)

    def __repr__(self) -> str:
        info = self.info
        return (
            f"Ticket({info.dataset}, {model_name(info)}, method={info.method}, seed={info.seed}, "
            f"edges={info.edges.kept}/{info.edges.total}, "
            f"weights={info.weights.kept}/{info.weights.total}, "
            f"test={info.ticket.test:.2f}, dense={info.dense.test:.2f})"
        )

    def __str__(self) -> str:
        return describe(self.info)
