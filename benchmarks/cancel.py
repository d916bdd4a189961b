"""How soon each edit tool ends when it is stopped: the longest of several moments, on a film of twenty minutes.

    python benchmarks/cancel.py [--minutes 20] [--moments 8]

Seconds from the stop sign to the end of the call, wall clock; on a busy machine they are longer than the work.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from avb_mcp.workspace import Workspace
from benchmarks.hour_memory import TOOLS, make_part
from primitives._base import Call, Cancelled
from primitives.registry import by_name
from tests.media import loop_packets


def stopped(folder: Path, tool: str, middle_s: float, after_s: float) -> tuple[str, float, float]:
    """The last message, and wall and CPU seconds from the stop to the end."""
    stop, told, asked = threading.Event(), ["starting"], [0.0, 0.0]

    def hear(_done: float, _total: float, message: str) -> None:
        told.append(message)

    def put_up() -> None:
        asked[:] = [time.perf_counter(), time.process_time()]
        stop.set()

    timer = threading.Timer(after_s, put_up)
    call = Call(Workspace(folder), on_progress=hear, stop=stop)
    timer.start()
    try:
        by_name()[tool].call({"path": "film.mp4", **TOOLS[tool](middle_s)}, call)
        for path in (folder / "work").iterdir():  # the finished work of a call that nothing stopped
            path.unlink()
        return "finished before", 0.0, 0.0
    except Cancelled:
        return told[-1], time.perf_counter() - asked[0], time.process_time() - asked[1]
    finally:
        timer.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=20)
    parser.add_argument("--moments", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "task"
        (folder / "work").mkdir(parents=True)
        loop_packets(make_part(Path(scratch) / "part.mp4"), folder / "film.mp4", options.minutes * 6)
        for tool in TOOLS:
            rows = [
                stopped(folder, tool, options.minutes // 2 * 60, 0.05 * 1.9**moment)
                for moment in range(options.moments)
            ]
            left = [path.name for path in folder.rglob("*") if path.is_file() and path.name != "film.mp4"]
            left = [name for name in left if not name.endswith(".json")]
            ended = [row for row in rows if row[0] != "finished before"]
            print(
                f"{tool:14s} {len(ended)} stops: longest {max((row[1] for row in ended), default=0):.3f} s wall, "
                f"{max((row[2] for row in ended), default=0):.3f} s CPU; left behind: {left or 'nothing'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
