"""The real command lines from npm start our server from what `setup` wrote, and show the model its sheet.

A scripted model on loopback stands in for the provider; nothing leaves the machine. Opt-in: `make
test-harness`, or `pytest -m harness`; `-k opencode` picks one harness.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from avb_mcp import npm
from avb_mcp.setup_harness import server_command
from harness_configs._base import Arm, Harness
from harness_configs.registry import HARNESSES
from tests.harness.driving import (
    FINAL_TEXT,
    Run,
    drive,
    servers_left,
    sheet_from_the_server,
    tools_from_the_server,
)

pytestmark = [
    pytest.mark.harness,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for leftover servers in /proc"),
]

SHELL_AND_FILES = {
    "claude_code": {"Bash", "Read", "Write", "Edit", "Glob", "Grep"},
    "codex_cli": {"exec_command", "write_stdin", "apply_patch", "view_image"},
    "opencode": {"bash", "read", "write", "edit", "glob", "grep"},
    "gemini_cli": {
        "run_shell_command",
        "read_file",
        "write_file",
        "replace",
        "glob",
        "grep_search",
        "list_directory",
    },
    "openclaw": {"exec", "process", "read", "write", "edit", "apply_patch", "ls", "secrets"},
}
NO_SETTING_REMOVES = {"codex_cli": {"request_user_input"}}
CLIENT = {
    "claude_code": "claude-code",
    "codex_cli": "codex-mcp-client",
    "opencode": "opencode",
    "gemini_cli": "gemini-cli-mcp-client",
    "openclaw": "openclaw-bundle-mcp",
}
ADDED_FOR_ANY_SERVER = {"codex_cli": {"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"}}


def _runs(*arms: Arm) -> pytest.MarkDecorator:
    cells = [(name, arm) for name in HARNESSES for arm in arms]
    return pytest.mark.parametrize("run", cells, indirect=True, ids=[f"{name}-{arm}" for name, arm in cells])


with_our_tools = _runs(Arm.TYPED, Arm.TYPED_ONLY)
in_every_arm = _runs(*Arm)


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run of a (harness, arm), shared by the tests that look at it."""
    name, arm = request.param
    return drive(HARNESSES[name], arm, _installed(HARNESSES[name]), tmp_path_factory.mktemp(f"{name}-{arm}"))


def _installed(harness: Harness) -> npm.InstalledTool:
    if npm.find(harness.package) is None and shutil.which("npm") is None:
        pytest.skip(f"npm is absent, so {harness.package.name} cannot be installed")
    return npm.ensure(harness.package)


@in_every_arm
def test_the_model_is_offered_exactly_the_tools_of_the_arm_from_the_first_request_on(run: Run) -> None:
    name = run.harness.name
    expected = set(NO_SETTING_REMOVES.get(name, ()))
    if run.arm is not Arm.TYPED_ONLY:
        expected |= SHELL_AND_FILES[name]
    if run.arm is not Arm.SHELL:
        expected |= {run.harness.model_visible(tool) for tool in tools_from_the_server(run.workspace)}
        expected |= ADDED_FOR_ANY_SERVER.get(name, set())

    assert run.requests
    assert [request.tool_names for request in run.requests] == [expected] * len(run.requests)


@with_our_tools
def test_the_sheet_reaches_the_model_as_the_very_jpeg_that_the_server_sent(run: Run) -> None:
    sheet = sheet_from_the_server(run.workspace)

    delivered = [request.images for request in run.requests]
    assert delivered[:2] == [(), ()]
    (image,) = delivered[2]
    assert image.media_type == "image/jpeg"
    assert image.data == sheet


@with_our_tools
def test_the_server_was_called_as_scripted_and_knows_by_whom(run: Run) -> None:
    lines = (run.workspace / ".avb" / "trace.jsonl").read_text(encoding="utf-8").splitlines()

    calls = [json.loads(line) for line in lines]
    by_the_harness = [(call["tool"], call["status"]) for call in calls if call["client"] == CLIENT[run.harness.name]]
    assert by_the_harness == [("probe", "ok"), ("frame_grid", "ok")]


@with_our_tools
def test_the_run_ends_well_with_the_models_last_words_and_no_server_left(run: Run) -> None:
    assert run.exit_code == 0, run.stderr[-2000:]
    assert FINAL_TEXT in run.stdout
    assert run.servers_left == []


def test_a_server_that_is_left_running_would_be_noticed(tmp_path: Path) -> None:
    command = server_command(tmp_path)
    with subprocess.Popen([command.command, *command.args], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as server:
        left = servers_left(tmp_path, patience_ms=0)
        assert server.stdin is not None
        server.stdin.close()

    (command_line,) = left
    assert command_line.rstrip().endswith(f"serve --workspace {tmp_path}")
