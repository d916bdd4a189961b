"""MCP Inspector's command line finds nothing to complain about. Opt-in: `make test-mcp`."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import av
import pytest

from avb_mcp.setup_harness import server_command
from primitives.registry import PRIMITIVES
from tests.conformance.outside_tools import INSPECTOR, run_tool, served_over_http
from tests.media import make_film

pytestmark = pytest.mark.conformance

EXIT_TOOL_ERROR = 5


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    make_film(folder / "materials" / "film.mp4")
    return folder


def _over_stdio(workspace: Path) -> list[str]:
    command = server_command(workspace)
    return ["--cli", command.command, *command.args]


def test_the_strict_schema_lint_is_silent_over_stdio(workspace: Path, tmp_path: Path) -> None:
    run = run_tool(INSPECTOR, [*_over_stdio(workspace), "--method", "tools/list", "--strict"], tmp_path)

    assert (run.returncode, run.stderr) == (0, "")
    assert {tool["name"] for tool in json.loads(run.stdout)["tools"]} == {tool.name for tool in PRIMITIVES}


def test_the_strict_schema_lint_is_silent_over_http(workspace: Path, tmp_path: Path) -> None:
    with served_over_http(workspace) as url:
        arguments = ["--cli", url, "--transport", "http", "--method", "tools/list", "--strict"]
        run = run_tool(INSPECTOR, arguments, tmp_path)

    assert (run.returncode, run.stderr) == (0, "")
    assert {tool["name"] for tool in json.loads(run.stdout)["tools"]} == {tool.name for tool in PRIMITIVES}


def test_a_call_returns_text_and_a_jpeg_that_decodes(workspace: Path, tmp_path: Path) -> None:
    call = ["--method", "tools/call", "--tool-name", "frame_grid"]
    arguments = ["--tool-arg", "path=materials/film.mp4", "--tool-arg", "count=4"]

    run = run_tool(INSPECTOR, [*_over_stdio(workspace), *call, *arguments], tmp_path)

    assert run.returncode == 0, run.stderr
    text, image = json.loads(run.stdout)["content"]
    assert (text["type"], image["type"], image["mimeType"]) == ("text", "image", "image/jpeg")
    packet = av.Packet(base64.b64decode(image["data"]))
    (frame,) = av.CodecContext.create("mjpeg", "r").decode(packet)
    assert 300 <= max(frame.width, frame.height) <= 1568


def test_a_mistake_is_an_error_result_and_exit_code_five(workspace: Path, tmp_path: Path) -> None:
    call = ["--method", "tools/call", "--tool-name", "probe", "--tool-arg", "path=materials/absent.mp4"]

    run = run_tool(INSPECTOR, [*_over_stdio(workspace), *call], tmp_path)

    assert run.returncode == EXIT_TOOL_ERROR
    result = json.loads(run.stdout)
    assert result["isError"] is True
    assert "materials/absent.mp4 does not exist" in result["content"][0]["text"]
