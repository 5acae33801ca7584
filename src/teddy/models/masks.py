"""Learned masks of edges and weights, as UGS trains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from teddy.errors import InputError
from teddy.kernels.pattern import Pattern
from teddy.models.base import GNN
from teddy.models.edge_inputs import takes

# Masks start within this of 1, at random, so that none are equal.
NOISE = 1e-5


class Masks(nn.Module):
    r"""Masks of :math:`f(m_g \odot A, m_\theta \odot \Theta)`, learned with the weights.

    Masks start at 1, those of removed weights at 0 without a gradient. Removed edges are not in
    the graph.

    Args:
        network: The network; its removed weights are set to 0.
        num_edges: Number of undirected edges with a mask; None: no edge masks.
        weight_masks: Masks of the kept weights, in the order of the trainable parameters; None: no
            weight masks.

    Example:
        >>> network = nn.Linear(2, 1, bias=False)
        >>> masks = Masks(network, None, [torch.tensor([[True, False]])])
        >>> (masks.weights(network)["weight"] == 0).tolist()
        [[False, True]]
    """

    def __init__(
        self, network: nn.Module, num_edges: int | None, weight_masks: Sequence[Tensor] | None
    ) -> None:
        super().__init__()
        trainable = [(n, p) for n, p in network.named_parameters() if p.requires_grad]
        self.edge_mask: nn.Parameter | None = None
        if num_edges is not None:
            like = trainable[0][1].detach() if trainable else torch.empty(0)
            self.edge_mask = nn.Parameter(_near_one(like.new_ones(num_edges)))
        self.names: list[str] = []
        self.weight_masks = nn.ParameterList()
        if weight_masks is not None:
            for (name, weight), stays in zip(trainable, weight_masks, strict=True):
                self.names.append(name)
                self.weight_masks.append(nn.Parameter(_near_one(stays.to(weight))))
                with torch.no_grad():
                    weight.mul_(stays)

    def weights(self, network: nn.Module) -> dict[str, Tensor]:
        """Return the masked weights of the network by name."""
        parameters = dict(network.named_parameters())
        return {n: parameters[n] * m for n, m in zip(self.names, self.weight_masks, strict=True)}

    def edge_weights(self, mask_of_message: Tensor) -> Tensor:
        """Return the masks as weights of messages; index one past the last mask: weight 1."""
        assert self.edge_mask is not None
        masks = torch.cat([self.edge_mask, self.edge_mask.new_ones(1)])
        return masks.index_select(0, mask_of_message)

    def mask_of_edge(self, edge: Tensor, mask_of_edge: Tensor | None = None) -> Tensor:
        """Return the index of the mask of each message, by its undirected edge.

        Args:
            edge: Undirected edge of each message; one past the last: a self-loop.
            mask_of_edge: Mask of each undirected edge; one past the last: no mask. None: one mask
                for each edge.
        """
        if mask_of_edge is None:
            return edge
        assert self.edge_mask is not None
        return F.pad(mask_of_edge, (0, 1), value=self.edge_mask.numel()).index_select(0, edge)

    def mask_of_entry(self, pattern: Pattern, mask_of_edge: Tensor | None = None) -> Tensor:
        """Return the index of the mask of each entry, with undirected edges in canonical order.

        The index of a self-loop is one past the last mask, for a weight of 1.

        Example:
            >>> masks = Masks(nn.Linear(1, 1), 2, None)
            >>> source, target = torch.tensor([[0, 0, 1, 1, 2], [0, 1, 0, 2, 1]])
            >>> masks.mask_of_entry(Pattern.from_entries(source, target, (3, 3))).tolist()
            [2, 0, 0, 1, 1]
        """
        assert self.edge_mask is not None
        low, high = torch.minimum(pattern.row, pattern.col), torch.maximum(pattern.row, pattern.col)
        is_edge, mask = low != high, torch.full_like(low, self.edge_mask.numel())
        keys = (low * pattern.shape[1] + high)[is_edge]
        edge: Tensor = torch.unique(keys, return_inverse=True)[1]
        mask[is_edge] = edge if mask_of_edge is None else mask_of_edge[edge]
        return mask

    def penalty(self, edges: float, weights: float) -> Tensor:
        r""":math:`\gamma_1 \|m_g\|_1 + \gamma_2 \|m_\theta\|_1`."""
        sizes = (weights * mask.abs().sum() for mask in self.weight_masks)
        total: Tensor = sum(sizes, torch.zeros(()))
        return total if self.edge_mask is None else total + edges * self.edge_mask.abs().sum()


class _Part(nn.Module):
    """Module whose forward is any method of a network, so that torch can replace its weights."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, part: str, /, *inputs: object, **named: object) -> object:
        return getattr(self.network, part)(*inputs, **named)


def call_with(
    network: nn.Module,
    weights: Mapping[str, Tensor],
    part: str,
    /,
    *inputs: object,
    **named: object,
) -> Any:
    """Call a method of a network with other weights, given by name.

    The method is ``part``, ``__call__`` for the whole network; further arguments are its inputs.

    Example:
        >>> ones, network = torch.ones(1, 1), nn.Linear(1, 1, bias=False)
        >>> call_with(network, {"weight": ones}, "__call__", ones)
        tensor([[1.]])
    """
    named_weights = {f"network.{name}": weight for name, weight in weights.items()}
    return functional_call(_Part(network), named_weights, (part, *inputs), named)


def check_takes_edge_weights(model: nn.Module) -> None:
    """Raise unless a model takes edge weights, to learn edge masks.

    Example:
        >>> check_takes_edge_weights(nn.Linear(1, 1))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Linear does not take edge_weight, expected forward(x, ...
    """
    if takes(model, "edge_weight"):
        return
    if isinstance(model, GNN):
        raise InputError(
            f"a {type(model).__name__} does not support edge masks, expected a model of layers "
            "(gcn, gat, gin, sage, unimp) to learn edge masks"
        )
    raise InputError(
        f"a {type(model).__name__} does not take edge_weight, "
        "expected forward(x, edge_index, edge_weight) to learn edge masks"
    )


def _near_one(stays: Tensor) -> Tensor:
    return stays * (1 + NOISE * (2 * torch.rand_like(stays) - 1))
