"""Repairs of a range that work on its samples alone: what each does, and its own measure before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from primitives._base import UserError
from primitives._sound.blocks import Change
from primitives._sound.common import Floats, Sound, loud_level_db, rms_db
from primitives._sound.declip import declip, find_ceiling
from primitives._sound.dereverb import decay_s, late_subtracted, predicted_out
from primitives._sound.level import (
    HARSH_MARGIN_DB,
    frame_reference,
    gain_to_match,
    harsh_ceiling,
    harshness_db,
    level_spread_db,
    limited,
    soften,
)

ECHO_DB = -23.0
"""What prediction takes away, against the sound: below this there is no room in it."""
STRONG_ECHO_DB = -16.8
"""From here on the rest of the room is subtracted too."""
LATE_ROOM_S, LATE_STRENGTH, LATE_FLOOR_DB = 0.6, 1.0, -10.0
REBUILT_S = 8.0
"""Of clipped sound so much is rebuilt to see how loud it was."""
TOO_LOUD_DB = -2.0
LEAST_GAIN_DB = 1.0
Check = Callable[[], None]


@dataclass(frozen=True, eq=False)
class SoundRepair:
    """A repair that was planned on a mono sample of the range and of the film beside it."""

    change: Change
    method: str
    figures: dict[str, float]
    context_s: float = 0.5
    notes: list[str] = field(default_factory=list)


def _each(change: Callable[[Floats], Floats], strength: float) -> Change:
    """Channel by channel, blended with the original; silent channels stay."""

    def all_channels(sound: Sound) -> Sound:
        made = [
            channel if rms_db(channel) < -85 else channel + strength * (change(channel) - channel) for channel in sound
        ]
        return np.stack(made).astype(np.float32)

    return all_channels


def plan_declip(sample: Floats, beside: Floats, rate_hz: int, strength: float, check: Check) -> SoundRepair:
    ceiling = find_ceiling(sample)
    if ceiling is None:
        raise UserError(
            "Nothing was written: no clipping was found there (levels do not pile up at a ceiling). "
            "Check the range with listen; kind gain mends a range that is only too loud."
        )
    part = sample[: round(REBUILT_S * rate_hz)]
    rebuilt = declip(part, ceiling, check)
    louder_db = loud_level_db(rebuilt, rate_hz) - loud_level_db(part, rate_hz)
    gain_db = gain_to_match(sample, beside, rate_hz) - louder_db if len(beside) >= rate_hz else 0.0
    gain_db = gain_db if gain_db < TOO_LOUD_DB and loud_level_db(beside, rate_hz) > -70 else 0.0
    if not gain_db and float(np.abs(rebuilt).max()) > 1.0:
        gain_db = float(-20 * np.log10(np.abs(rebuilt).max())) if len(beside) < rate_hz else 0.0
    gain = 10 ** (gain_db * strength / 20)

    def change(sound: Sound) -> Sound:
        return limited(_each(lambda channel: declip(channel, ceiling, check), strength)(sound) * gain, rate_hz)

    figures = {
        "ceiling": round(ceiling.level, 3),
        "clipped_percent": round(100 * ceiling.share, 2),
        "peak_rebuilt": round(float(np.abs(rebuilt).max()), 2),
        "gain_db": round(gain_db, 1),
    }
    return SoundRepair(change, "A-SPADE, then the level of the film beside it" if gain_db else "A-SPADE", figures, 0.1)


def plan_dereverb(sample: Floats, beside: Floats, rate_hz: int, strength: float, check: Check) -> SoundRepair:
    predicted = predicted_out(sample, rate_hz, check)
    echo_db = rms_db(sample - predicted) - rms_db(sample)
    if echo_db < ECHO_DB:
        raise UserError(
            f"Nothing was written: hardly any echo was found there ({echo_db:.0f} dB below the sound; from "
            f"{ECHO_DB:.0f} dB on there is a room in it). Check the range with listen."
        )
    strong = echo_db > STRONG_ECHO_DB

    def dry(channel: Floats) -> Floats:
        made = predicted_out(channel, rate_hz, check)
        return late_subtracted(made, rate_hz, LATE_ROOM_S, LATE_STRENGTH, LATE_FLOOR_DB) if strong else made

    gain_db = min(3.0, max(0.0, rms_db(sample) - rms_db(dry(sample))))
    gain = 10 ** (gain_db / 20)
    decay, decay_beside = decay_s(sample, rate_hz), decay_s(beside, rate_hz) if len(beside) > rate_hz else None
    figures = {"echo_db": round(echo_db, 1), "gain_db": round(gain_db, 1)}
    figures |= {"decay_s": round(decay, 2)} if decay else {}
    figures |= {"decay_beside_s": round(decay_beside, 2)} if decay_beside else {}
    method = "weighted prediction error" + (" and late subtraction" if strong else "")
    return SoundRepair(_each(lambda channel: dry(channel) * gain, strength), method, figures)


def plan_gain(sample: Floats, beside: Floats, rate_hz: int, strength: float, amount_db: float | None) -> SoundRepair:
    if amount_db is None:
        if len(beside) < rate_hz or loud_level_db(beside, rate_hz) < -75:
            raise UserError("There is no sound beside the range to match. Give amount: the gain in dB.")
        amount_db = gain_to_match(sample, beside, rate_hz)
        if abs(amount_db) < max(LEAST_GAIN_DB, 0.3 * level_spread_db(beside, rate_hz)):
            raise UserError(
                f"Nothing was written: the range is already as loud as the film beside it ({-amount_db:+.1f} dB). "
                "Give amount (dB) to change it all the same."
            )
    gain = 10 ** (amount_db * strength / 20)
    figures = {
        "level_before_db": round(loud_level_db(sample, rate_hz), 1),
        "level_beside_db": round(loud_level_db(beside, rate_hz), 1),
        "gain_db": round(amount_db * strength, 1),
    }
    return SoundRepair(
        lambda sound: limited(sound * np.float32(gain), rate_hz), "one gain, peaks limited", figures, 0.1
    )


def plan_deharsh(sample: Floats, beside: Floats, rate_hz: int, strength: float) -> SoundRepair:
    if len(beside) < rate_hz or loud_level_db(beside, rate_hz) < -75:
        raise UserError("There is no sound beside the range to compare harshness with. Give a range inside the film.")
    gain_db = min(0.0, gain_to_match(sample, beside, rate_hz))
    gain_db = gain_db if gain_db < TOO_LOUD_DB else 0.0
    ceiling = harsh_ceiling(beside, rate_hz)
    before = harshness_db(sample, rate_hz, ceiling)
    if before < HARSH_MARGIN_DB and not gain_db:
        raise UserError(
            f"Nothing was written: the range is not harsher than the film beside it ({before:+.1f} dB). "
            "Check the range with listen; strength above 1 is not needed."
        )
    reference, gain = frame_reference(sample, rate_hz), 10 ** (gain_db * strength / 20)

    def soft(channel: Floats) -> Floats:
        return soften(channel, rate_hz, ceiling, reference)

    after = harshness_db(soft(sample), rate_hz, ceiling)
    figures = {"harsh_before_db": round(before, 1), "harsh_after_db": round(after, 1), "gain_db": round(gain_db, 1)}
    each = _each(soft, strength)
    return SoundRepair(lambda sound: each(sound) * np.float32(gain), "harsh bands held to the film's own", figures, 0.2)
