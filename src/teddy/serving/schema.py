"""Requests and answers of the HTTP service, and their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

_INDEX = Field(ge=0, le=2**63 - 1)
Number = Annotated[float, Field(allow_inf_nan=False)]
NodeId = Annotated[StrictInt, _INDEX] | StrictStr


@dataclass(frozen=True)
class Limits:
    """Largest requests that are answered.

    Attributes:
        nodes: Nodes of a request.
        body: Bytes of its body.
    """

    nodes: int = 10_000
    body: int = 16 << 20


@dataclass(frozen=True)
class Described:
    """Description of a service's ticket.

    Attributes:
        metadata: Name and numbers, as JSON.
        classes: Names of the classes, where they have any.
        node_ids: Ids of the nodes, where they have any, in the order of their numbers.
    """

    metadata: Mapping[str, Any]
    classes: Sequence[str] | None = None
    node_ids: Sequence[str] | None = None


class Query(BaseModel):
    """Nodes of the graph."""

    model_config = ConfigDict(extra="forbid")
    nodes: list[NodeId] = Field(
        description="Ids of nodes, or their numbers unless ids are numbers.", examples=[[0, 7]]
    )
    probabilities: bool = Field(False, description="Whether to return probabilities, too.")


class NewNode(BaseModel):
    """A node that is not in the graph."""

    model_config = ConfigDict(extra="forbid")
    x: list[Number] = Field(description="Its features.")
    neighbours: list[NodeId] = Field([], description="Nodes of the graph that it is joined to.")
    weights: list[Number] | None = Field(None, description="Weights of these edges.")


class NewQuery(BaseModel):
    """Nodes that are not in the graph, which stays as it is."""

    model_config = ConfigDict(extra="forbid")
    nodes: list[NewNode]
    probabilities: bool = Field(False, description="Whether to return probabilities, too.")


class Answer(BaseModel):
    """Predictions in the order of the request."""

    predictions: list[Any]
    probabilities: list[Any] | None = None


class Problem(BaseModel):
    """A request that cannot be answered: one sentence."""

    detail: str
