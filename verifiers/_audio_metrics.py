"""How close a sound is to its reference: similarity, intelligibility, fidelity, level, timing.

All functions take mono float arrays of the same rate. PESQ-like measures forgive gain and delay, so level and
lag are functions of their own here and every caller decides on them separately.

- `nsim`: similarity of two ERB-band spectrograms, the idea of ViSQOL's neurogram similarity in few lines;
- `stoi`: short-time objective intelligibility, plain or extended (package `pystoi`, extra `verify`);
- `sdr_db`: scale-dependent signal-to-distortion ratio;
- `best_lag`, `shifted`, `best_fraction`, `advanced`: one delay, found and taken out;
- `block_agreement`: normalised correlation per block; a changed level or a filled silence is damage.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Floats = npt.NDArray[np.float64]

# The spectrogram that NSIM compares, at 16 kHz.
NSIM_RATE_HZ = 16000
NSIM_FFT = 512
NSIM_HOP = 160
NSIM_BANDS = 32
NSIM_LOW_HZ, NSIM_HIGH_HZ = 80.0, 7600.0
NSIM_RANGE_DB = 55.0
"""What lies further than this below the reference's loud bands is inaudible and equal."""

LAG_STEPS = 16
"""Fractional lags are told apart in steps of half a sample over this."""
LAG_UPSAMPLING = 4
"""A correlation's peak is looked for in steps of a sample over this."""

SDR_FLOOR_DB, SDR_CEILING_DB = -10.0, 25.0

QUIET_DBFS = -60.0
"""A block of lower level carries nothing to correlate."""
QUIET_SLACK_DB = 10.0
"""How far above that a block may rise where the reference is quiet: codecs leave a little noise."""

LAG_STEPS = 16
"""Fractional lags are told apart in steps of half a sample over this."""
LAG_UPSAMPLING = 4
"""A correlation's peak is looked for in steps of a sample over this."""


class MetricUnavailable(Exception):
    """A package that a measure needs is not installed."""


def rms_db(sound: Samples) -> float:
    """Level in dBFS; −200 for digital silence."""
    if not len(sound):
        return -200.0
    return float(20.0 * np.log10(max(1e-10, np.sqrt(np.mean(np.square(sound, dtype=np.float64))))))


def sdr_db(reference: Samples, sound: Samples) -> float:
    """Energy of the reference over energy of the difference, bounded to what is worth telling apart."""
    signal = float(np.sum(np.square(reference, dtype=np.float64)))
    error = float(np.sum(np.square(np.asarray(sound, np.float64) - reference)))
    ratio_db = 10.0 * np.log10((signal + 1e-12) / (error + 1e-12))
    return float(np.clip(ratio_db, SDR_FLOOR_DB, SDR_CEILING_DB))


def stoi(reference: Samples, sound: Samples, rate_hz: int, *, extended: bool) -> float:
    """STOI or ESTOI in [0, 1]; 0 where there is too little speech to tell.

    ESTOI adds noise from numpy's global generator: it gets a fixed seed and the caller's state back.
    """
    try:
        from pystoi import stoi as measure
    except ImportError as error:
        raise MetricUnavailable("intelligibility needs the package pystoi: install avb-mcp[verify]") from error
    state = np.random.get_state()
    np.random.seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = float(measure(reference, sound, rate_hz, extended=extended))
    except (ValueError, np.linalg.LinAlgError):  # shorter than one analysis frame
        return 0.0
    finally:
        np.random.set_state(state)
    return float(np.clip(value, 0.0, 1.0)) if np.isfinite(value) else 0.0


def nsim(reference: Samples, sound: Samples) -> float:
    """Mean similarity of the two 16 kHz sounds' ERB spectrograms in dB; 1 when they are the same.

    The overall gain is taken out first (level is judged apart), unless there is next to no sound.
    """
    reference_power, power = _band_power(reference), _band_power(sound)
    if power.sum() > 1e-4 * reference_power.sum():
        power = power * (reference_power.sum() / power.sum())
    floor = (np.quantile(reference_power, 0.995) + 1e-14) * 10.0 ** (-NSIM_RANGE_DB / 10.0)
    a = 10.0 * np.log10(np.maximum(reference_power, floor) / floor)
    b = 10.0 * np.log10(np.maximum(power, floor) / floor)
    mean_a, mean_b = _smooth(a), _smooth(b)
    variance_a = np.maximum(_smooth(a * a) - mean_a**2, 0.0)
    variance_b = np.maximum(_smooth(b * b) - mean_b**2, 0.0)
    covariance = _smooth(a * b) - mean_a * mean_b
    c1, c2 = (0.01 * NSIM_RANGE_DB) ** 2, (0.03 * NSIM_RANGE_DB) ** 2 / 2.0
    intensity = (2.0 * mean_a * mean_b + c1) / (mean_a**2 + mean_b**2 + c1)
    structure = (covariance + c2) / (np.sqrt(variance_a * variance_b) + c2)
    return float(np.mean(intensity * structure))


def _band_power(sound: Samples) -> Floats:
    padded = np.pad(np.asarray(sound, np.float64), (0, max(0, NSIM_FFT - len(sound))))
    frames = np.lib.stride_tricks.sliding_window_view(padded, NSIM_FFT)[::NSIM_HOP]
    window = np.hanning(NSIM_FFT + 1)[:-1]
    spectrum = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    return np.asarray(_erb_bands() @ spectrum.T, np.float64)


def _erb_bands() -> Floats:
    """Triangles with centres evenly spaced on the ERB-rate scale."""
    bins_hz = np.linspace(0.0, NSIM_RATE_HZ / 2, NSIM_FFT // 2 + 1)
    low_erb, high_erb = (21.4 * np.log10(1.0 + 0.00437 * hz) for hz in (NSIM_LOW_HZ, NSIM_HIGH_HZ))
    edges_hz = (10.0 ** (np.linspace(low_erb, high_erb, NSIM_BANDS + 2) / 21.4) - 1.0) / 0.00437
    left, centre, right = (edges_hz[i : i + NSIM_BANDS, None] for i in range(3))
    rising = (bins_hz - left) / (centre - left)
    falling = (right - bins_hz) / (right - centre)
    return np.maximum(0.0, np.minimum(rising, falling))


def _smooth(values: Floats) -> Floats:
    return np.asarray(cv2.GaussianBlur(values, (3, 3), 0.5, borderType=cv2.BORDER_REPLICATE), np.float64)


def best_lag(reference: Samples, sound: Samples, max_lag: int) -> int:
    """How many samples `sound` comes after `reference`, by the peak of their correlation within ±`max_lag`.

    0 wins ties and silence.
    """
    count = min(len(reference), len(sound))
    if count == 0 or max_lag <= 0:
        return 0
    size = 1 << (count + max_lag).bit_length()
    spectrum = np.conj(np.fft.rfft(reference[:count], size)) * np.fft.rfft(sound[:count], size)
    correlation = np.fft.irfft(spectrum, size)
    around_zero = np.concatenate([correlation[-max_lag:], correlation[: max_lag + 1]])
    if around_zero.max() <= around_zero[max_lag] + 1e-9:
        return 0
    return int(np.argmax(around_zero)) - max_lag


def best_fraction(reference: Floats, sound: Floats) -> float:
    """The part of a sample, within ±0.5, that `sound` comes after `reference` once whole samples are out.

    Codec priming at one rate is rarely a whole number of samples at another.
    """
    size = 1 << (len(reference) + 1).bit_length()
    spectrum = np.conj(np.fft.rfft(reference, size)) * np.fft.rfft(sound, size)
    angle = 2.0 * np.pi * np.arange(len(spectrum)) / size
    fractions = np.linspace(-0.5, 0.5, 2 * LAG_STEPS + 1)
    turned, step = spectrum * np.exp(1j * angle * fractions[0]), np.exp(1j * angle / (2 * LAG_STEPS))
    heights = []
    for _ in fractions:
        heights.append(float(np.sum(turned.real)))
        turned *= step
    best = int(np.argmax(heights))
    return float(fractions[best]) if heights[best] > heights[LAG_STEPS] + 1e-9 else 0.0


def shifted(sound: Samples, lag: int, start: int, stop: int) -> Floats:
    """`sound[start + lag : stop + lag]`, with silence wherever it has no samples."""
    piece = np.zeros(max(0, stop - start))
    first, last = max(0, start + lag), min(len(sound), stop + lag)
    if last > first:
        piece[first - start - lag : last - start - lag] = sound[first:last]
    return piece


def advanced(sound: Floats, fraction: float) -> Floats:
    """`sound` earlier by a part of a sample."""
    if fraction == 0.0:
        return sound
    size = 1 << (len(sound) + 64).bit_length()
    ramp = np.exp(2j * np.pi * fraction * np.arange(size // 2 + 1) / size)
    return np.asarray(np.fft.irfft(np.fft.rfft(sound, size) * ramp, size)[: len(sound)], np.float64)


@dataclass(frozen=True)
class LevelRule:
    """Full credit up to `full_db` of level difference, none from `none_db` on, linear between."""

    full_db: float
    none_db: float

    def credit(self, difference_db: float) -> float:
        return float(np.clip((self.none_db - abs(difference_db)) / (self.none_db - self.full_db), 0.0, 1.0))


def block_agreement(
    reference: Samples, sound: Samples, *, block: int, starts: Iterable[int], max_lag: int, level: LevelRule
) -> list[tuple[int, float]]:
    """(first sample, agreement in [0, 1]) for every block that starts there in the reference and can be judged.

    Agreement is the peak of the normalised correlation within ±`max_lag` samples, times the credit for the
    level there. A block quiet in both is left out; one quiet in only one of them counts as 0.
    """
    rows = []
    for start in starts:
        piece = np.asarray(reference[start : start + block], np.float64)
        around = shifted(sound, 0, start - max_lag, start + block + max_lag)
        loud, loud_here = rms_db(piece) > QUIET_DBFS, rms_db(around) > QUIET_DBFS
        if not loud and rms_db(around[max_lag : max_lag + block]) <= QUIET_DBFS + QUIET_SLACK_DB:
            continue
        value = 0.0
        if loud and loud_here:
            place, value = _peak_correlation(piece, around)
            value *= level.credit(rms_db(around[place : place + block]) - rms_db(piece))
        rows.append((start, value))
    return rows


def _peak_correlation(piece: Floats, around: Floats) -> tuple[int, float]:
    """Where in `around` the stretch most like `piece` begins, and the cosine between them."""
    size = 1 << (len(around) + len(piece)).bit_length()
    spectrum = np.fft.rfft(around, size) * np.conj(np.fft.rfft(piece, size))
    places = len(around) - len(piece) + 1
    fine = LAG_UPSAMPLING * np.fft.irfft(spectrum, LAG_UPSAMPLING * size)[: LAG_UPSAMPLING * (places - 1) + 1]
    energy = np.concatenate([[0.0], np.cumsum(around * around)])
    energies = energy[len(piece) :] - energy[: len(energy) - len(piece)]
    nearest = (np.arange(len(fine)) + LAG_UPSAMPLING // 2) // LAG_UPSAMPLING
    cosines = fine / np.sqrt(np.maximum(energies[nearest], 1e-12) * float(piece @ piece))
    best = int(np.argmax(cosines))
    return int(nearest[best]), float(np.clip(cosines[best], 0.0, 1.0))
