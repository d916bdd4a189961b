"""64 exact frames over an hour of film: CPU time of `frame_grid` against peers, in one run.

    python benchmarks/frame_grid.py [film.mp4] [--rounds 3]

Without a film it makes one: an hour of 640x360 H.264, B-frames, a keyframe every ten seconds. Peers: OpenCV seeking
(the same frames), and ffmpeg's `fps,scale,tile` (from the PyPI package imageio-ffmpeg, installed into a scratch
folder). Each runs in a process of its own, so that CPU time and peak memory are its own;
imports are counted, those of the other tools, which a server loads once, are not. `as in a server`: a call in a process
that has made one before, of the film under another name, so that nothing kept helps it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

COUNT = 64
OURS = """
import json, sys
from pathlib import Path
from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives.frame_grid import PRIMITIVE
film = Path(sys.argv[1])
answer = PRIMITIVE.call({"path": film.name, "count": 64}, Call(Workspace(film.parent)))
Path(sys.argv[2]).write_text(json.dumps([cell.frame for cell in answer.result.cells]))
"""
SERVED = """
import sys, time
from pathlib import Path
from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives.frame_grid import PRIMITIVE
film, other = Path(sys.argv[1]), Path(sys.argv[1]).with_name("other.mp4")
other.unlink(missing_ok=True)
other.hardlink_to(film)
PRIMITIVE.call({"path": other.name, "count": 4}, Call(Workspace(film.parent)))
began = time.process_time()
PRIMITIVE.call({"path": film.name, "count": 64}, Call(Workspace(film.parent)))
Path(sys.argv[2]).write_text(str(time.process_time() - began))
"""
OPENCV = """
import cv2, json, sys
from pathlib import Path
film = cv2.VideoCapture(sys.argv[1])
cells = []
for number in json.loads(Path(sys.argv[2]).read_text()):
    film.set(cv2.CAP_PROP_POS_FRAMES, number)
    ok, frame = film.read()
    assert ok
    cells.append(cv2.resize(frame, (190, 107), interpolation=cv2.INTER_AREA))
cv2.imwrite(sys.argv[2] + ".jpg", cv2.vconcat([cv2.hconcat(cells[i:i+8]) for i in range(0, 64, 8)]))
"""


def measured(command: list[str]) -> tuple[float, int]:
    """CPU seconds and peak memory in MB of a child process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def make_hour(folder: Path) -> Path:
    from tests.media import loop_packets, make_film

    # Left to itself x264 finds no use for B-frames in these pictures.
    options = {"bf": "3", "b_strategy": "0", "g": "250", "preset": "veryfast", "crf": "28"}
    minute = make_film(folder / "minute.mp4", frames=1500, size=(640, 360), options=options)
    return loop_packets(minute, folder / "hour.mp4", 60)


def ffmpeg_binary(folder: Path) -> str:
    target = folder / "peers"
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(target), "imageio-ffmpeg"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return str(next((target / "imageio_ffmpeg/binaries").glob("ffmpeg-*")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("film", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        film = options.film or make_hour(folder)
        chosen = folder / "chosen.json"
        ffmpeg = ffmpeg_binary(folder)
        tile = ["-vf", "fps=64/3600,scale=190:-1,tile=8x8", "-frames:v", "1", str(folder / "tile.jpg")]
        commands = {
            "frame_grid": [sys.executable, "-c", OURS, str(film.resolve()), str(chosen)],
            "OpenCV seeking": [sys.executable, "-c", OPENCV, str(film), str(chosen)],
            "ffmpeg fps,scale,tile": [ffmpeg, "-y", "-i", str(film), *tile],
        }
        os.chdir(Path(__file__).resolve().parents[1])
        for number in range(1, options.rounds + 1):
            results = {name: measured(command) for name, command in commands.items()}
            own = results["frame_grid"][0]
            for name, (cpu, memory) in results.items():
                print(f"round {number}: {name:22} {cpu:7.2f} s CPU  {cpu / own:6.2f} x ours  {memory:5d} MB")
            subprocess.run(
                [sys.executable, "-c", SERVED, str(film.resolve()), str(chosen.with_suffix(".txt"))], check=True
            )
            served = float(chosen.with_suffix(".txt").read_text())
            tile_cpu = results["ffmpeg fps,scale,tile"][0]
            print(f"round {number}: as in a server         {served:7.2f} s CPU; ffmpeg {tile_cpu / served:6.2f} x")
        print(f"frames: {json.loads(chosen.read_text())[:4]}...")


if __name__ == "__main__":
    main()
