"""CPU seconds from process start to the tool list, against a bare server of the same SDK that offers one empty tool.

    python benchmarks/list_tools.py

What remains above 1 is ours; the rest is the price of importing the SDK.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 5
BARE = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="empty", input_schema={"type": "object"})])
async def main():
    server = Server("bare", on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
anyio.run(main)
"""
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
MESSAGES = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]


def cpu_s(command: list[str]) -> float:
    """CPU time of one session: initialize, list the tools, hang up."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in MESSAGES))
    process.stdin.flush()
    listed = [json.loads(process.stdout.readline()) for _ in range(2)][1]["result"]["tools"]
    process.stdin.close()
    process.wait()
    assert listed
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bare.py"
        script.write_text(BARE)
        ours = [sys.executable, "-m", "avb_mcp", "serve", "--workspace", folder]
        rounds = [(cpu_s(ours), cpu_s([sys.executable, str(script)])) for _ in range(ROUNDS)]
    for number, (own, bare) in enumerate(rounds, start=1):
        print(f"round {number}: avb-mcp {own:.2f} s, bare SDK server {bare:.2f} s, ratio {own / bare:.2f}")
    print(f"best: avb-mcp {min(own for own, _ in rounds):.2f} s, ratio {min(own / bare for own, bare in rounds):.2f}")


if __name__ == "__main__":
    main()
