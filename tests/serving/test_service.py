"""The HTTP service: answers, limits, and input of any kind."""

from __future__ import annotations

import asyncio
import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from serving.test_answers import graph, masked_model
from teddy.serving import Server

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")

from teddy.serving import gate
from teddy.serving.schema import Described, Limits
from teddy.serving.service import create_app


def make_app(limits=None, ids=None, weighted=False):
    edges, x, weight = graph(3)
    values = {"edge_weight": weight[edges.messages.pair]} if weighted else {}
    server = Server(masked_model("gcn", 1, share=0.0), x, edges.edge_index, values)
    described = Described({"ticket": "a.ticket"}, ["red", "green", "blue"], ids)
    return create_app(server, described, limits), server


def request(app, method, path, body=b"", headers=(), parts=1):
    """One request to an ASGI application: status, and the body."""
    step = -(-len(body) // parts) or 1
    pieces = [body[i : i + step] for i in range(0, len(body), step)] or [b""]
    sent = []

    async def receive():
        piece = pieces.pop(0) if pieces else b""
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "scheme": "http", "server": ("localhost", 80), "client": ("localhost", 1),
        "headers": [(b"content-type", b"application/json"), *headers],
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], content


def post(app, path, content):
    status, body = request(app, "POST", path, json.dumps(content).encode())
    return status, json.loads(body)


def test_answers_are_those_of_the_server():
    app, server = make_app()
    status, found = post(app, "/predict", {"nodes": [5, 0, 5], "probabilities": True})
    assert status == 200
    names = ["red", "green", "blue"]
    assert found["predictions"] == [names[c] for c in server.predict([5, 0, 5])]
    torch.testing.assert_close(
        torch.tensor(found["probabilities"]), server.predict_proba([5, 0, 5])
    )
    assert post(app, "/predict", {"nodes": []}) == (200, {"predictions": []})
    assert post(app, "/predict", {"nodes": list(range(40)) * 10})[0] == 200


def test_new_nodes_do_not_change_the_graph():
    app, server = make_app()
    before = server.logits(range(40))
    new = [{"x": [0.1] * 6, "neighbours": [3, 4]}, {"x": [0.9] * 6}]
    status, found = post(app, "/predict/new", {"nodes": new, "probabilities": True})
    assert status == 200
    torch.testing.assert_close(server.logits(range(40)), before)
    server.add_nodes(torch.tensor([[0.1] * 6, [0.9] * 6]))
    server.add_edges(torch.tensor([[40, 40], [3, 4]]))
    torch.testing.assert_close(torch.tensor(found["probabilities"]), server.predict_proba([40, 41]))


def test_nodes_by_their_ids():
    app, _ = make_app(ids=[f"n{number}" for number in range(40)])
    status, found = post(app, "/predict", {"nodes": ["n7", 7]})
    assert status == 200
    assert found["predictions"][0] == found["predictions"][1]
    status, found = post(app, "/predict", {"nodes": ["x\n"]})
    assert (status, found) == (422, {"detail": "the graph has no node with the id 'x '"})


def test_weights_of_new_edges():
    app, server = make_app(weighted=True)
    node = {"x": [0.1] * 6, "neighbours": [3, 4], "weights": [0.5, 2.0]}
    found = post(app, "/predict/new", {"nodes": [node], "probabilities": True})[1]
    server.add_nodes(torch.full((1, 6), 0.1))
    server.add_edges(torch.tensor([[40, 40], [3, 4]]), edge_weight=torch.tensor([0.5, 2.0]))
    torch.testing.assert_close(torch.tensor(found["probabilities"]), server.predict_proba([40]))


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("/predict", {"nodes": [40]}, "nodes has 40, expected numbers from 0 to 39"),
        ("/predict", {"nodes": [-1]}, "nodes.0: Input should be greater than or equal to 0"),
        ("/predict", {"nodes": [10**30]}, "nodes.0: Input should be less than or equal"),
        ("/predict", {"nodes": "all"}, "nodes: Input should be a valid list"),
        ("/predict", {}, "nodes: Field required"),
        ("/predict", {"nodes": [1], "node": 2}, "node: Extra inputs are not permitted"),
        ("/predict", {"nodes": [0] * 101}, "nodes has 101 entries, expected at most 100"),
        ("/predict/new", {"nodes": [{"x": [1.0]}]}, "x has shape [1, 1], expected [B, 6]"),
        ("/predict/new", {"nodes": [{"x": [1]}, {"x": []}]}, "x has 0 and 1 features"),
        ("/predict/new", {"nodes": [{"x": [1e39] * 6}]}, "x has values that are not finite"),
        ("/predict/new", {"nodes": [{"x": [0] * 6, "neighbours": [41]}]}, "neighbours has 41"),
        ("/predict/new", {"nodes": [{"x": [0] * 6, "neighbours": [4, 4]}]}, "a node twice"),
        (
            "/predict/new",
            {"nodes": [{"x": [0] * 6, "neighbours": [4], "weights": [1.0]}]},
            "the network takes no edge weights",
        ),
    ],
)
def test_bad_requests_are_one_sentence(path, content, message):
    app, server = make_app(Limits(nodes=100))
    before = server.logits(range(40))
    status, found = post(app, path, content)
    assert status == 422
    assert message in found["detail"]
    assert torch.equal(server.logits(range(40)), before)


def test_large_bodies_are_refused_before_they_are_read():
    app, _ = make_app(Limits(body=1000))
    large = b'{"nodes": [' + b"0," * 1000 + b"0]}"
    length = [(b"content-length", str(len(large)).encode())]
    for headers, parts in ((length, 1), ((), 1), ((), 7), ([(b"content-length", b"-5")], 1)):
        status, body = request(app, "POST", "/predict", large, headers, parts)
        assert status == 413
        assert "larger than 1000 bytes" in json.loads(body)["detail"]


def test_ids_that_are_numbers_are_never_taken_for_positions():
    app, server = make_app(ids=[str(number + 10) for number in range(40)])
    status, found = post(app, "/predict", {"nodes": [12, "12"], "probabilities": True})
    assert status == 200
    torch.testing.assert_close(torch.tensor(found["probabilities"]), server.predict_proba([2, 2]))
    status, found = post(app, "/predict", {"nodes": [3]})
    assert (status, found) == (422, {"detail": "the graph has no node with the id '3'"})
    assert post(app, "/predict/new", {"nodes": [{"x": [0] * 6, "neighbours": [3]}]})[0] == 422


def test_a_lone_surrogate_is_refused():
    app, _ = make_app()
    status, body = request(app, "POST", "/predict", b'{"nodes": ["\\ud800"]}')
    assert (status, json.loads(body)["detail"]) == (422, "the graph has no node with the id '?'")


def test_every_status_is_documented():
    app, _ = make_app()
    status, body = request(app, "POST", "/predict", b"9\xff")
    assert (status, json.loads(body)) == (400, {"detail": "There was an error parsing the body"})
    answers = app.openapi()["paths"]["/predict"]["post"]["responses"]
    assert {"200", "400", "408", "413", "422"} <= set(answers)


def test_a_body_that_never_comes_is_refused(monkeypatch):
    monkeypatch.setattr(gate, "_BODY_SECONDS", 0.05)
    sent = []

    async def never():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    app, _ = make_app()
    scope = {
        "type": "http", "method": "POST", "path": "/predict", "headers": [], "query_string": b"",
    }  # fmt: skip
    asyncio.run(app(scope, never, send))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["nodes", "x", "neighbours", "weights", "a"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(
    st.sampled_from(["/predict", "/predict/new", "/", "/health", "/x", "/%00", "/openapi.json"]),
    st.sampled_from(["POST", "GET", "PUT", "BREW"]),
    st.one_of(
        st.binary(max_size=60),
        JSON.map(lambda value: json.dumps(value).encode()),
        JSON.map(lambda value: json.dumps({"nodes": [value]}).encode()),
        st.lists(st.floats(), min_size=6, max_size=6).map(
            lambda x: json.dumps({"nodes": [{"x": x, "neighbours": [1]}]}).encode()
        ),
        st.just(b"[" * 5000),
    ),
)
def test_no_request_is_an_error_of_the_service(path, method, body):
    app, _ = APP
    status, content = request(app, method, path, body)
    assert status < 500
    assert b"Traceback" not in content


APP = make_app()


def test_errors_of_the_service_are_counted(monkeypatch):
    app, server = make_app()

    def broken(nodes):
        raise RuntimeError

    monkeypatch.setattr(server, "logits", broken)
    with pytest.raises(RuntimeError):
        post(app, "/predict", {"nodes": [1]})
    text = request(app, "GET", "/metrics")[1].decode()
    assert 'teddy_requests_total{path="/predict",status="500"} 1.0' in text


def test_metrics_count_requests_by_path():
    app, _ = make_app()
    post(app, "/predict", {"nodes": [1]})
    post(app, "/predict", {"nodes": [99]})
    request(app, "GET", "/secret/path")
    text = request(app, "GET", "/metrics")[1].decode()
    assert 'teddy_requests_total{path="/predict",status="200"} 1.0' in text
    assert 'teddy_requests_total{path="/predict",status="422"} 1.0' in text
    assert 'path="other",status="404"' in text
    assert "secret" not in text
    assert json.loads(request(app, "GET", "/ready")[1]) == {"status": "ready"}
    assert json.loads(request(app, "GET", "/")[1])["nodes"] == 40
