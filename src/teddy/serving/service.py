"""An HTTP service over a server (extra ``serve``): predictions as JSON, health, metrics.

FastAPI checks requests and describes them (OpenAPI); uvicorn speaks HTTP.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

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
from torch import Tensor

from teddy.errors import InputError
from teddy.serving.gate import Gate, problem
from teddy.serving.schema import Answer, Described, Limits, NewNode, NewQuery, Problem, Query
from teddy.serving.server import Server

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
# Nodes of an answer that is computed at once, without a thread of its own.
_SMALL = 256
_PATHS = {
    "/", "/health", "/ready", "/metrics", "/predict", "/predict/new", "/openapi.json", "/docs",
}  # fmt: skip


def create_app(server: Server, described: Described, limits: Limits | None = None) -> FastAPI:
    """Make the application.

    Args:
        server: Answers the requests.
        described: What it tells of its ticket.
        limits: Largest requests that are answered.
    """
    limits = limits or Limits()
    numbers = {str(name): number for number, name in enumerate(described.node_ids or ())}
    numeric = any(name.lstrip("-").isdecimal() for name in numbers)
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
        responses={status: {"model": Problem} for status in (400, 408, 413, 422)},
    )  # fmt: skip

    def measured(path: str, status: int, duration: float) -> None:
        path = path if path in _PATHS else "other"  # clients do not choose the labels
        requests.labels(path, status).inc()
        seconds.labels(path).observe(duration)

    app.add_middleware(Gate, limit=limits.body, measured=measured)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        parts = [str(part) for part in first["loc"] if part != "body" and "-" not in str(part)]
        if first["type"] == "json_invalid":
            return problem(422, 'the body is not JSON, expected an object such as {"nodes": [0]}')
        return problem(422, f"{'.'.join(parts) or 'body'}: {first['msg']}")

    @app.exception_handler(InputError)
    async def refused(request: Request, error: InputError) -> JSONResponse:
        return problem(422, str(error))

    def number(node: int | str) -> int:
        if isinstance(node, int) and not numeric:
            return node
        if str(node) not in numbers:
            raise InputError(f"the graph has no node with the id '{str(node)[:80]}'")
        return numbers[str(node)]

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


def _collected(registry: CollectorRegistry) -> CollectorRegistry:
    """The metrics of all workers, where there are several."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return registry
    together = CollectorRegistry()
    multiprocess.MultiProcessCollector(together)
    return together
