"""Level and harshness: a range brought to the level of the rest, and its sharp moments taken down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from primitives._sound.common import Floats, Sound, Spectra, block_levels_db, loud_level_db

_FRAME_S = 0.032
_HARSH_HZ = (2500.0, 9000.0)
_HARSH_MARGIN_DB = 3.0
_MOST_DB = 24.0


def gain_to_match(inside: Floats, around: Floats, rate_hz: int) -> float:
    """The gain in dB that brings the loud part of a range to that of the film around it."""
    return loud_level_db(around, rate_hz) - loud_level_db(inside, rate_hz)


def level_spread_db(mono: Floats, rate_hz: int) -> float:
    """How far the loud blocks of a sound lie apart: what a difference of level has to stand out from."""
    levels = block_levels_db(mono, rate_hz, 0.4)
    loud = levels[levels > levels.max(initial=-100) - 15]
    return float(loud.std()) if len(loud) > 1 else 0.0


def limited(sound: Sound, rate_hz: int, ceiling: float = 0.98) -> Sound:
    """Peaks beyond the ceiling turned down smoothly instead of cut."""
    peaks = np.abs(sound).max(axis=0)
    if float(peaks.max(initial=0.0)) <= ceiling:
        return sound
    reach = max(1, round(0.004 * rate_hz))
    needed = np.minimum(1.0, ceiling / np.maximum(maximum_filter1d(peaks, 2 * reach + 1), 1e-9))
    return np.asarray(sound * uniform_filter1d(needed, reach), np.float32)


def _spectra(rate_hz: int) -> Spectra:
    hop = max(1, round(_FRAME_S * rate_hz / 4))
    return Spectra(4 * hop, hop)


def _bands(rate_hz: int, spectra: Spectra) -> NDArray[np.intp]:
    """The edges of third-octave-like bands in the harsh region, in bins."""
    top = min(_HARSH_HZ[1], 0.45 * rate_hz)
    edges_hz = np.geomspace(min(_HARSH_HZ[0], 0.6 * top), top, 7)
    return np.unique(np.rint(edges_hz * spectra.size / rate_hz).astype(np.intp))


def harsh_ceiling(around: Floats, rate_hz: int) -> NDArray[np.float64]:
    """For each harsh band how loud it gets against the whole sound, in dB, in film that is not harsh."""
    spectra = _spectra(rate_hz)
    share = _shares_db(np.abs(spectra.forward(around)) ** 2, _bands(rate_hz, spectra))
    return np.asarray(np.quantile(share, 0.95, axis=0))


def _shares_db(power: NDArray[np.float64], edges: NDArray[np.intp]) -> NDArray[np.float64]:
    """The level of each band in each loud frame, against the median loud frame of the sound."""
    whole = power.sum(axis=1)
    loud = whole > np.quantile(whole, 0.5)
    reference = float(np.median(whole[loud])) if loud.any() else 1.0
    bands = np.add.reduceat(power, edges, axis=1)[:, :-1]
    return np.asarray(10 * np.log10((bands[loud] + 1e-14) / (reference + 1e-14)), np.float64)


def soften(mono: Floats, rate_hz: int, ceiling_db: NDArray[np.float64], reference: float) -> NDArray[np.float64]:
    """Bands that rise above their ceiling (dB against the `reference` power of a frame) turned down to it."""
    spectra = _spectra(rate_hz)
    bins, edges = spectra.forward(mono), _bands(rate_hz, spectra)
    bands = np.add.reduceat(np.abs(bins) ** 2, edges, axis=1)[:, :-1]
    over_db = 10 * np.log10((bands + 1e-14) / (reference + 1e-14)) - ceiling_db
    cut_db = np.clip(over_db, 0.0, _MOST_DB)
    cut_db = uniform_filter1d(cut_db, 3, axis=0)
    gains_db = np.zeros(bins.shape)
    gains_db[:, edges[0] : edges[-1]] = np.repeat(cut_db, np.diff(edges), axis=1)
    gains_db = uniform_filter1d(gains_db, 3, axis=1)
    return spectra.backward(bins * 10 ** (-gains_db / 20), len(mono))


def frame_reference(mono: Floats, rate_hz: int) -> float:
    """The power of a median loud frame."""
    whole = (np.abs(_spectra(rate_hz).forward(mono)) ** 2).sum(axis=1)
    loud = whole[whole > np.quantile(whole, 0.5)]
    return float(np.median(loud)) if len(loud) else 0.0


def harshness_db(mono: Floats, rate_hz: int, ceiling_db: NDArray[np.float64]) -> float:
    """How far the loudest harsh moments rise above what the film around does; negative is softer."""
    spectra = _spectra(rate_hz)
    share = _shares_db(np.abs(spectra.forward(mono)) ** 2, _bands(rate_hz, spectra))
    return float(np.max(np.quantile(share, 0.95, axis=0) - ceiling_db))


HARSH_MARGIN_DB = _HARSH_MARGIN_DB
"""From here on a range is harsher than the film around it."""
