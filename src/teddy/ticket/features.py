"""Features and other values of a graph, as a ticket's network takes them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import check_features
from teddy.data.features import column_order, feature_names, num_features, take_columns
from teddy.errors import InputError
from teddy.graph.inputs import ExtraInputs
from teddy.tasks.row_splits import require_fields
from teddy.tensors import dtype_text, shape_text
from teddy.ticket.info import TicketInfo


def features_for(info: TicketInfo, data: Data) -> Tensor:
    """Return the features of data, with columns in the order of the ticket's training.

    Raises:
        InputError: if a node has no row, or the columns differ.
    """
    dimensions = info.graph.get("integer_x")
    x = check_features(data.x, integers=dimensions is not None)
    if dimensions is not None and (x.is_floating_point() or x.dim() != dimensions):
        expected = "[N]" if dimensions == 1 else "[N, F]"
        raise InputError(
            f"x is {dtype_text(x)} of shape {shape_text(x)}, expected integers of shape "
            f"{expected}, as the ticket was found with"
        )
    if x.size(0) != data.num_nodes:
        raise InputError(f"x has {x.size(0)} rows, expected {data.num_nodes} (num_nodes)")
    order = order_for(info, data)
    features = num_features(x)
    if features != info.graph["features"]:
        raise InputError(f"the ticket expects {info.graph['features']} features, got {features}")
    return x if order is None else take_columns(x, order)


def feature_metadata(x: Tensor) -> dict[str, int]:
    """Return the header entries of features: their number, and the dimensions of integers.

    Example:
        >>> feature_metadata(torch.eye(3)), feature_metadata(torch.arange(3))
        ({'features': 3}, {'features': 1, 'integer_x': 1})
    """
    counts = {"features": num_features(x)}
    return counts if x.is_floating_point() else {**counts, "integer_x": x.dim()}


def order_for(info: TicketInfo, data: Data) -> Tensor | None:
    """Return the index of each expected column, by name; None: in the same order.

    Without names, the ticket's or the data's, columns are taken in order.
    """
    names = feature_names(data)
    if names is None or info.features is None:
        return None
    order = column_order(names, info.features)
    return None if order is None else torch.tensor(order, device=data.x.device)


def extra_inputs_for(info: TicketInfo, data: Data) -> ExtraInputs:
    """Return the values of nodes and of the whole graph that a ticket's network takes, or raise."""
    of_nodes, whole = info.graph.get("node_inputs", []), info.graph.get("graph_inputs", [])
    require_fields(data, [*of_nodes, *whole])
    return ExtraInputs.from_data(data, of_nodes, whole) if of_nodes or whole else ExtraInputs()


def input_names(info: TicketInfo) -> list[str]:
    """Return the names of the network's inputs other than features and edges."""
    graph, names = info.graph, list[str]()
    names += graph.get("edge_inputs", [])
    names += graph.get("node_inputs", [])
    return names + graph.get("graph_inputs", [])
