"""How much of real AAC sound a decoder makes up: the same packets decoded twice by one decoder, compared.

    python benchmarks/aac_noise.py [--media FOLDER] [--seconds 60]

Where an encoder left only the level of a noise, the decoder fills it from a chain of random numbers that goes on from
all it decoded before. The second and the third time that one decoder hears the same packets differ by nothing else.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import av
import av.error
import numpy as np
from numpy.typing import NDArray

MEDIA = Path(__file__).resolve().parents[2] / "shared" / "media"
ENDINGS = {".mp4", ".m4a", ".m4v", ".mov", ".mkv", ".flv", ".ts"}
PACKET = 1024
UNSTEADY = 2
"""Frames at the beginning that still hold what was decoded before."""


def packets_of(path: Path, seconds: float) -> tuple[av.AudioStream, list[bytes]] | None:
    """The first packets of a file's AAC; None where it has none."""
    try:
        with av.open(str(path)) as container:
            stream = container.streams.audio[0] if container.streams.audio else None
            if stream is None or stream.codec_context.name != "aac":
                return None
            most = int(seconds * stream.codec_context.sample_rate / PACKET)
            packets = [bytes(packet) for packet, _ in zip(container.demux(stream), range(most), strict=False)]
            return stream, [packet for packet in packets if packet]
    except av.error.FFmpegError:
        return None


def decoded(decoder: av.AudioCodecContext, packets: list[bytes]) -> NDArray[np.float32]:
    frames = [frame.to_ndarray() for packet in packets for frame in decoder.decode(av.Packet(packet))]
    return np.concatenate(frames[UNSTEADY:], axis=1)


def made_up_db(stream: av.AudioStream, packets: list[bytes]) -> float | None:
    """How far the sound lies above what is made up; None where nothing is."""
    decoder = av.CodecContext.create("aac", "r")
    decoder.extradata = stream.codec_context.extradata
    _, once, again = (decoded(decoder, packets).astype(np.float64) for _ in range(3))
    error = float(np.sum((once - again) ** 2))
    return float(10 * np.log10(np.sum(once**2) / error)) if error else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--media", type=Path, default=MEDIA)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    levels = []
    for path in sorted(one for one in options.media.rglob("*") if one.suffix.lower() in ENDINGS):
        found = packets_of(path, options.seconds)
        if found is None or len(found[1]) <= 2 * UNSTEADY:
            continue
        level = made_up_db(*found)
        levels.append(level)
        told = "bit for bit the same" if level is None else f"{level:.1f} dB"
        print(f"{path.relative_to(options.media)}  {found[0].codec_context.profile}  {told}", flush=True)
    same, fine = sum(level is None for level in levels), sum(level is None or level >= 50 for level in levels)
    print(f"{len(levels)} tracks: {same} without made-up noise, {fine} at 50 dB or better")


if __name__ == "__main__":
    main()
