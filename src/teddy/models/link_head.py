"""The link head: from outputs of nodes to logits of links."""

from __future__ import annotations

from torch import Tensor, nn


class LinkHead(nn.Module):
    r"""The inner product of both ends' outputs, :math:`z_u^\top z_v` (`Kipf and Welling 2016
    <https://arxiv.org/abs/1611.07308>`_), as the logit of a link.

    Args:
        pairs: The links' ends, int64 ``[2, P]``.

    Example:
        >>> import torch
        >>> outputs = torch.tensor([[1.0, 2.0], [3.0, 0.0], [0.0, -1.0]])
        >>> LinkHead(torch.tensor([[0, 0], [1, 2]]))(outputs)
        tensor([[ 3.],
                [-2.]])
    """

    pairs: Tensor

    def __init__(self, pairs: Tensor) -> None:
        super().__init__()
        self.register_buffer("pairs", pairs, persistent=False)

    def forward(self, outputs: Tensor) -> Tensor:
        """Logits ``[P, 1]`` of outputs ``[N, D]``."""
        # index_select, not [pairs]: its gradient is summed in one order, whatever the threads.
        source, target = (outputs.index_select(0, end) for end in self.pairs)
        return (source * target).sum(dim=1, keepdim=True)
