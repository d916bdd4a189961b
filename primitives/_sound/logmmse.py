"""Noise reduction without a network: minimum mean-square error of log spectra, weighted by speech presence."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d
from scipy.special import exp1

from primitives._sound.common import Floats, Spectra

_FRAME_S = 0.032
_QUANTILE = 0.2
_BIAS = 1.35
"""A low quantile of noise power lies below its mean by about this."""
_DECISION = 0.98
_LEAST_PRIOR = 10 ** (-25 / 10)
_MOST_POSTERIOR = 1e3


def spectra_for(rate_hz: int) -> Spectra:
    hop = max(1, round(_FRAME_S * rate_hz / 4))
    return Spectra(4 * hop, hop)


def noise_power(mono: Floats, rate_hz: int, quantile: float | None = None) -> NDArray[np.float64]:
    """The noise in each bin: a low quantile over time; of a noise profile the mean."""
    power = np.abs(spectra_for(rate_hz).forward(mono)) ** 2
    if quantile is None:
        return np.asarray(power.mean(axis=0))
    return np.asarray(np.quantile(uniform_filter1d(power, 5, axis=0), quantile, axis=0) * _BIAS)


def reduce_noise(
    mono: Floats, rate_hz: int, profile: NDArray[np.float64] | None = None, floor_db: float = -22.0
) -> NDArray[np.float64]:
    """Sound with its steady noise taken down, by no more than the floor."""
    spectra = spectra_for(rate_hz)
    bins = spectra.forward(mono)
    noise = profile if profile is not None else noise_power(mono, rate_hz, _QUANTILE)
    posterior = np.minimum(np.abs(bins) ** 2 / np.maximum(noise, 1e-14), _MOST_POSTERIOR)
    return spectra.backward(bins * _gains(posterior, 10 ** (floor_db / 20)), len(mono))


def _gains(posterior: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    gains, priors = np.empty_like(posterior), np.empty_like(posterior)
    speech = np.ones(posterior.shape[1])
    learnt = (1 - _DECISION) * np.maximum(posterior - 1, 0)
    for now, new, gain, prior in zip(posterior, learnt, gains, priors, strict=True):  # each frame needs the one before
        np.maximum(_DECISION * speech + new, _LEAST_PRIOR, out=prior)
        share = prior / (1 + prior)
        np.minimum(share * _raised(share * now), 1.0, out=gain)
        speech = gain * gain * now
    exponent = np.clip(priors / (1 + priors) * posterior, 1e-6, 50.0)
    present = 1 / (1 + (1 + priors) * np.exp(-exponent))
    mixed = np.exp(present * np.log(np.maximum(gains, 1e-12)) + (1 - present) * np.log(floor))
    return np.asarray(np.maximum(mixed, floor))


def _raised(exponent: NDArray[np.float64]) -> NDArray[np.float64]:
    """`exp(exp1(x) / 2)`, read from a table: the exponential integral itself takes most of the time."""
    places, values = _table()
    return np.asarray(np.interp(np.log(np.maximum(exponent, 1e-6)), places, values))


@lru_cache(maxsize=1)
def _table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    places = np.linspace(np.log(1e-6), np.log(50.0), 4096)
    return places, np.exp(0.5 * exp1(np.exp(places)))
