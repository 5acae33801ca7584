"""A network of nodes, and what makes predictions about links or graphs of what it says of them."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from teddy.errors import InputError


class Headed(nn.Module):
    r"""An encoder :math:`f` of nodes and a head :math:`h` without weights: :math:`h(f(X, A))`.

    All that is learned and pruned is the encoder's; the head says what its outputs mean for
    whatever is predicted: pairs of nodes, or whole graphs.

    Args:
        encoder: ``forward(x, edge_index)``, from features to outputs ``[N, D]``.
        head: From these to logits, a row for each thing that is predicted; of graphs, it is also
            told which graph each node is of. Its tensors are buffers that aren't kept
            (``persistent=False``): they are of the data, not of the network.

    Example:
        >>> import torch
        >>> from teddy.models import GCN
        >>> class Total(nn.Module):
        ...     def forward(self, outputs): return outputs.sum(dim=0, keepdim=True)
        >>> model = Headed(GCN(3, 2, hidden=4), Total())
        >>> model(torch.ones(5, 3), torch.tensor([[0], [1]])).shape
        torch.Size([1, 2])
    """

    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        kept = sorted(head.state_dict())
        if kept:
            raise InputError(f"the head keeps '{kept[0]}', expected one without weights")
        self.encoder, self.head = encoder, head

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        graph_of_node: Tensor | None = None,
        **of_edges: Any,
    ) -> Tensor:
        """Logits, a row for each thing that is predicted."""
        return self.predict(self.encoder(x, edge_index, **of_edges), graph_of_node)

    def predict(self, outputs: Tensor, graph_of_node: Tensor | None = None) -> Tensor:
        """The head, on outputs of nodes."""
        known = () if graph_of_node is None else (graph_of_node,)
        logits: Tensor = self.head(outputs, *known)
        return logits

    def around(self, encoder: nn.Module) -> Headed:
        """The same head on another encoder, such as this one under masks."""
        return Headed(encoder, self.head)


def encoder_of(model: nn.Module) -> nn.Module:
    """The network of nodes in a model, which is the model itself where nodes are predicted.

    Example:
        >>> encoder_of(Headed(nn.Linear(1, 2), nn.Identity()))
        Linear(in_features=1, out_features=2, bias=True)
    """
    encoder: Any = model.encoder if isinstance(model, Headed) else model
    assert isinstance(encoder, nn.Module)
    return encoder
