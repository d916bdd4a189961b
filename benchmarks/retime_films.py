"""Sound out of step in real films of people talking, found and mended by `restore_audio` (kind retime).

    python -m benchmarks.retime_films [--media FOLDER] [--only reference|range|drift|picture]

Each film gets its own sound back, moved, as AAC beside its untouched pictures. `reference`: the whole track is late or
early, the original is given as reference. `range`: two seconds or more lag, nothing is given but roughly the range.
`drift`: the range plays at 0.67 then 1.55 of its tempo, the original is given. `picture`: nothing is given at all.
"""

from __future__ import annotations

import argparse
import tempfile
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from avb_mcp.workspace import Workspace
from benchmarks.restore_audio import LATE_S, TEMPOS, moved, worst_ms
from benchmarks.sound_films import MEDIA, decoded
from primitives._base import Call, UserError
from primitives._sound.retime import bend_of_tempos
from primitives._sound.stretch import stretched
from primitives.restore_audio import PRIMITIVE, RestoreAudioResult
from tests.sounds import RATE_HZ, Wave, read_wave, wave_frames, with_window

FILMS = (
    "talking_head/jwpIntro.mp4",
    "talking_head/movie-hello_webcam_screencast.mp4",
    "talking_head/grid_bbaf2n.mpg",
    "talking_head/grid_lwbsza.mpg",
    "talking_head/grid_sbia1a.mpg",
)


def with_sound(film: Path, path: Path, wave: Wave) -> Path:
    """The film's pictures, packet by packet, with this sound."""
    with av.open(str(film)) as source, av.open(str(path), "w") as container:
        pictures = container.add_stream_from_template(source.streams.video[0])
        sound = container.add_stream("aac", rate=RATE_HZ, layout="mono", options={"b": "128000"})
        base = source.streams.video[0].time_base or Fraction(1, 1000)
        first = round((source.streams.video[0].start_time or 0) * 1)
        for frame in wave_frames(np.atleast_2d(wave), RATE_HZ):
            container.mux(sound.encode(frame))
        container.mux(sound.encode(None))
        for packet in source.demux(video=0):
            if packet.size and packet.dts is not None:
                packet.pts, packet.dts = (packet.pts or packet.dts) - first, packet.dts - first
                packet.time_base, packet.stream = base, pictures
                container.mux(packet)
    return path


def mended(folder: Path, name: str, **arguments: object) -> RestoreAudioResult | str:
    """What the tool answers, or its refusal."""
    try:
        result = PRIMITIVE.call({"path": name, "kind": "retime", **arguments}, Call(Workspace(folder))).result
    except UserError as error:
        return str(error)
    assert isinstance(result, RestoreAudioResult)
    return result


def told(result: RestoreAudioResult | str, late_s: float) -> str:
    if isinstance(result, str):
        return f"refused ({result[:60]}...)"
    return f"off by {1000 * abs(result.figures['late_s'] - late_s):.1f} ms"


def reference(folder: Path, film: Path, clean: Wave) -> None:
    with_sound(film, folder / "reference.mkv", clean)
    for late_s in LATE_S:
        with_sound(film, folder / "late.mkv", moved(clean, round(late_s * RATE_HZ)))
        result = mended(folder, "late.mkv", reference="reference.mkv")
        print(f"{film.name:36s} whole {late_s:+.2f} s: {told(result, late_s)}", flush=True)


def window_of(clean: Wave) -> slice:
    """The middle: a third, two seconds at least."""
    length = min(len(clean) - 2 * RATE_HZ, max(2 * RATE_HZ, len(clean) // 3))
    start = (len(clean) - length) // 2
    return slice(start, start + length)


def lagging(folder: Path, film: Path, clean: Wave) -> None:
    window = window_of(clean)
    if window.start < RATE_HZ or window.stop - window.start < 2 * RATE_HZ:
        return
    for late_s in LATE_S:
        late, broken = round(late_s * RATE_HZ), clean.copy()
        broken[window] = clean[window.start - late : window.stop - late]
        with_sound(film, folder / "lag.mkv", broken)
        ends = {"start_s": window.start / RATE_HZ + 0.05, "end_s": window.stop / RATE_HZ - 0.05}
        print(f"{film.name:36s} range {late_s:+.2f} s: {told(mended(folder, 'lag.mkv', **ends), late_s)}", flush=True)


def drifting(folder: Path, film: Path, clean: Wave) -> None:
    window, bend = window_of(clean), bend_of_tempos(*TEMPOS)
    assert bend is not None
    count = window.stop - window.start
    if window.start < RATE_HZ or count < 2 * RATE_HZ:
        return
    part = clean[None, window].astype(np.float32)
    knees = ([0, bend.ours, 1], [0, bend.theirs, 1])
    drifted = stretched(part, count, RATE_HZ, lambda n: float(np.interp(n / count, *knees) * count))[0]
    with_sound(film, folder / "reference.mkv", clean)
    with_sound(film, folder / "drift.mkv", with_window(clean, window, drifted.astype(np.float64)))
    before = worst_ms(clean[window], decoded(folder / "drift.mkv", len(clean))[window])
    ends = {"start_s": window.start / RATE_HZ, "end_s": window.stop / RATE_HZ}
    for extra in ({"tempos": list(TEMPOS)}, {"reference": "reference.mkv"}):
        result = mended(folder, "drift.mkv", **ends, **extra)
        if isinstance(result, str):
            print(f"{film.name:36s} drift, {next(iter(extra))}: refused ({result[:60]}...)", flush=True)
            continue
        made = decoded(folder / result.output, len(clean))
        worst = worst_ms(clean[window], made[window])
        print(f"{film.name:36s} drift, {next(iter(extra))}: worst {worst:.0f} ms (before {before:.0f})", flush=True)


def picture(folder: Path, film: Path, clean: Wave) -> None:
    noise = np.random.default_rng(0).standard_normal(len(clean)) * 10 ** (-66 / 20)  # no digital silence gives it away
    for late_s in (0.0, *LATE_S):
        with_sound(film, folder / "alone.mkv", moved(clean, round(late_s * RATE_HZ)) + noise)
        print(f"{film.name:36s} alone {late_s:+.2f} s: {told(mended(folder, 'alone.mkv'), late_s)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--media", type=Path, default=MEDIA)
    parser.add_argument("--only", choices=["reference", "range", "drift", "picture"])
    options = parser.parse_args()
    parts = {"reference": reference, "range": lagging, "drift": drifting, "picture": picture}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "work").mkdir()
        for name in FILMS:
            clean = read_wave(options.media / name)[: 20 * RATE_HZ]
            for part, measure in parts.items():
                if options.only in (None, part):
                    measure(folder, options.media / name, clean)


if __name__ == "__main__":
    main()
