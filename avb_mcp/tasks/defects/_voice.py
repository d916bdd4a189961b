"""A hesitating voice: the periods of a vowel from the film itself, laid out again for as long as it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from avb_mcp.tasks.defects._sounds import Floats, swell
from avb_mcp.tasks.footage import RATE_HZ, Sound

_PITCH_HZ = (80.0, 300.0)
_WINDOW_S, _STEP_S = 0.06, 0.02
_VOICED = 0.75
"""Likeness of one period with the next from which a sound counts as a vowel."""
_PERIODS = 4
_NASAL_FROM = 0.55
_NASAL_HZ = 450.0
_RISE_S = 0.06
_TONE_S = 0.12


@dataclass(frozen=True)
class Said:
    sound: Sound
    own_voice: bool
    """Made from the film's own sound."""


@dataclass(frozen=True)
class _Vowel:
    samples: Floats
    period: int


def um(rng: np.random.Generator, around: Sound, count: int, level: float) -> Said:
    """So many samples of a vowel that closes to a hum, in the voice that is heard around."""
    vowel = _find_vowel(around.mean(axis=0, dtype=np.float64))
    own = vowel is not None
    voice = _laid_out(rng, vowel or _made_vowel(rng), count)
    voice = _closing(voice) * swell(count, _RISE_S)
    voice *= level / (np.sqrt(np.mean(voice**2)) + 1e-12)
    return Said(np.repeat(voice[None].astype(np.float32), len(around), axis=0), own)


def room_tone(track: Sound, at: int, count: int) -> Sound:
    """What is heard in the pause at a sample, back and forth for so long."""
    half = round(_TONE_S * RATE_HZ / 2)
    rest = track[:, max(0, at - half) : at + half]
    if not rest.shape[1]:
        return np.zeros((len(track), count), np.float32)
    pair = np.concatenate([rest[:, ::-1], rest], axis=1)
    return np.tile(pair, (1, count // pair.shape[1] + 1))[:, :count]


def _find_vowel(mono: Floats) -> _Vowel | None:
    """The most regular stretch among the louder ones."""
    window, step = round(_WINDOW_S * RATE_HZ), round(_STEP_S * RATE_HZ)
    starts = range(0, len(mono) - 2 * window, step)
    power = np.array([np.mean(mono[at : at + window] ** 2) for at in starts])
    if not len(power) or power.max() < 1e-7:
        return None
    best, found = _VOICED, None
    for number in np.argsort(-power, kind="stable")[: max(1, len(power) // 4)].tolist():
        at = starts[number]
        likeness, period = _periodicity(mono[at : at + window])
        if likeness > best:
            best, found = likeness, _Vowel(mono[at : at + (_PERIODS + 1) * period], period)
    return found


def _periodicity(piece: Floats) -> tuple[float, int]:
    centred = piece - piece.mean()
    size = 1 << (2 * len(centred)).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, size)) ** 2
    shared = np.fft.irfft(spectrum, size)[: len(centred)]
    low, high = round(RATE_HZ / _PITCH_HZ[1]), round(RATE_HZ / _PITCH_HZ[0])
    period = low + int(np.argmax(shared[low:high]))
    # Fewer samples overlap at a longer lag.
    share = shared[period] / (shared[0] + 1e-12) * len(centred) / (len(centred) - period)
    return float(share), period


def _made_vowel(rng: np.random.Generator) -> _Vowel:
    period = round(RATE_HZ / rng.uniform(100, 180))
    count = (_PERIODS + 1) * period
    time_s = np.arange(count) / RATE_HZ
    pitch_hz = RATE_HZ / period
    total = np.zeros(count)
    for harmonic in range(1, 30):
        hz = harmonic * pitch_hz
        gain = np.exp(-(((hz - 600) / 180) ** 2)) + 0.4 * np.exp(-(((hz - 1200) / 220) ** 2)) + 0.02 / harmonic
        total += gain * np.sin(2 * np.pi * hz * time_s)
    return _Vowel(total, period)


def _laid_out(rng: np.random.Generator, vowel: _Vowel, count: int) -> Floats:
    """Overlapping grains of two periods, each from another place of the vowel, the pitch falling a little."""
    size = 2 * vowel.period
    window = np.hanning(size)
    made = np.zeros(count + 2 * size)
    at = 0.0
    while at < count + size:
        start = int(rng.integers(0, max(1, len(vowel.samples) // vowel.period - 2))) * vowel.period
        grain = vowel.samples[start : start + size] * window[: len(vowel.samples[start : start + size])]
        first = round(at)
        grain = grain[: len(made) - first]
        made[first : first + len(grain)] += grain
        at += vowel.period * (1 + 0.12 * at / count + 0.006 * rng.standard_normal())
    return np.asarray(made[vowel.period : vowel.period + count], np.float64)


def _closing(voice: Floats) -> Floats:
    """The second half with the lips closed: only the low part goes on."""
    pole = np.exp(-2 * np.pi * _NASAL_HZ / RATE_HZ)
    low = lfilter([1 - pole], [1, -pole], lfilter([1 - pole], [1, -pole], voice))
    share = np.clip((np.arange(len(voice)) / len(voice) - _NASAL_FROM) / 0.15, 0.0, 1.0)
    return np.asarray((1 - share) * voice + share * low, np.float64)
