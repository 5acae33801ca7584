"""A model with a learned mask on each edge and each weight, as UGS trains it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call

from teddy.errors import InputError
from teddy.models.base import GNN
from teddy.models.edge_inputs import takes

# Masks start within this of 1, at random, so that none are equal.
NOISE = 1e-5


class Masked(nn.Module):
    r"""A model :math:`f(m_g \odot A, m_\theta \odot \Theta)` whose masks are learned with it.

    Masks start at 1; those of weights that are gone already at 0, where no gradient reaches them.
    Edges that are gone already aren't in the graph at all.

    Args:
        model: The model; its weights are trained along.
        num_edges: Undirected edges to learn a mask for; None: edges have no mask.
        weight_masks: Which weights are still there, in the order of the trainable parameters;
            None: weights have no mask.

    Example:
        >>> masked = Masked(nn.Linear(2, 1, bias=False), None, [torch.tensor([[True, False]])])
        >>> (masked.weights()["weight"] == 0).tolist()
        [[False, True]]
    """

    def __init__(
        self, model: nn.Module, num_edges: int | None, weight_masks: Sequence[Tensor] | None
    ) -> None:
        super().__init__()
        self.model = model
        self._part = [_Part(model)]  # in a list, so that the weights aren't listed twice
        trainable = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
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

    def masks(self) -> list[nn.Parameter]:
        """All masks that are learned."""
        edges = [] if self.edge_mask is None else [self.edge_mask]
        return [*edges, *self.weight_masks]

    def weights(self) -> dict[str, Tensor]:
        """The masked weights, by name."""
        own = dict(self.model.named_parameters())
        return {n: own[n] * m for n, m in zip(self.names, self.weight_masks, strict=True)}

    def edge_weights(self, mask_of_entry: Tensor) -> Tensor:
        """The masks as weights of entries; one past the last mask stands for a weight of 1."""
        assert self.edge_mask is not None
        masks = torch.cat([self.edge_mask, self.edge_mask.new_ones(1)])
        return masks.index_select(0, mask_of_entry)

    def call(
        self, part: str, weights: dict[str, Tensor], *inputs: object, **named: object
    ) -> Tensor:
        """Call a method of the model with these weights in place of its own."""
        own = {f"model.{name}": weight for name, weight in weights.items()}
        result: Tensor = functional_call(self._part[0], own, (part, *inputs), named)
        return result

    def penalty(self, edges: float, weights: float) -> Tensor:
        r""":math:`\gamma_1 \|m_g\|_1 + \gamma_2 \|m_\theta\|_1`."""
        total: Tensor = sum(
            (weights * mask.abs().sum() for mask in self.weight_masks), torch.zeros(())
        )
        return total if self.edge_mask is None else total + edges * self.edge_mask.abs().sum()


class _Part(nn.Module):
    """Any method of a model as the forward of a module, which is what torch can substitute in."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, part: str, *inputs: object, **named: object) -> object:
        return getattr(self.model, part)(*inputs, **named)


def check_takes_edge_weights(model: nn.Module) -> None:
    """Raise unless edges can have a weight in a model: one of ours, or by ``edge_weight``.

    Example:
        >>> check_takes_edge_weights(nn.Linear(1, 1))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Linear can't weigh edges, expected forward(x, edge_index, ...
    """
    if takes(model, "edge_weight"):
        return
    if isinstance(model, GNN):
        raise InputError(
            f"a {type(model).__name__} takes edges before it computes, expected a model of layers "
            "(gcn, gat, gin, sage, unimp) to learn edge masks"
        )
    raise InputError(
        f"a {type(model).__name__} can't weigh edges, "
        "expected forward(x, edge_index, edge_weight) to learn edge masks"
    )


def _near_one(stays: Tensor) -> Tensor:
    return stays * (1 + NOISE * (2 * torch.rand_like(stays) - 1))
