"""How well the end of one sound goes on in the start of another: the wave itself, and what it is made of. Pure.

The wave on both sides of a seam is taken as one stationary noise whose covariance is that of the two sides. Then there
is one number for how much more likely the first samples of the start are after the last samples of the end than
without them: with a wave that runs on it is large, with a jump it is far below zero. It needs no pitch, no speech, no
music, and what AAC leaves of the last and first milliseconds suffices.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Waves = NDArray[np.float32]
Values = NDArray[np.float64]
RATE_HZ = 16_000
REACH = 5120
"""Samples kept on either side of a seam (0.32 s: a whole number of samples at every usual rate)."""
NEAR = 128
"""Samples on either side that are compared as a wave."""
SETTLE = 8
"""Samples at a seam that the covariance leaves out."""
CALM = 1e-3
"""Noise in the covariance, as a share: coding leaves at least so much."""
SILENT = 1e-8
"""Power below which a sound is silence (-80 dB)."""
SHORT, LONG = 480, 4000
"""Samples of the spectra that are compared: 30 ms for what sounds on, 250 ms for the room."""
_BANDS = 24


@dataclass(frozen=True, eq=False)
class Seams:
    """For each end and each start: the logarithm of how much likelier the wave is as one, and two distances in dB."""

    wave: Values
    wave_low: Values
    """The same at half the rate, where it reaches twice as far."""
    near_db: Values
    room_db: Values
    sides_heard: NDArray[np.int64]
    """On how many of the two sides there is any sound."""


def seams(ends: Waves, starts: Waves) -> Seams:
    """All ends against all starts. Rows are `2 * REACH` samples with the seam in the middle, zero beyond it."""
    spectra = {
        size: (_spectrum(ends[:, REACH - size : REACH]), _spectrum(starts[:, REACH : REACH + size]))
        for size in (SHORT, LONG)
    }
    apart = {size: np.abs(a[:, None] - b[None]).mean(axis=2) for size, (a, b) in spectra.items()}
    loud = [np.mean(side**2, axis=1) > SILENT for side in (ends[:, REACH - LONG : REACH], starts[:, REACH:][:, :LONG])]
    return Seams(
        wave=_wave(ends, starts),
        wave_low=_wave(_halved(ends), _halved(starts)),
        near_db=apart[SHORT],
        room_db=apart[LONG],
        sides_heard=loud[0][:, None].astype(np.int64) + loud[1][None],
    )


def _halved(waves: Waves) -> Waves:
    from scipy.signal import resample_poly

    return np.asarray(resample_poly(waves, 1, 2, axis=1), np.float32)


def _wave(ends: Waves, starts: Waves) -> Values:
    seam = ends.shape[1] // 2
    before = _covariance(ends[:, : seam - SETTLE])
    after = _covariance(starts[:, seam + SETTLE :])
    around = slice(seam - NEAR, seam + NEAR)
    waves = ends[:, None, around].astype(np.float64) + starts[None, :, around]
    pairs = (before[:, None] + after[None]) / 2
    return _likelier(pairs.reshape(-1, 2 * NEAR), waves.reshape(-1, 2 * NEAR)).reshape(len(ends), len(starts))


def _covariance(waves: Waves) -> Values:
    """Of samples up to `2 * NEAR` apart, for each wave."""
    length = waves.shape[1]
    centred = waves - waves.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(centred, 2 * length, axis=1)) ** 2
    return np.asarray(np.fft.irfft(power, axis=1)[:, : 2 * NEAR] / length)


def _likelier(covariance: Values, waves: Values) -> Values:
    """For each row: log p(second half | first half) - log p(second half).

    Both come out of one recursion (Levinson's), which whitens the wave sample by sample.
    """
    r = covariance.copy()
    r[:, 0] = r[:, 0] * (1 + CALM) + SILENT
    halves = waves[:, NEAR:]
    predictor = np.zeros_like(r)  # the weights of earlier samples, the latest first
    error = r[:, 0].copy()
    ahead, alone, before = np.zeros(len(r)), np.zeros(len(r)), np.zeros(len(r))
    spread = np.zeros(len(r))
    for place in range(2 * NEAR):
        if place:
            weights = predictor[:, : place - 1]
            turn = (r[:, place] - (weights * r[:, place - 1 : 0 : -1]).sum(axis=1)) / error
            predictor[:, : place - 1] = weights - turn[:, None] * weights[:, ::-1]
            predictor[:, place - 1] = turn
            error = np.maximum(error * (1 - turn**2), SILENT * CALM)
        weights = predictor[:, :place]
        novelty = (waves[:, place] - (weights * waves[:, :place][:, ::-1]).sum(axis=1)) ** 2 / error
        if place < NEAR:
            before += novelty
            alone += (halves[:, place] - (weights * halves[:, :place][:, ::-1]).sum(axis=1)) ** 2 / error
            spread += np.log(error)
        else:
            ahead += novelty
            spread -= np.log(error)
    scale = (before + alone) / (2 * NEAR) + SILENT
    return np.asarray((alone - ahead) / (2 * scale) + spread / 2)


def _spectrum(waves: Waves) -> Values:
    """Levels of bands, equally wide by ratio, in dB."""
    length = waves.shape[1]
    power = np.abs(np.fft.rfft(waves * np.hanning(length), axis=1)) ** 2 / length
    edges = np.unique(np.round(np.geomspace(3, power.shape[1] - 1, _BANDS + 1)).astype(int))
    bands = [power[:, a:b].mean(axis=1) for a, b in itertools.pairwise(edges)]
    return np.asarray(10 * np.log10(np.stack(bands, axis=1) + SILENT))
