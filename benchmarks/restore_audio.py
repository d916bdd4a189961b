"""Echo, clipping and lost sync in one window of real speech, mended by `restore_audio`.

    python -m benchmarks.restore_audio [--media FOLDER] [--voices N] [--container wav|mp4] [--only room|clip|retime]

Echo and clipping: the verifier's composite (broken 0, clean 1), and the same without its floor, where negative is harm.
Lost sync: the lag that was found against the true one; drift: how far the mended sound still is from the clean one.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.signal import stft

from avb_mcp.workspace import Workspace
from benchmarks.denoise import outside
from benchmarks.sound_films import MEDIA, Voice, decoded, voices, write_film
from primitives._base import Call, UserError
from primitives._sound.retime import bend_of_tempos
from primitives._sound.stretch import stretched
from primitives.restore_audio import PRIMITIVE, RestoreAudioResult
from tests.sounds import (
    RATE_HZ,
    Wave,
    decaying_room,
    read_wave,
    score,
    with_clipping,
    with_room,
    with_window,
    write_wave,
)

BEST_BEFORE = {"dereverb": 0.11, "declip": 0.65}
"""The best methods' mean composites in earlier trials."""
CLIPPED_DB = (10, 15, 20)
LATE_S = (0.45, 0.6, 0.72, -0.5)
TEMPOS = (0.67, 1.55)
_SECOND, _REACH = 200, 60
"""Steps in a second, and how many of them a second is looked for on both sides."""


def written(folder: Path, name: str, wave: Wave, container: str) -> Path:
    path = folder / f"{name}.{container}"
    return write_wave(path, wave) if container == "wav" else write_film(path, wave)


def mended(folder: Path, source: Path, kind: str, **arguments: object) -> RestoreAudioResult:
    asked = {"path": source.name, "kind": kind, **arguments}
    result = PRIMITIVE.call(asked, Call(Workspace(folder))).result
    assert isinstance(result, RestoreAudioResult)
    return result


def repair(folder: Path, voice: Voice, broken: Wave, kind: str, container: str) -> tuple[float, float, str]:
    source = written(folder, "broken", broken, container)
    heard = decoded(source, len(broken))
    start_s, end_s = voice.span_s
    try:
        result = mended(folder, source, kind, start_s=start_s, end_s=end_s)
    except UserError as error:
        return 0.0, 0.0, str(error)
    made = decoded(folder / result.output, len(broken))
    composite, signed = score(voice.clean, heard, made, voice.window)
    return composite, signed, outside(source, folder / result.output, heard, made, voice.window)


def table(folder: Path, media: Path, count: int, kind: str, container: str) -> None:
    rooms = {"decay 0.8 s": decaying_room(0.8, -2, 1), "room 0.79 s": read_wave(media / "noise/rir_sim_rt60_0.79.wav")}
    cases = list(rooms) if kind == "dereverb" else [f"{gain_db} dB too loud" for gain_db in CLIPPED_DB]
    everything, harmed, speakers = [], 0, list(voices(media, count))
    for number, name in enumerate(cases):
        rows = []
        for voice in speakers:
            if kind == "dereverb":
                broken = with_room(voice.clean, voice.window, rooms[name])
            else:
                broken = with_clipping(voice.clean, voice.window, CLIPPED_DB[number])
            rows.append(repair(folder, voice, broken, kind, container))
        everything += [row[0] for row in rows]
        harmed += sum(row[1] <= 0 for row in rows)
        each, least = " ".join(f"{row[0]:.2f}" for row in rows), min(row[1] for row in rows)
        print(
            f"{kind:9s} {name:16s} {np.mean([row[0] for row in rows]):.2f} ({least:+.2f})  {each}   {rows[0][2]}",
            flush=True,
        )
    print(f"{kind}: mean {np.mean(everything):.3f} (best method before: {BEST_BEFORE[kind]}); harmed: {harmed}")


def moved(wave: Wave, late: int) -> Wave:
    made = np.zeros_like(wave)
    made[max(0, late) : len(wave) + min(0, late)] = wave[max(0, -late) : len(wave) - max(0, late)]
    return made


def worst_ms(clean: Wave, made: Wave) -> float:
    """How far seconds of a stretch lie from where they belong, by band levels: the worst of those recognised.

    Samples are no measure here: a stretched wave is another wave, and a vowel resembles itself one period on.
    """
    ours, theirs, found = _levels(made), _levels(clean), []
    for at in range(_REACH, len(theirs) - _SECOND - _REACH, _SECOND // 4):
        likenesses = [
            np.corrcoef(theirs[at : at + _SECOND].ravel(), ours[at + lag : at + lag + _SECOND].ravel())[0, 1]
            for lag in range(-_REACH, _REACH + 1)
        ]
        if max(likenesses) > 0.6:
            found.append(abs(int(np.argmax(likenesses)) - _REACH) * 1000 / _SECOND)
    return max(found, default=float("nan"))


def _levels(wave: Wave) -> Wave:
    """Levels of 24 bands every 5 ms, each about its own mean."""
    _, _, bins = stft(wave, RATE_HZ, nperseg=960, noverlap=960 - RATE_HZ // _SECOND)
    power = np.abs(bins) ** 2
    edges = np.unique(np.geomspace(2, 320, 25).astype(int))
    levels = np.stack([10 * np.log10(power[a:b].mean(axis=0) + 1e-9) for a, b in pairwise(edges)], axis=1)
    return levels - levels.mean(axis=0)


def retime(folder: Path, media: Path, count: int, container: str) -> None:
    for voice in voices(media, count):
        reference = written(folder, "reference", voice.clean, container)
        start_s, end_s = voice.span_s
        window, length = voice.window, voice.window.stop - voice.window.start
        for late_s in LATE_S:
            late = round(late_s * RATE_HZ)
            source = written(folder, "late", moved(voice.clean, late), container)
            by_reference = mended(folder, source, "retime", reference=reference.name).figures["late_s"]
            alone = mended(folder, source, "retime").figures["late_s"]
            lagging = voice.clean.copy()
            lagging[window] = voice.clean[window.start - late : window.stop - late]
            source = written(folder, "lagging", lagging, container)
            result = mended(folder, source, "retime", start_s=start_s + 0.05, end_s=end_s - 0.05)
            errors = [1000 * abs(found - late_s) for found in (by_reference, alone, result.figures["late_s"])]
            told = ", ".join(f"{one:.1f} ms" for one in errors)
            print(f"{voice.name:7s} {late_s:+.2f} s: off by (reference, alone, lagging range) {told}", flush=True)
        bend = bend_of_tempos(*TEMPOS)
        assert bend is not None
        knees = ([0, bend.ours, 1], [0, bend.theirs, 1])
        part = voice.clean[None, window].astype(np.float32)
        drifted = stretched(part, length, RATE_HZ, lambda n, k=knees, c=length: float(np.interp(n / c, *k) * c))[0]
        source = written(folder, "drift", with_window(voice.clean, window, drifted.astype(np.float64)), container)
        before = worst_ms(voice.clean[window], decoded(source, len(voice.clean))[window])
        for arguments in ({"tempos": list(TEMPOS)}, {"reference": reference.name}):
            result = mended(folder, source, "retime", start_s=start_s, end_s=end_s, **arguments)
            made = decoded(folder / result.output, len(voice.clean))
            worst = worst_ms(voice.clean[window], made[window])
            how = next(iter(arguments))
            print(
                f"{voice.name:7s} drift, {how}: worst {worst:.0f} ms (before: {before:.0f})  {result.figures}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--media", type=Path, default=MEDIA)
    parser.add_argument("--voices", type=int, default=5)
    parser.add_argument("--container", choices=["wav", "mp4"], default="wav")
    parser.add_argument("--only", choices=["room", "clip", "retime"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "work").mkdir()
        if options.only in (None, "room"):
            table(folder, options.media, options.voices, "dereverb", options.container)
        if options.only in (None, "clip"):
            table(folder, options.media, options.voices, "declip", options.container)
        if options.only in (None, "retime"):
            retime(folder, options.media, options.voices, options.container)


if __name__ == "__main__":
    main()
