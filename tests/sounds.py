"""Sound whose truth is known: real speech where there is any, defects put into one window, and how it is judged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve, resample_poly

from verifiers.video_repair.schema import Anchor
from verifiers.video_repair.scoring import audio_inside
from verifiers.video_repair.sound import RATE_HZ as JUDGED_HZ
from verifiers.video_repair.sound import measure_inside

Wave = NDArray[np.float64]
RATE_HZ = 48_000
JOIN_S = 0.010
"""A defect fades in and out over so many seconds inside its window."""
NOISES = ("white", "pink", "brown")


def read_wave(path: Path, rate_hz: int = RATE_HZ) -> Wave:
    """A file's sound, mixed to mono, at a rate."""
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=rate_hz)
    with av.open(str(path)) as container:
        frames = [made for frame in container.decode(audio=0) for made in resampler.resample(frame)]
        frames += resampler.resample(None)
    return np.concatenate([frame.to_ndarray()[0] for frame in frames]).astype(np.float64)


def speech(paths: list[Path], seconds: float, pause_s: float = 0.25) -> Wave:
    """Utterances one after another at one level, with a little room tone, as 16-bit samples hold it."""
    room = np.random.default_rng(len(paths))
    parts: list[Wave] = []
    for path in paths:
        wave = read_wave(path)
        parts += [
            wave * 10 ** (-20 / 20) / max(1e-9, float(np.sqrt(np.mean(wave**2)))),
            np.zeros(round(pause_s * RATE_HZ)),
        ]
        if sum(map(len, parts)) >= seconds * RATE_HZ:
            break
    whole = np.concatenate(parts)[: round(seconds * RATE_HZ)]
    whole = whole + room.standard_normal(len(whole)) * 10 ** (-68 / 20)
    peak = float(np.abs(whole).max())
    return rounded(whole * (0.7 / peak if peak > 0.7 else 1.0))


def voice(seconds: float, rate_hz: int = RATE_HZ, seed: int = 0) -> Wave:
    """Something like a voice, without any recording: syllables of harmonics that glide, with breath between them."""
    chance = np.random.default_rng(seed)
    count = round(seconds * rate_hz)
    time_s = np.arange(count) / rate_hz
    pitch_hz = (
        120 + 30 * np.sin(2 * np.pi * 0.7 * time_s + chance.uniform(0, 6)) + 10 * np.sin(2 * np.pi * 2.3 * time_s)
    )
    phase = 2 * np.pi * np.cumsum(pitch_hz) / rate_hz
    formant_hz = 900 + 500 * np.sin(2 * np.pi * 1.9 * time_s)
    made = np.zeros(count)
    for number in range(1, 25):
        made += np.sin(number * phase) * np.exp(-(((number * pitch_hz - formant_hz) / 700) ** 2)) / np.sqrt(number)
    starts = np.cumsum(chance.uniform(0.18, 0.42, round(6 * seconds) + 2))
    open_ = np.zeros(count)
    for start in starts[starts < seconds - 0.05]:
        length = chance.uniform(0.1, 0.2)
        part = np.clip((time_s - start) / length, 0, 1)
        open_ = np.maximum(open_, np.sin(np.pi * part) ** 0.7 * chance.uniform(0.5, 1))
    breath = chance.standard_normal(count) * 10 ** (-62 / 20)
    return rounded(0.3 * made * open_ / max(1e-9, float(np.abs(made).max())) + breath)


def rounded(wave: Wave) -> Wave:
    """As 16-bit samples hold it."""
    return np.clip(np.round(wave * 32768), -32768, 32767) / 32768


def coloured_noise(kind: str, count: int, seed: int) -> Wave:
    """White, pink or brown noise of level 1."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
    falling = np.maximum(np.arange(len(spectrum)) * RATE_HZ / count, 20.0) / 20.0
    made = np.fft.irfft(spectrum / falling ** {"white": 0.0, "pink": 0.5, "brown": 1.0}[kind], count)
    return made / float(np.sqrt(np.mean(made**2)))


def with_window(clean: Wave, window: slice, changed: Wave) -> Wave:
    """The clean sound with a changed window, crossing at its ends."""
    fade = round(JOIN_S * RATE_HZ)
    share = np.ones(len(changed))
    share[:fade], share[-fade:] = np.linspace(0, 1, fade), np.linspace(1, 0, fade)
    made = clean.copy()
    made[window] = clean[window] * (1 - share) + changed * share
    return rounded(made)


def with_noise(clean: Wave, window: slice, noise: Wave, snr_db: float) -> Wave:
    part = clean[window]
    scaled = noise[: len(part)] * np.sqrt(np.mean(part**2) / np.mean(noise[: len(part)] ** 2)) * 10 ** (-snr_db / 20)
    return with_window(clean, window, part + scaled)


def with_room(clean: Wave, window: slice, response: Wave) -> Wave:
    """The window heard in a room, at its own level; the direct sound stays in time."""
    direct = int(np.argmax(np.abs(response)))
    part = clean[window]
    wet = fftconvolve(part, response * np.sign(response[direct]))[direct : direct + len(part)]
    return with_window(clean, window, wet * np.sqrt(np.mean(part**2) / np.mean(wet**2)))


def decaying_room(rt_s: float, direct_db: float, seed: int) -> Wave:
    """A room's response as decaying noise after the direct sound."""
    count = round(1.2 * rt_s * RATE_HZ)
    tail = np.random.default_rng(seed).standard_normal(count) * 10 ** (-3 * np.arange(count) / RATE_HZ / rt_s)
    tail[: round(0.002 * RATE_HZ)] = 0
    tail *= 10 ** (-direct_db / 20) / float(np.sqrt((tail**2).sum()))
    tail[0] = 1
    return tail


def with_clipping(clean: Wave, window: slice, gain_db: float) -> Wave:
    """The window played too loud: beyond full scale it is cut."""
    return with_window(clean, window, np.clip(clean[window] * 10 ** (gain_db / 20), -1, 1))


def score(clean: Wave, broken: Wave, repaired: Wave, window: slice) -> tuple[float, float]:
    """The verifier's composite inside the window, and the same without its floor at the broken input.

    The second is the weighted sum of the unclipped shares of the way from broken to clean: negative is harm.
    """
    at16 = [resample_poly(wave[window], JUDGED_HZ, RATE_HZ) for wave in (clean, broken, repaired)]
    golden, before, after = (
        measure_inside(at16[0], at16[0]),
        measure_inside(at16[0], at16[1]),
        measure_inside(at16[0], at16[2]),
    )
    anchors = {name: Anchor(broken=before[name], golden=golden[name]) for name in golden}
    signed = sum(
        weight * (after[name] - before[name]) / max(1e-6, golden[name] - before[name])
        for name, weight in (("nsim", 0.4), ("estoi", 0.3), ("sdr_db", 0.3))
    )
    return audio_inside(after, anchors), signed


def write_wave(path: Path, waves: NDArray[np.float64], rate_hz: int = RATE_HZ, codec: str = "pcm_s16le") -> Path:
    """A file with sound only; `waves` is `[channels, samples]` or one channel."""
    layouts = {1: "mono", 2: "stereo", 6: "5.1"}
    data = np.atleast_2d(waves)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate_hz, layout=layouts[len(data)])
        for frame in wave_frames(data, rate_hz):
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def wave_frames(data: NDArray[np.float64], rate_hz: int) -> list[av.AudioFrame]:
    layouts = {1: "mono", 2: "stereo", 6: "5.1"}
    made = []
    for at in range(0, data.shape[1], 4096):
        part = np.ascontiguousarray(data[:, at : at + 4096], np.float32)
        frame = av.AudioFrame.from_ndarray(part, format="fltp", layout=layouts[len(data)])
        frame.sample_rate, frame.time_base, frame.pts = rate_hz, Fraction(1, rate_hz), at
        made.append(frame)
    return made
