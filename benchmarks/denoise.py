"""Noise put into one window of real speech, taken out by `denoise`: the verifier's composite, sound outside, speed.

    python -m benchmarks.denoise [--media FOLDER] [--voices N] [--container wav|mp4] [--only sound|speed|video]

For each noise and signal-to-noise ratio: the composite (broken 0, clean 1) and the same without its floor at 0, where
negative is harm. `outside` is what differs from the broken file beyond the window: for PCM the number of samples, for
AAC the packets that are not bit-identical and the SI-SDR before and after the window: played through from the film's
start, and played from behind the window. They differ where the decoder makes up noise from all it has decoded before.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np

from avb_mcp.workspace import Workspace
from benchmarks.sound_films import (
    MEDIA,
    Voice,
    babble,
    decoded,
    decoded_from,
    same_packets,
    si_sdr_db,
    voices,
    write_film,
)
from primitives._base import Call, UserError
from primitives.denoise import PRIMITIVE, DenoiseResult
from tests.sounds import NOISES, RATE_HZ, Wave, coloured_noise, score, with_noise, write_wave

BEST_BEFORE = 0.40
"""The best method's mean composite in earlier trials on other noises (pink, white, hum, dishes, cafe, babble)."""


def cleaned(folder: Path, name: str, voice: Voice) -> DenoiseResult:
    start_s, end_s = voice.span_s
    arguments = {"path": name, "start_s": start_s, "end_s": end_s}
    result = PRIMITIVE.call(arguments, Call(Workspace(folder))).result
    assert isinstance(result, DenoiseResult)
    return result


def case(folder: Path, voice: Voice, broken: Wave, container: str) -> tuple[float, float, str]:
    source = folder / f"broken.{container}"
    if container == "wav":
        write_wave(source, broken)
    else:
        write_film(source, broken)
    heard = decoded(source, len(broken))
    try:
        result = cleaned(folder, source.name, voice)
    except UserError as error:
        return 0.0, 0.0, str(error)
    made = decoded(folder / result.output, len(broken))
    composite, signed = score(voice.clean, heard, made, voice.window)
    return composite, signed, outside(source, folder / result.output, heard, made, voice.window)


def outside(source: Path, output: Path, before: Wave, after: Wave, window: slice) -> str:
    """What changed beyond the window."""
    margin = 2048
    head, tail = slice(0, window.start - margin), slice(window.stop + margin, None)
    if source.suffix == ".wav":
        changed = int(np.sum(before[: window.start] != after[: window.start]))
        return f"{changed + int(np.sum(before[window.stop :] != after[window.stop :]))} samples differ"
    same, total = same_packets(source, output, "audio")
    pictures = same_packets(source, output, "video")
    levels = [si_sdr_db(before[part], after[part]) for part in (head, tail)]
    copied = f"sound {same}/{total}, picture {pictures[0]}/{pictures[1]} packets same"
    first = window.stop + margin + RATE_HZ
    fresh = [decoded_from(path, first, len(before)) for path in (source, output)]
    anew, itself = si_sdr_db(*fresh), si_sdr_db(before[first:], fresh[0])
    return (
        f"{copied}, SI-SDR before {levels[0]:.0f}, after {levels[1]:.0f} dB played through, {anew:.0f} dB played from "
        f"behind the window (the broken file against itself, played both ways: {itself:.0f} dB)"
    )


def sound(folder: Path, media: Path, count: int, container: str) -> None:
    everything, harmed = [], 0
    speakers = list(voices(media, count))
    print("noise   SNR   mean  (least, without floor)  each")
    for kind in (*NOISES, "babble"):
        for snr_db in (0, 5, 10):
            rows = []
            for number, voice in enumerate(speakers):
                length = voice.window.stop - voice.window.start
                noise = babble(media, length, number) if kind == "babble" else coloured_noise(kind, length, number)
                rows.append(case(folder, voice, with_noise(voice.clean, voice.window, noise, snr_db), container))
            everything += [row[0] for row in rows]
            harmed += sum(row[1] <= 0 for row in rows)
            each = " ".join(f"{row[0]:.2f}" for row in rows)
            mean, least = np.mean([row[0] for row in rows]), min(row[1] for row in rows)
            print(f"{kind:7s} {snr_db:3d}  {mean:5.2f}  ({least:+.2f})  {each}   {rows[0][2]}", flush=True)
    print(
        f"mean {np.mean(everything):.3f} over {len(everything)} (best method before: {BEST_BEFORE}); harmed: {harmed}"
    )


def speed(folder: Path, media: Path) -> None:
    """A minute of noisy speech, judged and cleaned in one call, in CPU time."""
    voice = next(voices(media, 1))
    minute = np.tile(voice.clean, 3)[: 70 * RATE_HZ]
    window = slice(5 * RATE_HZ, 65 * RATE_HZ)
    broken = with_noise(minute, window, coloured_noise("pink", 60 * RATE_HZ, 0), 5)
    write_wave(folder / "minute.wav", broken)
    write_wave(folder / "stereo.wav", np.stack([broken, 0.8 * broken]))
    other = with_noise(minute, window, coloured_noise("pink", 60 * RATE_HZ, 1), 5)
    write_wave(folder / "two_noises.wav", np.stack([broken, other]))
    for name in ("minute.wav", "stereo.wav", "two_noises.wav", "minute.wav", "two_noises.wav"):
        began = time.process_time()
        cleaned(folder, name, Voice("minute", minute, window))
        print(f"{name}: {60 / (time.process_time() - began):.1f} x real time (CPU)", flush=True)


def video(folder: Path, media: Path) -> None:
    """Grain added to one window of real clips: PSNR against the clean film."""
    from benchmarks.color_match import CLIPS, WINDOW, in_rgb, take
    from tests.scenery import psnr_db, write

    inside = slice(WINDOW.start, WINDOW.stop)
    for name, first in CLIPS[:4]:
        truth = take(media / name, first)
        for sigma in (4.0, 8.0, 12.0):
            chance = np.random.default_rng(0)
            broken = list(truth)
            for number in WINDOW:
                grain = cv2.GaussianBlur(chance.standard_normal(truth[number].shape[:2]), (0, 0), 0.6)
                grain *= sigma / grain.std()
                broken[number] = np.clip(truth[number] + grain[..., None], 0, 255).astype(np.uint8)
            source = write(folder / "grain.mp4", broken, crf=10, group=25)
            before = psnr_db(in_rgb(source)[inside], truth[inside])
            arguments = {
                "path": source.name, "target": "video", "start_s": WINDOW.start / 25, "end_s": WINDOW.stop / 25,
            }  # fmt: skip
            try:
                result = PRIMITIVE.call(arguments, Call(Workspace(folder))).result
            except UserError as error:
                print(f"{name:32s} sigma {sigma:4.0f}  {error}")
                continue
            assert isinstance(result, DenoiseResult)
            after = psnr_db(in_rgb(folder / result.output)[inside], truth[inside])
            print(f"{name:32s} sigma {sigma:4.0f}  {before:.1f} -> {after:.1f} dB  {result.figures}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--media", type=Path, default=MEDIA)
    parser.add_argument("--voices", type=int, default=5)
    parser.add_argument("--container", choices=["wav", "mp4"], default="wav")
    parser.add_argument("--only", choices=["sound", "speed", "video"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "work").mkdir()
        if options.only in (None, "sound"):
            sound(folder, options.media, options.voices, options.container)
        if options.only in (None, "speed"):
            speed(folder, options.media)
        if options.only in (None, "video"):
            video(folder, options.media)


if __name__ == "__main__":
    main()
