"""CPU time of `verifiers.video_repair_v3` against a straightforward peer, same pair, same run, as a ratio.

    python benchmarks/repair_v3_speed.py [--seconds 60] [--rounds 3] [--footage film.mp4]

The peer (`repair_v3_peer.py`) uses scikit-image's SSIM and one ffmpeg process per chunk; the ffmpeg binary
comes from PyPI's imageio-ffmpeg, installed into a scratch environment. The pair is 720p at 30 fps: a source,
and a re-encode of it with a colour shift left in for 3 s, 1 s of pictures three frames late and noise on the
sound.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, repeat
from pathlib import Path

import av
import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
MEDIA = Path(os.environ.get("AVB_TEST_MEDIA", ROOT.parent / "shared" / "media"))
WIDTH, HEIGHT, FPS, RATE_HZ = 1280, 720, 30, 48_000
WINDOW_S = (22.0, 25.0)
LATE_S, LATE_FRAMES = (41.0, 42.0), 3
TARGET_RATIO, TARGET_DIFFERENCE = 8.0, 0.002


def scratch_ffmpeg(folder: Path) -> str:
    """Path of imageio-ffmpeg's binary in an environment of its own."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "imageio-ffmpeg"], check=True)
    ask = "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())"
    return subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()


def footage(path: Path | None) -> Iterator[np.ndarray]:
    """720p pictures without end: the film over and over, or moving shapes when there is no film."""
    if path is None or not path.exists():
        rng = np.random.default_rng(1)
        field = cv2.resize(rng.integers(0, 256, (120, 400, 3), np.uint8), (WIDTH * 3, HEIGHT))
        return (np.roll(field, -5 * number, axis=1)[:, :WIDTH] for number in range(1 << 30))

    def film(_: None) -> Iterator[np.ndarray]:
        with av.open(str(path)) as container:
            for frame in container.decode(video=0):
                yield cv2.resize(frame.to_ndarray(format="bgr24"), (WIDTH, HEIGHT))

    return chain.from_iterable(map(film, repeat(None)))


def write_pair(folder: Path, film: Path | None, seconds: int) -> tuple[Path, Path]:
    source, fixed = folder / "source.mp4", folder / "fixed.mp4"
    rng = np.random.default_rng(2)
    time_s = np.arange(seconds * RATE_HZ) / RATE_HZ
    sound = 0.2 * np.sin(2 * np.pi * 300 * time_s * (1 + 0.2 * np.sin(time_s)))
    sound += 0.05 * rng.standard_normal(sound.size)
    noisy = sound + 0.1 * rng.standard_normal(sound.size) * ((time_s >= WINDOW_S[0]) & (time_s < WINDOW_S[1]))
    encode(source, pictures(film, seconds, damaged=False), sound, crf=16)
    encode(fixed, pictures(film, seconds, damaged=True), noisy, crf=20)
    return source, fixed


def pictures(film: Path | None, seconds: int, *, damaged: bool) -> Iterator[np.ndarray]:
    held: list[np.ndarray] = []
    for number, picture in zip(range(seconds * FPS), footage(film), strict=False):
        held = [*held[-LATE_FRAMES:], picture]
        if damaged and WINDOW_S[0] <= number / FPS < WINDOW_S[1]:
            picture = cv2.convertScaleAbs(picture * np.array([1.09, 0.98, 0.91]))
        elif damaged and LATE_S[0] <= number / FPS < LATE_S[1]:
            picture = held[0]
        yield picture


def encode(path: Path, frames: Iterator[np.ndarray], sound: np.ndarray, *, crf: int) -> None:
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=FPS, options={"crf": str(crf), "preset": "veryfast"})
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        audio = container.add_stream("aac", rate=RATE_HZ, layout="mono")
        for bgr in frames:
            container.mux(video.encode(av.VideoFrame.from_ndarray(bgr, format="bgr24")))
        container.mux(video.encode(None))
        samples = av.AudioFrame.from_ndarray(sound.astype(np.float32)[None], format="fltp", layout="mono")
        samples.sample_rate, samples.time_base, samples.pts = RATE_HZ, Fraction(1, RATE_HZ), 0
        container.mux(audio.encode(samples))
        container.mux(audio.encode(None))


def cpu_time(command: list[str]) -> tuple[float, dict]:
    """CPU seconds of a process and all its children, and the JSON it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used_s, json.loads(done.stdout)


def commands(folder: Path, source: Path, fixed: Path, ffmpeg: str, seconds: int) -> tuple[list[str], list[str]]:
    profile, report = folder / "profile.json", folder / "report.md"
    injection = {
        "variant": "v01_frozen_scene",
        "start_s": WINDOW_S[0],
        "end_s": WINDOW_S[1],
        "target_scene": {"start_s": 0.0, "end_s": seconds},
    }
    profile.write_text(json.dumps({"format": {"duration_s": seconds}, "injection": injection}))
    report.write_text(f"## Diagnosis\n- start: {WINDOW_S[0]}\n- end: {WINDOW_S[1]}\n")
    pair = ["--fixed", str(fixed), "--source", str(source)]
    ours = [sys.executable, "-m", "verifiers.video_repair_v3.runner", *pair]
    ours += ["--report", str(report), "--profile", str(profile)]
    peer = [sys.executable, str(ROOT / "benchmarks" / "repair_v3_peer.py"), *pair, "--ffmpeg", ffmpeg]
    peer += ["--width", str(WIDTH), "--height", str(HEIGHT), "--fps", str(FPS), "--duration-s", str(seconds)]
    peer += ["--start-s", str(WINDOW_S[0]), "--end-s", str(WINDOW_S[1])]
    return ours, peer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--footage", type=Path, default=MEDIA / "film" / "bbb_480p_30s.mp4")
    options = parser.parse_args()
    ratios, differences = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, fixed = write_pair(folder, options.footage, options.seconds)
        ffmpeg = scratch_ffmpeg(folder / "venv")
        ours, peer = commands(folder, source, fixed, ffmpeg, options.seconds)
        for number in range(options.rounds):
            ours_s, verdict = cpu_time(ours)
            peer_s, figures = cpu_time(peer)
            ratios.append(peer_s / ours_s)
            differences.append(abs(verdict["components"]["edit"] - figures["edit"]))
            print(
                f"round {number + 1}: ours {ours_s:.1f} s CPU, edit {verdict['components']['edit']:.5f}; "
                f"peer {peer_s:.1f} s CPU, edit {figures['edit']:.5f}; {ratios[-1]:.1f}x",
                flush=True,
            )
    met = min(ratios) >= TARGET_RATIO and max(differences) <= TARGET_DIFFERENCE
    print(f"at least {min(ratios):.1f}x less CPU (target {TARGET_RATIO:.0f}x)")
    print(f"edit scores within {max(differences):.5f} (target {TARGET_DIFFERENCE})")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
