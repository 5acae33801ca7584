"""An HTTP service over a server (extra ``serve``): predictions as JSON, health, metrics.

FastAPI checks requests and describes them (OpenAPI); uvicorn speaks HTTP.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    multiprocess,
)
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr
from torch import Tensor

from teddy.errors import InputError
from teddy.serving.server import Server

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_INDEX = Field(ge=0, le=2**63 - 1)
# Nodes of an answer that is computed at once, without a thread of its own.
_SMALL = 256
_PATHS = {
    "/", "/health", "/ready", "/metrics", "/predict", "/predict/new", "/openapi.json", "/docs",
}  # fmt: skip
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
    """What a service tells of its ticket.

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
    nodes: list[NodeId] = Field(description="Numbers of nodes, or their ids.", examples=[[0, 7]])
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


def create_app(server: Server, described: Described, limits: Limits | None = None) -> FastAPI:
    """Make the application.

    Args:
        server: Answers the requests.
        described: What it tells of its ticket.
        limits: Largest requests that are answered.
    """
    limits = limits or Limits()
    numbers = {str(name): number for number, name in enumerate(described.node_ids or ())}
    registry = CollectorRegistry()
    requests = Counter(
        "teddy_requests", "Requests by path and status.", ["path", "status"], registry=registry
    )
    seconds = Histogram(
        "teddy_request_seconds", "Seconds of a request.", ["path"], buckets=_SECONDS,
        registry=registry,
    )  # fmt: skip
    app = FastAPI(
        title="TEDDY", description="Predictions of a graph lottery ticket.", version="1",
        responses={413: {"model": Problem}, 422: {"model": Problem}},
    )  # fmt: skip

    def measured(path: str, status: int, duration: float) -> None:
        path = path if path in _PATHS else "other"  # clients do not choose the labels
        requests.labels(path, status).inc()
        seconds.labels(path).observe(duration)

    app.add_middleware(_Gate, limit=limits.body, measured=measured)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        parts = [str(part) for part in first["loc"] if part != "body" and "-" not in str(part)]
        if first["type"] == "json_invalid":
            return _problem(422, 'the body is not JSON, expected an object such as {"nodes": [0]}')
        return _problem(422, f"{'.'.join(parts) or 'body'}: {first['msg']}")

    @app.exception_handler(InputError)
    async def refused(request: Request, error: InputError) -> JSONResponse:
        return _problem(422, str(error))

    def number(node: int | str) -> int:
        if isinstance(node, str):
            if node not in numbers:
                raise InputError(f"the graph has no node with the id '{node[:80]}'")
            return numbers[node]
        if numbers and str(node) in numbers:  # ids that are numbers
            return numbers[str(node)]
        return node

    def answer(logits: Tensor, probabilities: bool) -> JSONResponse:
        if not bool(torch.isfinite(logits).all()):
            raise InputError("the features give logits that are not finite, expected smaller ones")
        task = server.task
        predictions = task.predict(logits).tolist()
        if described.classes and predictions and isinstance(predictions[0], int):
            predictions = [described.classes[value] for value in predictions]
        content = {"predictions": predictions}
        if probabilities:
            content["probabilities"] = task.predict_proba(logits).tolist()
        return JSONResponse(content)

    def check_count(count: int) -> None:
        if count > limits.nodes:
            raise InputError(f"nodes has {count} entries, expected at most {limits.nodes}")

    @app.get("/", summary="The ticket and its graph")
    async def describe() -> dict[str, Any]:
        return {**described.metadata, "nodes": server.num_nodes}

    @app.get("/health", summary="Whether the process runs")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/ready", summary="Whether it can answer")
    async def ready() -> dict[str, str]:
        server.logits([0] if server.num_nodes else [])
        return {"status": "ready"}

    @app.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
    def metrics() -> Response:
        return Response(generate_latest(_collected(registry)), media_type=CONTENT_TYPE_LATEST)

    async def soon(work: Callable[[], JSONResponse], count: int) -> JSONResponse:
        # A thread costs more than a small answer, a large one would hold up the others.
        return work() if count <= _SMALL else await run_in_threadpool(work)

    @app.post("/predict", summary="Predict nodes of the graph", response_model=Answer)
    async def predict(query: Query) -> Response:
        check_count(len(query.nodes))
        nodes = [number(node) for node in query.nodes]
        return await soon(lambda: answer(server.logits(nodes), query.probabilities), len(nodes))

    @app.post("/predict/new", summary="Predict nodes not in the graph", response_model=Answer)
    async def predict_new(query: NewQuery) -> Response:
        count = len(query.nodes) + sum(len(node.neighbours) for node in query.nodes)
        check_count(count)
        return await soon(
            lambda: answer(_logits_of_new(server, query.nodes, number), query.probabilities), count
        )

    return app


def _logits_of_new(server: Server, nodes: Sequence[NewNode], number: Any) -> Tensor:
    """Logits of nodes that are not in the graph."""
    if not nodes:
        return server.logits([])
    widths = {len(node.x) for node in nodes}
    if len(widths) > 1:
        raise InputError(f"x has {min(widths)} and {max(widths)} features, expected one number")
    first, source, target, weights = server.num_nodes, [], [], []
    for index, node in enumerate(nodes):
        neighbours = [number(other) for other in node.neighbours]
        if neighbours and max(neighbours) >= first:
            raise InputError(
                f"neighbours has {max(neighbours)}, expected numbers from 0 to {first - 1}"
            )
        if len(set(neighbours)) < len(neighbours):
            raise InputError("neighbours has a node twice, expected each once")
        if node.weights is not None and len(node.weights) != len(neighbours):
            raise InputError(
                f"weights has {len(node.weights)} numbers, expected {len(neighbours)}, "
                "one for each neighbour"
            )
        source += neighbours
        target += [first + index] * len(neighbours)
        weights += [1.0] * len(neighbours) if node.weights is None else node.weights
    values = {}
    if "edge_weight" in server.graph.values:
        values["edge_weight"] = torch.tensor(weights)
    elif any(node.weights is not None for node in nodes):
        raise InputError("weights came, expected none: the network takes no edge weights")
    x = torch.tensor([node.x for node in nodes]).view(len(nodes), -1)
    edges = torch.tensor([source, target], dtype=torch.long)
    return server.logits_of_new(x, edges, **values)


class _Gate:
    """ASGI middleware: refuses bodies that are too large, and measures every request."""

    def __init__(self, app: Any, limit: int, measured: Callable[[str, int, float], None]) -> None:
        self.app, self.limit, self.measured = app, limit, measured

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        body = await self._body(scope, receive)
        if body is None:
            text = f"the body is larger than {self.limit} bytes, expected a smaller request"
            await _problem(413, text)(scope, receive, noted)
        else:
            parts = [{"type": "http.request", "body": body, "more_body": False}]

            async def again() -> Any:
                return parts.pop() if parts else await receive()

            await self.app(scope, again, noted)
        self.measured(scope["path"], status, time.perf_counter() - started)

    async def _body(self, scope: Any, receive: Any) -> bytes | None:
        """The whole body; None: it is too large, or the client has gone."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.limit:
            return None
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False) and message["type"] == "http.request"
            if len(body) > self.limit:
                return None
        return body


def _problem(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": " ".join(detail.split())[:500]}, status_code=status)


def _collected(registry: CollectorRegistry) -> CollectorRegistry:
    """The metrics of all workers, where there are several."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return registry
    together = CollectorRegistry()
    multiprocess.MultiProcessCollector(together)
    return together
