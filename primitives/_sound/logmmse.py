"""Noise reduction without a network: minimum mean-square error of log spectra, weighted by speech presence."""

from __future__ import annotations

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
    gains = np.empty_like(posterior)
    speech = np.ones(posterior.shape[1])
    for number, now in enumerate(posterior):
        prior = np.maximum(_DECISION * speech + (1 - _DECISION) * np.maximum(now - 1, 0), _LEAST_PRIOR)
        share = prior / (1 + prior)
        exponent = np.maximum(share * now, 1e-6)
        gain = np.minimum(share * np.exp(0.5 * exp1(exponent)), 1.0)
        speech = gain**2 * now
        present = 1 / (1 + (1 + prior) * np.exp(-np.minimum(exponent, 50.0)))
        gains[number] = np.maximum(gain**present * floor ** (1 - present), floor)
    return gains
