"""Load on a running ``teddy serve`` over loopback: requests a second, p50, p99, errors, memory.

    teddy serve citeseer.ticket --workers 2 --port 8000 &
    python -m benchmarks.http_load --port 8000 --pid $! --seconds 60

Connections are kept open, and each sends its next request when the last is answered.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
import urllib.request
from typing import Any

import numpy as np
import psutil


def main() -> None:
    """Send requests and print one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1", choices=["127.0.0.1", "::1", "localhost"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pid", type=int, help="Process of the service, to watch its memory.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--nodes", type=int, default=64, help="Nodes of a request.")
    options = parser.parse_args()
    print(json.dumps(measure(options)))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Send requests for some seconds."""
    with urllib.request.urlopen(f"http://{options.host}:{options.port}/") as answer:
        num_nodes = json.load(answer)["nodes"]
    before = memory(options.pid)
    times, errors = asyncio.run(load(options, num_nodes))
    return {
        "connections": options.connections,
        "nodes": options.nodes,
        "seconds": options.seconds,
        "requests": len(times),
        "requests per second": round(len(times) / options.seconds, 1),
        "p50 ms": round(float(np.percentile(times, 50)), 3),
        "p99 ms": round(float(np.percentile(times, 99)), 3),
        "errors": errors,
        "memory MB before": before,
        "memory MB after": memory(options.pid),
    }


async def load(options: argparse.Namespace, num_nodes: int) -> tuple[list[float], int]:
    """Milliseconds of each request, and the number of answers that were not 200."""
    stop = time.perf_counter() + options.seconds
    parts = [connection(options, num_nodes, stop, seed) for seed in range(options.connections)]
    done = await asyncio.gather(*parts)
    return [ms for times, _ in done for ms in times], sum(errors for _, errors in done)


async def connection(
    options: argparse.Namespace, num_nodes: int, stop: float, seed: int
) -> tuple[list[float], int]:
    """Send requests over one connection until the time is over."""
    generator, times, errors = random.Random(seed), [], 0
    reader, writer = await asyncio.open_connection(options.host, options.port)
    while (started := time.perf_counter()) < stop:
        nodes = [generator.randrange(num_nodes) for _ in range(options.nodes)]
        body = json.dumps({"nodes": nodes}).encode()
        head = f"POST /predict HTTP/1.1\r\nHost: {options.host}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        try:
            answer = await reader.readuntil(b"\r\n\r\n")
            length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            errors += b" 200 " not in answer.split(b"\r\n")[0]
        except (asyncio.IncompleteReadError, ConnectionError):  # a worker was killed
            errors += 1
            reader, writer = await asyncio.open_connection(options.host, options.port)
        times.append(1e3 * (time.perf_counter() - started))
    writer.close()
    return times, errors


def memory(pid: int | None) -> float | None:
    """Megabytes of a process and its workers; shared pages are counted once."""
    if pid is None:
        return None
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    total: int = sum(part.memory_full_info().pss for part in family)
    return round(total / 1e6, 1)


if __name__ == "__main__":
    main()
