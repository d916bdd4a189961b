"""The MCP project's own test programs from npm, and our server as they want it."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from avb_mcp import npm
from avb_mcp.setup_harness import server_command
from harness_configs._base import NpmPackage

INSPECTOR = NpmPackage(
    name="@modelcontextprotocol/inspector", version="2.12.0", executable="mcp-inspector", node_at_least=(22, 19)
)
CONFORMANCE = NpmPackage(
    name="@modelcontextprotocol/conformance", version="0.2.0-alpha.12", executable="conformance", node_at_least=(22, 0)
)
RUN_TIMEOUT_S = 300
START_TIMEOUT_TRIES = 200
PAUSE_S = 0.1


def run_tool(package: NpmPackage, arguments: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Run one of the programs to its end, with a home of its own."""
    if npm.find(package) is None and shutil.which("npm") is None:
        pytest.skip(f"npm is absent, so {package.name} cannot be installed")
    tool = npm.ensure(package)
    return subprocess.run(
        [*tool.argv, *arguments],
        cwd=home,
        env={"PATH": tool.search_path, "HOME": str(home), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        check=False,
    )


@contextmanager
def served_over_http(workspace: Path) -> Iterator[str]:
    """Our server on a free loopback port; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = server_command(workspace)
    arguments = [command.command, *command.args, "--transport", "http", "--port", str(port)]
    with subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_until_listening(server, port)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.terminate()


def _wait_until_listening(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(START_TIMEOUT_TRIES):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=PAUSE_S).close()
        except ConnectionRefusedError:
            try:
                server.wait(PAUSE_S)  # a server that ended will never listen
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError(f"the server ended with exit code {server.returncode}") from None
        return
    raise AssertionError("the server does not listen")
