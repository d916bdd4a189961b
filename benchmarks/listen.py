"""`listen` of an hour of sound: CPU time against only decoding it, and its figures against libav's own meter.

    python benchmarks/listen.py [file] [--rounds 3]

Without a file it makes one: an hour of AAC, 48 kHz stereo and mono, a minute of noise bursts over and over. Both run
in one process after their imports, in turn, so that load on the machine meets both.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

RATE_HZ = 48_000


def cpu_s(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def decode(path: Path) -> None:
    with av.open(str(path)) as container:
        for _ in container.decode(audio=0):
            pass


def make_hour(folder: Path, layout: str) -> Path:
    channels = len(av.AudioLayout(layout).channels)
    rng = np.random.default_rng(1)
    swell = np.abs(np.sin(np.arange(60 * RATE_HZ) / RATE_HZ * 4)) ** 3
    wave = (rng.normal(0, 0.1, (channels, 60 * RATE_HZ)) * (0.02 + swell)).astype(np.float32)
    minute, hour = folder / f"minute_{layout}.m4a", folder / f"hour_{layout}.m4a"
    with av.open(str(minute), "w") as container:
        stream = container.add_stream("aac", rate=RATE_HZ, layout=layout, options={"b": f"{64_000 * channels}"})
        for at in range(0, wave.shape[1], 1024):
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(wave[:, at : at + 1024]), "fltp", layout)
            frame.sample_rate, frame.pts, frame.time_base = RATE_HZ, at, Fraction(1, RATE_HZ)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with av.open(str(minute)) as source, av.open(str(hour), "w") as container:
        stream = source.streams.audio[0]
        copy = container.add_stream_from_template(stream)
        packets = [packet for packet in source.demux(stream) if packet.size]
        times = [(packet.pts, packet.dts) for packet in packets]
        length = sum(packet.duration for packet in packets)
        for turn in range(60):
            for packet, (pts, dts) in zip(packets, times, strict=True):
                packet.stream, packet.time_base = copy, stream.time_base
                packet.pts, packet.dts = pts + turn * length, dts + turn * length
                container.mux(packet)
    return hour


def main() -> None:
    from avb_mcp.workspace import Workspace
    from primitives._base import Call
    from primitives._media.loudness import measure_loudness
    from primitives.registry import by_name

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        paths = [options.file] if options.file else [make_hour(Path(scratch), layout) for layout in ("stereo", "mono")]
        for path in paths:
            tool, workspace = by_name()["listen"], Workspace(path.resolve().parent)

            def listen(path: Path = path) -> object:
                return tool.call({"path": path.name}, Call(workspace)).result  # noqa: B023

            result = listen()  # imports
            ratios = []
            for number in range(1, options.rounds + 1):
                plain_s, ours_s = cpu_s(lambda: decode(path)), cpu_s(listen)  # noqa: B023
                ratios.append(ours_s / plain_s)
                figures = f"decoding {plain_s:.2f}, listen {ours_s:.2f} s CPU: {ratios[-1]:.2f} x"
                print(f"round {number}: {path.name}: {figures}")
            clip = result.clips[0]
            print(
                f"{path.name}: median {np.median(ratios):.2f} x; {clip.loudness_lufs} LUFS, {clip.true_peak_dbtp} dBTP"
            )
            print(f"{path.name}: libav's meter: {measure_loudness(path, path.name, lambda: None)}")


if __name__ == "__main__":
    main()
