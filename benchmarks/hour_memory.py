"""An hour of film through each edit tool, a small range of it changed: peak memory, against a film of two minutes.

    python benchmarks/hour_memory.py [--minutes 60]

The film is made here: 640x360 H.264 with B-frames, repeated packet by packet. Each tool runs in a process of its own.
Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

PART_FRAMES = 250
OURS = """
import json, sys
from pathlib import Path
from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives.registry import by_name
folder, tool = Path(sys.argv[1]), sys.argv[2]
result = by_name()[tool].call(json.loads(sys.argv[3]), Call(Workspace(folder))).result
status = Path("/proc/self/status").read_text()
peak_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
print(json.dumps({"peak_mb": peak_kb // 1024, **result.model_dump(mode="json")}))
"""
TOOLS: dict[str, Callable[[float], dict[str, Any]]] = {
    "scene_cuts": lambda _: {},
    "trim_concat": lambda middle_s: {"drop": [[middle_s - 1, middle_s + 0.5]]},
    "color_match": lambda middle_s: {"start_s": middle_s + 4, "end_s": middle_s + 5},
    "restore_video": lambda middle_s: {"start_s": middle_s + 4, "end_s": middle_s + 5, "kind": "deblur"},
}


def make_part(path: Path) -> Path:
    """Ten seconds whose fifth one is blurred and off in colour."""
    import cv2
    import numpy as np

    from tests.scenery import grade, landscape, write

    scene = landscape(4, width_px=640 + PART_FRAMES, height_px=360)
    frames = [np.ascontiguousarray(scene[:360, number : number + 640]) for number in range(PART_FRAMES)]
    spoil = grade("contract")
    for number in range(100, 125):
        frames[number] = np.asarray(cv2.GaussianBlur(spoil(frames[number]), (0, 0), 2), dtype=np.uint8)
    return write(path, frames, crf=26, group=125, sound=False)


def measured(folder: Path, tool: str, arguments: dict[str, Any]) -> str:
    """Peak memory, CPU time and the result of one call in a process of its own."""
    command = [sys.executable, "-c", OURS, str(folder), tool, json.dumps({"path": "film.mp4", **arguments})]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, command
        out.seek(0)
        result = json.loads(out.read())
    facts = {key: result[key] for key in ("frames_copied", "frames_encoded", "shot_count") if key in result}
    return f"{result['peak_mb']:4d} MB peak, {usage.ru_utime + usage.ru_stime:6.1f} s CPU, {facts}"


def main() -> None:
    from tests.media import loop_packets

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        part = make_part(Path(scratch) / "part.mp4")
        folders = {}
        for minutes in (2, options.minutes):
            folder = folders[minutes] = Path(scratch) / str(minutes)
            (folder / "work").mkdir(parents=True)
            loop_packets(part, folder / "film.mp4", minutes * 6)
        os.chdir(ROOT)
        for tool, arguments in TOOLS.items():
            for minutes, folder in folders.items():
                print(
                    f"{tool:14s} {minutes:3d} min: {measured(folder, tool, arguments(minutes // 2 * 60))}", flush=True
                )


if __name__ == "__main__":
    main()
