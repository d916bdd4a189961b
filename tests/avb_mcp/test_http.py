"""The HTTP transport: loopback only, and deaf to foreign pages."""

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture
def port(folder: Path) -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = probe.getsockname()[1]
    command = [sys.executable, "-m", "avb_mcp", "serve", "--workspace", str(folder), "--transport", "http"]
    process = subprocess.Popen([*command, "--port", str(number)], stderr=subprocess.PIPE)
    for _ in range(400):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", number)) == 0:
                break
        time.sleep(0.05)
    yield number
    process.terminate()
    process.communicate(timeout=20)


def post(port: int, **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    sent = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    connection.request("POST", "/mcp", json.dumps(INITIALIZE), sent)
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_local_callers_are_answered(port: int) -> None:
    assert post(port) == 200
    assert post(port, host="evil.example:80") == 421
    assert post(port, origin="http://evil.example") == 403
    assert post(port, origin=f"http://localhost:{port}") == 200


def test_the_port_is_bound_on_loopback_alone(port: int) -> None:
    listening = Path("/proc/net/tcp").read_text().splitlines()[1:]
    rows = [row.split() for row in listening]
    bound = [row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port]
    assert bound == ["0100007F"]
