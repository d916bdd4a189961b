"""Background noise: by which method, how strongly, judged without knowing the clean sound.

The clean film beside the range is the yardstick. What a method takes away *there* belongs to the film: when
that is much, the film has a background of its own, and as much of it is left in the range; when it is nearly
everything, the film is not speech. When the noise is itself speech-like and the voice came out weaker than it is
beside the range, words were probably lost, and part of what was removed goes back in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from primitives._sound import deepfilter
from primitives._sound.common import (
    Floats,
    Sound,
    Spectra,
    block_levels_db,
    fitted,
    floor_db,
    loud_level_db,
    resampled,
    rms_db,
)
from primitives._sound.logmmse import noise_power, reduce_noise

Mode = Literal["auto", "speech", "music"]
OWN_BACKGROUND_DB = -16.0
"""Removed from the clean film, against its level: from here on it is the film's own background."""
NOT_SPEECH_DB = -5.0
"""Removed from the clean film: from here on it is no speech."""
NOTHING_LEFT_DB = -20.0
"""With no film beside the range: when the voice filter takes the range itself down by so much, it is no speech."""
SPEECH_LIKE_STD_DB = 3.0
"""The level of what was removed wavers by this much when other voices are in it."""
LOST_DB = 2.2
"""The voice came out this much weaker than beside the range."""
KEPT_WHEN_LOST = 0.2
MUSIC_FLOOR_DB = -10.0
SPEECH_FLOOR_DB = -22.0
ALIKE_DB = -25.0
"""Channels that differ, but for their levels, by so much less than their sum are cleaned by one run of the network."""
_SPECTRA = Spectra(1920, 480)
_SILENT_DB = -85.0


@dataclass(frozen=True, eq=False)
class NoisePlan:
    """How a range is cleaned."""

    method: Literal["deepfilter", "logmmse"]
    keep: float
    """The share of what the method removes that stays."""
    background: NDArray[np.float64] | None
    """By bin at 48 kHz: the share that stays, to match the film's own background."""
    profile: NDArray[np.float64] | None
    floor_db: float
    weights: Path | None
    why: tuple[str, ...]
    heard: NDArray[np.float64] | None = None
    """The judged sample as it comes out, where judging made it."""


@dataclass(frozen=True)
class NoiseFigures:
    """A range before and after, in dBFS; `around` is the film beside it."""

    floor_before_db: float
    floor_after_db: float
    floor_around_db: float | None
    level_before_db: float
    level_after_db: float
    removed_db: float
    """The level of what was taken away."""


def plan_noise(
    inside: Floats, around: Floats, rate_hz: int, mode: Mode, strength: float | None, profile: Floats | None
) -> NoisePlan:
    """Judge a mono sample of the range and of the film around it."""
    weights = deepfilter.weights() if mode != "music" else None
    power = noise_power(profile, rate_hz) if profile is not None and len(profile) else None
    if weights is None:
        missing = f"the network's weights are not installed: {deepfilter.INSTALL}" if mode != "music" else ""
        floor = MUSIC_FLOOR_DB if mode == "music" else SPEECH_FLOOR_DB
        return NoisePlan("logmmse", 1 - (strength or 1.0), None, power, floor, None, (missing,) if missing else ())
    wide, beside = resampled(inside, rate_hz, deepfilter.RATE_HZ), resampled(around, rate_hz, deepfilter.RATE_HZ)
    enough = len(beside) >= deepfilter.RATE_HZ and rms_db(beside) > _SILENT_DB
    beside_clean = deepfilter.enhance(beside, weights) if enough else beside
    natural_db = rms_db(beside - beside_clean) - rms_db(beside) if enough else -np.inf
    if mode == "auto" and natural_db > NOT_SPEECH_DB:
        why = f"the film beside the range is no speech (a voice filter removes {natural_db:.0f} dB of it)"
        return NoisePlan("logmmse", 1 - (strength or 1.0), None, power, MUSIC_FLOOR_DB, None, (why,))
    if strength is not None:
        return NoisePlan("deepfilter", 1 - strength, None, None, 0.0, weights, ())
    clean = deepfilter.enhance(wide, weights)
    left_db = loud_level_db(clean, deepfilter.RATE_HZ) - loud_level_db(wide, deepfilter.RATE_HZ)
    if mode == "auto" and not enough and left_db < NOTHING_LEFT_DB:
        why = f"the range is no speech (a voice filter would lower it by {-left_db:.0f} dB); mode=speech does so"
        return NoisePlan("logmmse", 0.0, None, power, MUSIC_FLOOR_DB, None, (why,))
    background: NDArray[np.float64] | None = None
    reasons: list[str] = []
    if natural_db > OWN_BACKGROUND_DB:
        background = _matching(beside - beside_clean, wide - clean)
        reasons.append("the film's own background was left in, as loud as beside the range")
    keep = 0.0
    wavers_db = float(np.std(block_levels_db(wide - clean, deepfilter.RATE_HZ))) if len(wide) else 0.0
    lost_db = loud_level_db(beside, deepfilter.RATE_HZ) - loud_level_db(clean, deepfilter.RATE_HZ) if enough else 0.0
    if wavers_db > SPEECH_LIKE_STD_DB and lost_db > LOST_DB:
        keep = KEPT_WHEN_LOST
        reasons.append("the noise is like speech and words were at risk, so it was lowered by 14 dB at most")
    plan = NoisePlan("deepfilter", keep, background, None, 0.0, weights, tuple(reasons))
    heard = fitted(resampled(_with_rest(wide, clean, plan), deepfilter.RATE_HZ, rate_hz), len(inside))
    return replace(plan, heard=heard)


def _matching(natural: Floats, removed: Floats) -> NDArray[np.float64]:
    """By bin, the gain that makes what was removed as loud as what the clean film has of it."""
    own, here = (
        uniform_filter1d(np.median(np.abs(_SPECTRA.forward(one)) ** 2, axis=0), 15) for one in (natural, removed)
    )
    return np.asarray(np.clip(np.sqrt(own / np.maximum(here, 1e-20)), 0.0, 1.0))


def remove_noise(sound: Sound, rate_hz: int, plan: NoisePlan) -> Sound:
    """A block without its noise."""
    if len(sound) == 2 and plan.method == "deepfilter":
        middle, side = (sound[0] + sound[1]) / 2, (sound[0] - sound[1]) / 2
        lean = float(np.vdot(middle, side)) / max(1e-9, float(np.vdot(middle, middle)))  # one voice, not in the centre
        side = side - np.float32(lean) * middle
        if rms_db(side) < rms_db(middle) + ALIKE_DB:
            clean = _cleaned(middle[None], rate_hz, plan)[0]
            apart = lean * clean + (_masked(side, middle, clean) if rms_db(side) > _SILENT_DB else side)
            return np.stack([clean + apart, clean - apart]).astype(np.float32)
    return _cleaned(sound, rate_hz, plan).astype(np.float32)


def _cleaned(sound: Floats, rate_hz: int, plan: NoisePlan) -> NDArray[np.float64]:
    """All channels that are heard; one that is silent stays as it is."""
    made = np.array(sound, np.float64)
    heard = [number for number, channel in enumerate(sound) if rms_db(channel) >= _SILENT_DB]
    if heard and plan.method == "deepfilter":
        made[heard] = _speech(sound[heard], rate_hz, plan)
    elif heard:
        clean = np.stack([reduce_noise(sound[number], rate_hz, plan.profile, plan.floor_db) for number in heard])
        made[heard] = clean + plan.keep * (sound[heard] - clean)
    return made


def _speech(sound: Floats, rate_hz: int, plan: NoisePlan) -> NDArray[np.float64]:
    """What the network leaves of each channel."""
    assert plan.weights is not None
    wide = resampled(sound, rate_hz, deepfilter.RATE_HZ)
    clean = deepfilter.enhance(wide, plan.weights)
    made = np.stack([_with_rest(*pair, plan) for pair in zip(wide, clean, strict=True)])
    return fitted(resampled(made, deepfilter.RATE_HZ, rate_hz), sound.shape[1])


def _with_rest(wide: NDArray[np.float64], clean: NDArray[np.float64], plan: NoisePlan) -> NDArray[np.float64]:
    """Clean sound with as much of what was removed as the plan keeps."""
    if plan.background is not None:
        removed = _SPECTRA.forward(wide - clean)
        return clean + _SPECTRA.backward(removed * np.maximum(plan.background, plan.keep), len(wide))
    return clean + plan.keep * (wide - clean) if plan.keep else clean


def _masked(side: Floats, middle: Floats, clean: Floats) -> NDArray[np.float64]:
    """A quiet difference of channels, taken down as much as their sum was."""
    before, after = (np.abs(_SPECTRA.forward(one)) for one in (middle, clean))
    gains = np.clip(after / np.maximum(before, 1e-9), 0.0, 1.0)
    return _SPECTRA.backward(_SPECTRA.forward(side) * gains, len(side))


def figures(before: Floats, after: Floats, around: Floats, rate_hz: int) -> NoiseFigures:
    """What became of a mono sample."""
    return NoiseFigures(
        floor_before_db=round(floor_db(before, rate_hz), 1),
        floor_after_db=round(floor_db(after, rate_hz), 1),
        floor_around_db=round(floor_db(around, rate_hz), 1) if len(around) >= rate_hz else None,
        level_before_db=round(loud_level_db(before, rate_hz), 1),
        level_after_db=round(loud_level_db(after, rate_hz), 1),
        removed_db=round(rms_db(np.asarray(before, np.float64) - after), 1),
    )
