"""Features as a ticket's network takes them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import check_features
from teddy.data.feature_names import column_order, feature_names
from teddy.data.features import take_columns
from teddy.errors import InputError
from teddy.ticket.info import TicketInfo


def features_for(info: TicketInfo, data: Data) -> Tensor:
    """The features of some data, in the order in which the ticket's network has learned them.

    Raises:
        InputError: if there isn't a row for each node, or the columns are others.
    """
    x = check_features(data.x)
    if x.size(0) != data.num_nodes:
        raise InputError(f"x has {x.size(0)} rows, expected {data.num_nodes} (num_nodes)")
    order = order_for(info, data)
    if x.size(1) != info.graph["features"]:
        raise InputError(f"the ticket expects {info.graph['features']} features, got {x.size(1)}")
    return x if order is None else take_columns(x, order)


def order_for(info: TicketInfo, data: Data) -> Tensor | None:
    """Where the columns that the network expects are, by name; None: in their places.

    Columns without names, the ticket's or the data's, are taken as they come.
    """
    names = feature_names(data)
    if names is None or info.features is None:
        return None
    order = column_order(names, info.features)
    return None if order is None else torch.tensor(order, device=data.x.device)
