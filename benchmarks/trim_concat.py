"""Ten segments cut out of a film and joined: CPU time of `trim_concat` against full re-encodes, in one run.

    python benchmarks/trim_concat.py [--segment-s 10 | --segment-s 60] [--preset veryfast | medium] [--gop 50]
                                     [--height 720] [--rounds 3]

The film is made here: panning texture with scene changes, B-frames, an IDR picture every `--gop` frames, sound;
every frame carries its number. The peer is ffmpeg (PyPI package imageio-ffmpeg, installed into a scratch folder): one
accurate seek for each segment, the concat filter, x264 at the same quality (crf 18), AAC. Each runs in a process of
its own. Afterwards: every frame of the edit is read and compared, with libav, OpenCV and ffmpeg.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.edits import decoded, numbers, opencv_numbers  # noqa: E402
from tests.media import BITS  # noqa: E402

FPS, RATE_HZ, LOOP_FRAMES, SEGMENTS = 25, 48_000, 1600, 10
OURS = """
import json, sys
from pathlib import Path
from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives.registry import by_name
folder = Path(sys.argv[1])
arguments = json.loads((folder / "edit.json").read_text())
result = by_name()["trim_concat"].call(arguments, Call(Workspace(folder))).result
(folder / "result.json").write_text(result.model_dump_json())
"""


def make_film(path: Path, height: int, gop: int, loops: int) -> None:
    """64 s of film, encoded once and repeated packet by packet."""
    width = height * 8 // 9 * 2
    once = path.with_name("once.mp4")
    chance = np.random.default_rng(7)
    options = {"g": str(gop), "keyint_min": str(gop), "sc_threshold": "0", "bf": "3", "preset": "veryfast", "crf": "20"}
    with av.open(str(once), "w") as container:
        video = container.add_stream("libx264", rate=FPS, options=options)
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        sound = container.add_stream("aac", rate=RATE_HZ, layout="stereo")
        for number in range(LOOP_FRAMES):
            if number % 160 == 0:
                small = chance.integers(0, 255, (height // 10, width // 8, 3), dtype=np.uint8)
                texture = cv2.resize(small, (width * 2, height + 200), interpolation=cv2.INTER_CUBIC)
                texture = cv2.add(texture, chance.integers(0, 12, texture.shape, dtype=np.uint8))
            left, top = number % 160 * width // 200, number % 160
            picture = texture[top : top + height, left : left + width].copy()
            for bit in range(BITS):
                on = number >> (BITS - 1 - bit) & 1
                picture[height * 3 // 4 :, bit * width // BITS : (bit + 1) * width // BITS] = 235 if on else 20
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        wave = (chance.normal(0, 0.1, (2, LOOP_FRAMES * RATE_HZ // FPS))).astype(np.float32)
        for at in range(0, wave.shape[1], 1024):
            chunk = av.AudioFrame.from_ndarray(np.ascontiguousarray(wave[:, at : at + 1024]), "fltp", "stereo")
            chunk.sample_rate, chunk.time_base, chunk.pts = RATE_HZ, Fraction(1, RATE_HZ), at
            container.mux(sound.encode(chunk))
        container.mux(sound.encode(None))
    repeat(once, path, loops)


def repeat(source: Path, destination: Path, loops: int) -> None:
    with av.open(str(source)) as first, av.open(str(destination), "w") as container:
        streams = {s.index: container.add_stream_from_template(s) for s in first.streams}
        end = Fraction(LOOP_FRAMES, FPS)
        packets = [(p, p.stream, p.pts, p.dts) for p in first.demux() if p.size and 0 <= p.pts * p.time_base < end]
        for turn in range(loops):
            for packet, stream, pts, dts in packets:
                length = round(end / stream.time_base)
                packet.stream, packet.time_base = streams[stream.index], stream.time_base
                packet.pts, packet.dts = pts + turn * length, dts + turn * length
                container.mux(packet)


def choose(total: int, frames: int) -> list[tuple[int, int]]:
    """Ten segments that start anywhere, not in order."""
    chance = np.random.default_rng(3)
    starts = [int(chance.integers(0, total - frames - 30)) for _ in range(SEGMENTS)]
    return [(start, start + frames + int(chance.integers(0, 25))) for start in starts]


def measured(command: list[str]) -> tuple[float, int]:
    """CPU seconds and peak memory in MB of a child process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def ffmpeg_binary(folder: Path) -> str:
    target = folder / "peers"
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(target), "imageio-ffmpeg"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return str(next((target / "imageio_ffmpeg/binaries").glob("ffmpeg-*")))


def full_encode(ffmpeg: str, film: Path, cuts: list[tuple[int, int]], preset: str, output: Path) -> list[str]:
    inputs = [w for a, b in cuts for w in ("-ss", f"{a / FPS:.3f}", "-t", f"{(b - a) / FPS:.3f}", "-i", str(film))]
    graph = "".join(f"[{n}:v][{n}:a]" for n in range(len(cuts))) + f"concat=n={len(cuts)}:v=1:a=1[v][a]"
    coding = ["-c:v", "libx264", "-preset", preset, "-crf", "18", "-c:a", "aac", "-b:a", "192k"]
    return [ffmpeg, "-y", *inputs, "-filter_complex", graph, "-map", "[v]", "-map", "[a]", *coding, str(output)]


def check(folder: Path, film: Path, cuts: list[tuple[int, int]], ffmpeg: str) -> None:
    """Every frame, read by three players; and how many are bit for bit the source's."""
    output = folder / "work/edit.mp4"
    wanted = [number % LOOP_FRAMES for a, b in cuts for number in range(a, b)]
    print(f"frame-exact, {len(wanted)} frames: libav {numbers(output) == wanted},", end=" ", flush=True)
    print(f"OpenCV {opencv_numbers(output) == wanted},", end=" ", flush=True)
    null = subprocess.run([ffmpeg, "-v", "info", "-i", str(output), "-f", "null", "-"], capture_output=True, text=True)
    counted = re.findall(r"frame=\s*(\d+)", null.stderr)
    complaints = len(re.findall(r"(?i)error|invalid|missing", null.stderr))
    print(f"ffmpeg {int(counted[-1]) == len(wanted)} ({complaints} complaints)")
    result = json.loads((folder / "result.json").read_text())
    if len(wanted) <= 4000:  # the whole of both in memory
        source = {number: picture for number, (_, picture) in enumerate(decoded(folder / "once.mp4"))}
        same = sum(np.array_equal(source[n], p) for n, (_, p) in zip(wanted, decoded(output), strict=True))
        print(f"bit for bit the source's: {same}", end=", ")
    print(f"copied {result['frames_copied']}, encoded {result['frames_encoded']}; {film.stat().st_size >> 20} MB film")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segment-s", type=int, default=10)
    parser.add_argument("--preset", default="veryfast")
    parser.add_argument("--gop", type=int, default=50)
    parser.add_argument("--height", type=int, default=720)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "work").mkdir()
        film, loops = folder / "film.mp4", 3 if options.segment_s <= 30 else 12
        make_film(film, options.height, options.gop, loops)
        cuts = choose(LOOP_FRAMES * loops, options.segment_s * FPS)
        segments = [{"start_s": a / FPS, "end_s": b / FPS} for a, b in cuts]
        edit = {"path": "film.mp4", "segments": segments, "output": "work/edit.mp4"}
        (folder / "edit.json").write_text(json.dumps(edit))
        ffmpeg = ffmpeg_binary(folder)
        os.chdir(ROOT)
        commands = {
            "trim_concat": [sys.executable, "-c", OURS, str(folder)],
            f"ffmpeg x264 {options.preset}": full_encode(ffmpeg, film, cuts, options.preset, folder / "peer.mp4"),
        }
        for number in range(1, options.rounds + 1):
            results = {name: measured(command) for name, command in commands.items()}
            own = results["trim_concat"][0]
            for name, (cpu, memory) in results.items():
                print(f"round {number}: {name:22} {cpu:7.2f} s CPU  {cpu / own:6.2f} x ours  {memory:5d} MB")
        check(folder, film, cuts, ffmpeg)


if __name__ == "__main__":
    main()
