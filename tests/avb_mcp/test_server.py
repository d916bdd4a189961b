"""The server as a harness meets it: a real process, real stdio, a real client."""

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from primitives.registry import PRIMITIVES
from tests.media import loop_packets, make_film, make_sound

pytestmark = pytest.mark.anyio
SERVE = ["-m", "avb_mcp", "serve", "--workspace"]


@asynccontextmanager
async def client(folder: Path, *options: str, **settings: Any) -> AsyncIterator[Client]:
    server = StdioServerParameters(command=sys.executable, args=[*SERVE, str(folder), *options])
    async with Client(server, **settings) as connected:
        yield connected


def make_long_film(folder: Path) -> None:
    """A film that takes many seconds to look at: large pictures, a single keyframe at its start."""
    short = make_film(folder / "work/short.mp4", frames=120, size=(1280, 720), options={"preset": "ultrafast"})
    loop_packets(short, folder / "materials/long.mp4", 60, keyframes=1)


def texts(result: types.CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, types.TextContent)]


def trace(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / ".avb/trace.jsonl").read_text().splitlines()]


async def test_every_tool_is_listed_in_order_with_title_and_hints(folder: Path) -> None:
    async with client(folder) as connected:
        tools = (await connected.list_tools()).tools
    assert [tool.name for tool in tools] == [primitive.name for primitive in PRIMITIVES]
    assert all(tool.title and tool.annotations and tool.annotations.open_world_hint is False for tool in tools)
    read_only = {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}
    assert {"probe", "frame_grid"} <= read_only and read_only.isdisjoint({"trim_concat", "submit"})
    assert all(tool.output_schema is None for tool in tools)


async def test_only_the_tools_capability_is_declared(folder: Path) -> None:
    async with client(folder, mode="legacy") as connected:
        capabilities = connected.server_capabilities.model_dump(exclude_none=True)
    assert set(capabilities) == {"tools"}


async def test_a_sheet_comes_as_text_then_one_jpeg_without_structured_content(folder: Path) -> None:
    make_film(folder / "materials/a.mp4", frames=30)
    async with client(folder) as connected:
        result = await connected.call_tool("frame_grid", {"path": "materials/a.mp4", "count": 4})
    text, image = result.content
    assert isinstance(text, types.TextContent) and isinstance(image, types.ImageContent)
    assert [cell["frame"] for cell in json.loads(text.text)["cells"]] == [0, 9, 19, 29]
    assert image.mime_type == "image/jpeg"
    assert base64.b64decode(image.data)[:2] == b"\xff\xd8"
    assert result.structured_content is None and not result.is_error


async def test_switched_off_tools_are_neither_listed_nor_callable(folder: Path) -> None:
    async with client(folder, "--disable", "frame_grid") as connected:
        listed = [tool.name for tool in (await connected.list_tools()).tools]
        assert listed == [primitive.name for primitive in PRIMITIVES if primitive.name != "frame_grid"]
        with pytest.raises(MCPError, match="no tool 'frame_grid' here"):
            await connected.call_tool("frame_grid", {"path": "materials/a.mp4"})


@pytest.fixture
def odd(folder: Path) -> Path:
    make_film(folder / "materials/a.mp4", frames=25)
    make_sound(folder / "materials/a.wav")
    (folder / "materials/empty.mp4").write_bytes(b"")
    (folder / "materials/text.mp4").write_text("This is not a film. " * 50)
    (folder / "materials/list.mp4").write_text("#EXTM3U\n#EXTINF:1,\n../../secret.mp4\n")
    (folder / "materials/script.mp4").write_text("ffconcat version 1.0\nfile a.mp4\n")
    (folder / "materials/page.mp4").write_text('<?xml version="1.0"?><MPD></MPD>')
    return folder


MISTAKES = [
    ({"path": "materials/a.mp4", "cuont": 3}, "Unknown argument cuont. Did you mean count?"),
    ({"path": "materials/b.mp4"}, "materials/b.mp4 does not exist. Did you mean materials/a.mp4?"),
    ({"path": "materials/a.mp4", "start_s": 9}, "start_s=9.0 is past the end of materials/a.mp4 (1.000 s)."),
    ({"path": "/etc/hostname"}, "/etc/hostname lies outside the workspace."),
    ({"path": "materials"}, "materials is a folder, not a media file."),
    ({"path": "materials/empty.mp4"}, "materials/empty.mp4 is empty (0 bytes)."),
    ({"path": "materials/text.mp4"}, "materials/text.mp4 is not readable media"),
    ({"path": "materials/list.mp4"}, "materials/list.mp4 is a playlist or script"),
    ({"path": "materials/script.mp4"}, "materials/script.mp4 is a playlist or script"),
    ({"path": "materials/page.mp4"}, "materials/page.mp4 is a playlist or script"),
    ({"path": "materials/a.wav"}, "materials/a.wav has no video, only sound."),
]


async def test_each_mistake_is_an_error_result_with_one_sentence(odd: Path) -> None:
    async with client(odd) as connected:
        for arguments, sentence in MISTAKES:
            result = await connected.call_tool("frame_grid", arguments)
            (text,) = texts(result)
            assert (result.is_error, text[: len(sentence)]) == (True, sentence)
            assert "\n" not in text and "Traceback" not in text


async def test_the_trace_tells_what_each_call_cost(folder: Path) -> None:
    make_film(folder / "materials/a.mp4", frames=50)
    asked = {"path": "materials/a.mp4", "count": 2}
    async with client(folder) as connected:
        first = await connected.call_tool("frame_grid", asked, meta={"claudecode/toolUseId": "toolu_1"})
        second = await connected.call_tool("frame_grid", asked)
        await connected.call_tool("frame_grid", {"path": "nothing.mp4"})
    lines = trace(folder)
    assert [(line["status"], line["cache_hit"]) for line in lines] == [("ok", False), ("ok", True), ("error", False)]
    image = first.content[1]
    assert isinstance(image, types.ImageContent)
    assert lines[0]["image_bytes"] == len(base64.b64decode(image.data))
    assert lines[0]["media_s"] == pytest.approx(1.96)
    assert lines[0]["arguments"] == asked
    assert lines[0]["call_id"] == "toolu_1"
    assert lines[0]["client"] == "mcp"
    assert lines[2]["error"].startswith("nothing.mp4 does not exist")
    assert second.content == first.content


async def test_a_changed_file_is_looked_at_again(folder: Path) -> None:
    make_film(folder / "materials/a.mp4", frames=20)
    async with client(folder) as connected:
        await connected.call_tool("probe", {"path": "materials/a.mp4"})
        make_film(folder / "materials/a.mp4", frames=40)
        again = await connected.call_tool("probe", {"path": "materials/a.mp4"})
    assert '"frame_count": 40' in texts(again)[0]


async def test_a_call_over_budget_answers_with_a_job_and_the_same_call_picks_it_up(folder: Path) -> None:
    make_film(folder / "materials/a.mp4", frames=900, size=(640, 360), options={"preset": "ultrafast"})
    asked = {"path": "materials/a.mp4", "count": 100}
    async with client(folder, "--call-budget", "0.05") as connected:
        first = await connected.call_tool("frame_grid", asked)
        assert json.loads(texts(first)[0])["status"] == "running"
        for _ in range(400):
            result = await connected.call_tool("frame_grid", asked)
            if len(result.content) == 2:
                break
    assert len(result.content) == 2
    statuses = [line["status"] for line in trace(folder)]
    assert statuses[0] == "running" and statuses[-1] == "ok"


async def test_progress_grows_and_a_cancelled_call_stops(folder: Path) -> None:
    make_long_film(folder)
    seen: list[float] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        seen.append(done)

    async with client(folder) as connected:
        with anyio.move_on_after(60) as scope:
            async with anyio.create_task_group() as group:

                async def call() -> None:
                    asked = {"path": "materials/long.mp4", "count": 100}
                    await connected.call_tool("frame_grid", asked, progress_callback=on_progress)

                group.start_soon(call)
                while len(seen) < 2:
                    await anyio.sleep(0.02)
                group.cancel_scope.cancel()
        assert not scope.cancelled_caught
        with anyio.fail_after(20):
            while not (folder / ".avb/trace.jsonl").exists():
                await anyio.sleep(0.02)
    assert seen == sorted(set(seen))
    assert trace(folder)[0]["status"] == "cancelled"


def start(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *SERVE, str(folder), *options], stdin=pipe, stdout=pipe, stderr=pipe)


def initialize(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin and process.stdout
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    send(process, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    assert json.loads(process.stdout.readline())["id"] == 1
    send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})


def send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def test_when_the_client_goes_away_in_mid_call_no_process_stays(folder: Path) -> None:
    make_long_film(folder)
    process = start(folder)
    initialize(process)
    arguments = {"name": "frame_grid", "arguments": {"path": "materials/long.mp4", "count": 100}}
    send(
        process,
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {**arguments, "_meta": {"progressToken": 7}}},
    )
    assert process.stdin and process.stdout and process.stderr
    assert json.loads(process.stdout.readline())["method"] == "notifications/progress"
    process.stdin.close()
    assert process.wait(timeout=20) == 0
    process.stdout.close()
    process.stderr.close()


def test_a_late_cancel_for_a_finished_call_is_ignored(folder: Path) -> None:
    make_film(folder / "materials/a.mp4", frames=10)
    process = start(folder)
    initialize(process)
    call = {"name": "probe", "arguments": {"path": "materials/a.mp4"}}
    assert process.stdout
    for number in (2, 3):
        send(process, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        assert json.loads(process.stdout.readline())["id"] == number
        send(process, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_stdout_carries_nothing_but_messages_and_stderr_stays_quiet(odd: Path) -> None:
    process = start(odd)
    initialize(process)
    calls = [("probe", "materials/text.mp4"), ("probe", "materials/a.mp4"), ("probe", "materials/list.mp4")]
    for number, (tool, path) in enumerate(calls, start=2):
        call = {"name": tool, "arguments": {"path": path}}
        send(process, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        assert process.stdout
        assert json.loads(process.stdout.readline())["id"] == number
    out, err = process.communicate(timeout=20)
    assert (out, err) == (b"", b"")


def test_termination_by_signal_leaves_no_process(folder: Path) -> None:
    process = start(folder)
    initialize(process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
