"""Compiled ticket: a network and its graph, prepared for inference."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from teddy.data.checks import check_features
from teddy.data.features import take_columns
from teddy.errors import InputError, warn
from teddy.kernels.jit import Blocks, reused
from teddy.kernels.layer import SparseWeight, choose_products
from teddy.kernels.sparse import SparseMatrix
from teddy.models import GNN
from teddy.models.base import as_features, take_features
from teddy.models.compact import NotSmallerError, compact, compact_module
from teddy.models.macs import count_macs
from teddy.store.atomic import StrPath
from teddy.tensors import dtype_text
from teddy.ticket.compiled_file import Parts, read_compiled, write_compiled
from teddy.training.adapters import ModuleAdapter


class CompiledTicket(nn.Module):
    """Network on its graph, prepared for fast passes; results are equal up to rounding.

    Graph and features are stored as the layers compute with them. Hidden units and features
    without effect are removed. Very sparse weights are multiplied as sparse matrices where that is
    faster on this graph. Large intermediate results reuse the same memory. Your own module runs
    on the pruned graph without its dead declared units, or, with a warning, unchanged.

    It has no gradients and no dropout, and remains on the device of its compilation.

    Args:
        model: Network, which is copied.
        x: Features, dense or sparse.
        edge_index: Messages; of a heterogeneous graph
            :class:`~teddy.graph.inputs.HeteroInputs`.
        of_edges: ``edge_weight``, ``edge_attr``, where the network takes them; ``graph_of_node``
            where it reads graphs out itself.
        shrink: Whether to remove dead units and to store weights as sparse matrices.
        head: Map from the network's outputs to the logits; None: the outputs are the logits.
        order: Index of each column of ``x`` in features that are passed later; None: the same
            order.

    Attributes:
        macs: Multiply-accumulates of each layer; None where they can't be counted.
        recorded: Digest of your own module's settings, as in the header of its ticket.

    Example:
        >>> from teddy.models import GCN
        >>> model, path = GCN(3, 2, hidden_channels=16), torch.tensor([[0, 1], [1, 0]])
        >>> compiled = CompiledTicket(model, torch.ones(2, 3), path)
        >>> compiled
        CompiledTicket(GCN, nodes=2, features=3, weights=80)
        >>> compiled().shape
        torch.Size([2, 2])
    """

    macs: list[int] | None

    @torch.no_grad()
    def __init__(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Any,
        of_edges: Mapping[str, Tensor] | None = None,
        shrink: bool = True,
        order: Tensor | None = None,
        head: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self._target: str | None = getattr(edge_index, "target", None)
        self.head = nn.Identity() if head is None else head
        self.recorded: dict[str, Any] = {}
        self._shape, self._order = x.shape, order
        self._integers = not x.is_floating_point()  # ids that a module looks up
        self._memory: Blocks = defaultdict(list)
        model = copy.deepcopy(model).to(x.device).eval().requires_grad_(False)
        self._graph: Any = edge_index
        self._of_edges = of_edges = of_edges or {}
        self._kept: Tensor | None = None
        if isinstance(model, GNN) and shrink:
            model, kept = compact(model)
            self._kept = kept if kept.numel() < x.size(1) else None
        self.model = model
        if isinstance(model, GNN):
            self._x, structure = model.prepare(self._features(x), edge_index, **of_edges)
            self._graph = model.freeze(structure)
            self.macs = model.layer_macs(self._x, self._graph)
            if shrink:
                choose_products(model, self)
        else:
            self.model = self._smaller(model, x) if shrink else model
            self._x = self._passes(self.model, x, edge_index)
            self.macs = count_macs(self.model, self._x.x, edge_index, **self._x.values)

    @torch.no_grad()
    def forward(self, x: Tensor | Mapping[str, Tensor] | None = None) -> Tensor:
        """Compute the logits ``[N, C]``; of links ``[P, 1]``, of graphs ``[G, C]``.

        Args:
            x: Other features of the same nodes; None: the compiled ones. For a heterogeneous
                graph, features of the target nodes, or a dict of features by node type; missing
                types keep theirs.
        """
        inputs = self._x if x is None else self._prepare(x)
        with reused(self._memory):
            if isinstance(self.model, GNN):
                outputs = self.model.head(self.model.stem(inputs, self._graph), self._graph)
            else:
                outputs = inputs.evaluation_outputs()
            logits: Tensor = self.head(outputs)
            return logits

    def _passes(self, network: nn.Module, x: Tensor, graph: Any) -> ModuleAdapter:
        """Return the adapter of your own module."""
        return ModuleAdapter(network, x, graph, self._of_edges)

    def _smaller(self, model: nn.Module, x: Tensor) -> nn.Module:
        """Return your own module without its dead units, or unchanged with a warning."""

        def run(network: nn.Module) -> Tensor:
            return self._passes(network, x, self._graph).evaluation_outputs()

        try:
            return compact_module(model, run)
        except NotSmallerError as error:
            warn(f"dead units are not removed: {error}")
            return model

    def save(self, path: StrPath) -> None:
        """Write the network, the pruned graph and the features to one file, without pickle.

        Example:
            >>> import tempfile, pathlib
            >>> from teddy.models import GCN
            >>> compiled = CompiledTicket(GCN(3, 2), torch.ones(2, 3), torch.tensor([[0], [1]]))
            >>> path = pathlib.Path(tempfile.mkdtemp()) / "fast.compiled"
            >>> compiled.save(path)
            >>> torch.equal(CompiledTicket.load(path)(), compiled())
            True
        """
        x = self._x.x if isinstance(self._x, ModuleAdapter) else self._x
        of_edges = self._x.values if isinstance(self._x, ModuleAdapter) else {}
        write_compiled(path, Parts(
            self.model, self._shape, x, self._graph, of_edges, self._kept, self._order, self.head,
            self._target, self.macs, self.recorded,
        ))  # fmt: skip

    @staticmethod
    def load(
        path: StrPath,
        model: nn.Module | Callable[[], nn.Module] | None = None,
        device: str | torch.device = "cpu",
    ) -> CompiledTicket:
        """Read a compiled ticket and verify its checksum; ticket and graph are not needed.

        Args:
            path: File that :meth:`save` wrote.
            model: Your own module, which is copied, or a function that makes one. Not needed for
                built-in models.
            device: Device of the passes.
        """
        parts = read_compiled(path, model, device)
        compiled = CompiledTicket.__new__(CompiledTicket)
        nn.Module.__init__(compiled)
        compiled.head, compiled._target = parts.head, parts.target
        compiled._shape, compiled._order, compiled._kept = parts.shape, parts.order, parts.kept
        compiled._integers = isinstance(parts.x, Tensor) and not parts.x.is_floating_point()
        compiled._memory = defaultdict(list)
        compiled.model, compiled.macs = parts.model, parts.macs
        compiled.recorded = parts.recorded
        compiled._graph, compiled._of_edges = parts.graph, parts.of_edges
        if parts.target is not None:  # older files have it beside the graph alone
            compiled._graph = replace(parts.graph, target=parts.target)
        compiled._x = parts.x
        if not isinstance(parts.model, GNN):
            compiled._x = compiled._passes(parts.model, parts.x, compiled._graph)
        return compiled.eval()

    @property
    def num_weights(self) -> int:
        """Number of stored weights: all of a dense matrix, the entries of a sparse one."""
        sparse = 0
        for name in getattr(self.model, "PRODUCTS", ()):
            sparse += sum(w.nnz for w in getattr(self.model, name) if isinstance(w, SparseWeight))
        return sparse + sum(parameter.numel() for parameter in self.parameters())

    def _prepare(self, x: Tensor | Mapping[str, Tensor]) -> Any:
        if isinstance(x, Mapping):
            return self._prepare_types(x)
        x = self._checked(x)
        if isinstance(self.model, GNN):
            return self.model.prepare(self._features(x), self._graph)[0]
        return self._passes(self.model, x, self._graph)

    def _prepare_types(self, features: Mapping[str, Tensor]) -> ModuleAdapter:
        """Return the adapter with other features of some node types."""
        if self._target is None:
            raise InputError("features are a dict, expected a tensor [N, F], as compiled")
        others = dict(self._graph.x_dict)
        for name, value in features.items():
            if name not in (self._target, *others):
                known = ", ".join(sorted({self._target, *others}))
                raise InputError(f"features are of node type '{name}', expected one of: {known}")
            if name != self._target:
                others[name] = self._as_compiled(value, others[name].shape, others[name].dtype)
        target = features.get(self._target)
        x = self._x.x if target is None else self._checked(target)
        return self._passes(self.model, x, replace(self._graph, x_dict=others))

    def _checked(self, x: Tensor) -> Tensor:
        """Return checked features of the compiled nodes, with columns in the network's order."""
        x = self._as_compiled(x, self._shape, torch.long if self._integers else torch.float)
        return x if self._order is None else take_columns(x, self._order)

    def _as_compiled(self, x: Tensor, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return features if shape, device and kind of dtype are the compiled ones, or raise."""
        integers = not dtype.is_floating_point
        x = check_features(x, integers=integers)
        if integers and x.is_floating_point():
            raise InputError(f"features are {dtype_text(x)}, expected integers, as compiled")
        if x.shape != shape or x.device != self.device:
            raise InputError(
                f"features are {list(x.shape)} on {x.device}, "
                f"expected {list(shape)} on {self.device}, as compiled"
            )
        return x

    def _features(self, x: Tensor) -> Tensor | SparseMatrix:
        """Return the features that the network still uses, sparse if all of them are."""
        features = as_features(x)
        if self._kept is None:
            return features
        return take_features(features, self._kept)

    @property
    def device(self) -> torch.device:
        """Device of the passes."""
        x = self._x.x if isinstance(self._x, ModuleAdapter) else self._x
        device: torch.device = x.values.device if isinstance(x, SparseMatrix) else x.device
        return device

    def train(self, mode: bool = True) -> CompiledTicket:
        """Raise unless ``mode`` is False: a compiled ticket is for evaluation only."""
        if mode:
            raise InputError("a compiled ticket cannot be trained, expected train(False)")
        return super().train(mode)

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> CompiledTicket:
        raise InputError(
            "a compiled ticket cannot be moved or converted, expected one compiled on the device: "
            "ticket.compile(data.to(device))"
        )

    def __repr__(self) -> str:
        nodes, *width = self._shape
        features = (width or [1])[0] if self._kept is None else len(self._kept)
        name = type(self.model).__name__
        return f"CompiledTicket({name}, {nodes=}, {features=}, weights={self.num_weights})"
