"""A stand-in for the Hub: what huggingface_hub's client asks of it, for real, over HTTP."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import yaml

TOKEN = "hf_stand_in"


@dataclass
class Repository:
    private: bool
    branches: dict[str, str] = field(default_factory=lambda: {"main": "0" * 40})
    commits: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"0" * 40: {}})


class Hub:
    """Its state; ``refuse`` makes a path answer with that status."""

    def __init__(self):
        self.repositories: dict[str, Repository] = {}
        self.large: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.refuse: dict[str, int] = {}
        self.url = ""


class Answer(Exception):  # noqa: N818
    def __init__(self, status, content=b"", **headers):
        self.status, self.headers = status, headers
        self.content = content if isinstance(content, bytes) else json.dumps(content).encode()


def missing(what, status=404):
    return Answer(status, {"error": what}, **{"X-Error-Code": what})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_):
        pass

    def do(self):
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"{self.command} {path}")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            for part, status in self.hub.refuse.items():
                if part in path:
                    raise Answer(status, {"error": "as the test wants it"})
            self.route(path, body)
            raise missing("NoSuchPage")
        except Answer as answer:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.content)

    do_GET = do_HEAD = do_POST = do_PUT = do  # noqa: N815

    @property
    def known(self):
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def repository(self, name):
        found = self.hub.repositories.get(name)
        if found is None or (found.private and not self.known):
            raise missing("RepoNotFound", 404 if self.known else 401)
        return found

    def route(self, path, body):
        if path == "/api/repos/create":
            self.create(json.loads(body))
        if path == "/api/validate-yaml":
            front = json.loads(body)["content"].split("---\n")[1]
            errors = [] if isinstance(yaml.safe_load(front), dict) else [{"message": "no mapping"}]
            raise Answer(200, {"errors": errors, "warnings": []})
        if match := re.fullmatch(r"/lfs/(\w+)", path):
            assert hashlib.sha256(body).hexdigest() == match[1]
            self.hub.large[match[1]] = body
            raise Answer(200)
        if match := re.fullmatch(r"/(.+)\.git/info/lfs/objects/batch", path):
            self.writable(match[1])
            objects = json.loads(body)["objects"]
            for part in objects:
                part["actions"] = {"upload": {"href": f"{self.hub.url}/lfs/{part['oid']}"}}
            raise Answer(200, {"transfer": "basic", "objects": objects})
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/(branch|preupload|commit)/(.+)", path):
            getattr(self, match[2])(match[1], self.writable(match[1]), match[3], body)
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(/revision/.+)?", path):
            found = self.repository(match[1])
            sha = found.branches["main"]
            raise Answer(200, {"id": match[1], "private": found.private, "sha": sha})
        if match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self.resolve(self.repository(match[1]), match[2], match[3])

    def writable(self, name):
        if not self.known:
            raise Answer(401, {"error": "Invalid credentials"})
        return self.repository(name)

    def create(self, asked):
        if not self.known:
            raise Answer(401, {"error": "Invalid username or password."})
        owner = asked.get("organization") or "me"
        if owner != "me":
            raise Answer(403, {"error": f"You don't have the rights to create under {owner}"})
        name = f"{owner}/{asked['name']}"
        answer = {"url": f"{self.hub.url}/{name}", "name": name, "id": "1"}
        if name in self.hub.repositories:
            raise Answer(409, answer)
        self.hub.repositories[name] = Repository(asked.get("visibility") == "private")
        raise Answer(200, answer)

    def branch(self, _, repository, name, __):
        if name in repository.branches:
            raise Answer(409, {"error": "Reference already exists"})
        repository.branches[name] = repository.branches["main"]
        raise Answer(201, {})

    def preupload(self, _, __, ___, body):
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if file["path"].endswith(".safetensors") else "regular",
                "shouldIgnore": False,
            }
            for file in json.loads(body)["files"]
        ]
        raise Answer(200, {"files": files})

    def commit(self, name, repository, branch, body):
        if branch not in repository.branches:
            raise missing("RevisionNotFound")
        tree = dict(repository.commits[repository.branches[branch]])
        for line in body.decode().splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                tree[value["path"]] = base64.b64decode(value["content"])
            if entry["key"] == "lfsFile":
                tree[value["path"]] = self.hub.large[value["oid"]]
        sha = hashlib.sha1(body).hexdigest()
        repository.commits[sha], repository.branches[branch] = tree, sha
        url = f"{self.hub.url}/{name}/commit/{sha}"
        raise Answer(200, {"commitUrl": url, "commitOid": sha, "success": True})

    def resolve(self, repository, revision, file):
        sha = repository.branches.get(revision, revision)
        if sha not in repository.commits:
            raise missing("RevisionNotFound")
        if file not in repository.commits[sha]:
            raise missing("EntryNotFound")
        content = repository.commits[sha][file]
        etag = f'"{hashlib.sha256(content).hexdigest()}"'
        raise Answer(200, content, **{"X-Repo-Commit": sha, "ETag": etag})


@contextmanager
def running():
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
