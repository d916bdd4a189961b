"""Reach: items that no film can pass, alone or together with the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from verifiers.video_repurpose.kinds import header, picture, sound, text
from verifiers.video_repurpose.lints._base import Condition, Finding, error, warning


@dataclass(frozen=True)
class Interval:
    """`[low, high]`."""

    low: float = -inf
    high: float = inf

    @property
    def empty(self) -> bool:
        return self.low > self.high

    def __and__(self, other: Interval) -> Interval:
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def __str__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"


def interval(low: float | None, high: float | None) -> Interval:
    return Interval(-inf if low is None else low, inf if high is None else high)


def _audio_streams(params: header.AudioStreams) -> Interval:
    return interval(params.min, params.max) if params.eq is None else Interval(params.eq, params.eq)


# What a check allows, and what is possible at all: (quantity, allowed by params, possible).
_RANGES: dict[type, tuple[str, Callable[[Any], Interval], Interval]] = {
    header.DurationRange: ("duration in s", lambda p: interval(p.min, p.max), Interval(low=0)),
    header.FpsRange: ("frames per second", lambda p: interval(p.min, p.max), Interval(low=0)),
    header.AudioStreams: ("audio streams", _audio_streams, Interval(low=0)),
    header.AudioChannelsEq: ("audio channels", lambda p: Interval(p.channels, p.channels), Interval(low=1)),
    sound.LufsRange: ("loudness in LUFS", lambda p: interval(p.min, p.max), Interval(high=10)),
    sound.LoudnessMin: ("mean volume in dB", lambda p: Interval(low=p.threshold_db), Interval(-91, 0)),
    sound.SilenceMaxRun: ("longest silence in s", lambda p: Interval(high=p.max_seconds), Interval(low=0)),
    picture.BlackMaxRun: ("longest black in s", lambda p: Interval(high=p.max_seconds), Interval(low=0)),
    picture.FreezeMaxRun: ("longest freeze in s", lambda p: Interval(high=p.max_seconds), Interval(low=0)),
    picture.MedianShot: ("median shot in s", lambda p: interval(p.min, p.max), Interval(low=0)),
    picture.MaxShot: ("longest shot in s", lambda p: Interval(high=p.max_seconds), Interval(low=0)),
}
# Checks that name what is allowed: (quantity, allowed by params).
_CHOICES: dict[str, tuple[str, Callable[[Any], set[Any]]]] = {
    "ffprobe_resolution_eq": ("resolution", lambda p: {(p.width, p.height)}),
    "ffprobe_resolution_in": ("resolution", lambda p: set(p.options)),
    "ffprobe_video_codec_in": ("video codec", lambda p: set(p.codecs)),
    "ffprobe_audio_codec_in": ("audio codec", lambda p: set(p.codecs)),
}


def unreachable(conditions: tuple[Condition, ...]) -> Iterator[Finding]:
    """Checks that cannot pass whatever the film."""
    longest_s = allowed_duration(conditions).high
    for condition in conditions:
        yield from _out_of_range(condition)
        yield from _empty_choice(condition)
        match condition.params:
            case picture.BrightnessAtTimes():
                yield from _times_beyond(condition.where, condition.params, longest_s)
            case picture.MedianShot(min=low) if low is not None and low > longest_s:
                sentence = f"a median shot of {low:g} s does not fit into the {longest_s:g} s allowed"
                yield error("unreachable", condition.where, sentence)
            case picture.BlackMaxRun(exclude_last_seconds=last) | picture.FreezeMaxRun(exclude_last_seconds=last) if (
                last >= longest_s
            ):
                yield warning("always-passes", condition.where, f"the excluded {last:g} s are the whole film")


def contradictions(conditions: tuple[Condition, ...]) -> Iterator[Finding]:
    """Pairs of checks that exclude each other, each named once, at the later of the two."""
    wanted = [condition for condition in conditions if condition.wanted]
    for place, later in enumerate(wanted):
        for earlier in wanted[:place]:
            clash = _clash(earlier, later)
            if clash:
                yield error("contradiction", later.where, f"it cannot pass together with {earlier.where}: {clash}")


def allowed_duration(conditions: tuple[Condition, ...]) -> Interval:
    """The film lengths that every duration check lets through."""
    allowed = Interval(low=0)
    for condition in conditions:
        if condition.wanted and isinstance(condition.params, header.DurationRange):
            allowed &= interval(condition.params.min, condition.params.max)
    return allowed


def allowed_resolutions(condition: Condition) -> set[tuple[int, int]] | None:
    quantity, choose = _CHOICES.get(condition.kind, ("", None))
    return choose(condition.params) if choose is not None and quantity == "resolution" else None


def _out_of_range(condition: Condition) -> Iterator[Finding]:
    if type(condition.params) not in _RANGES:
        return
    quantity, allow, possible = _RANGES[type(condition.params)]
    allowed = allow(condition.params)
    if allowed.empty:
        yield error("unreachable", condition.where, f"{quantity}: the minimum exceeds the maximum, {allowed}")
    elif (allowed & possible).empty:
        yield error("unreachable", condition.where, f"{quantity}: {allowed} lies outside the possible {possible}")
    elif isinstance(condition.params, sound.LoudnessMin) and condition.params.threshold_db >= 0:
        yield error("unreachable", condition.where, "mean volume never exceeds 0 dB")


def _empty_choice(condition: Condition) -> Iterator[Finding]:
    _, choose = _CHOICES.get(condition.kind, ("", None))
    if choose is not None and not choose(condition.params):
        yield error("unreachable", condition.where, f"{condition.kind} allows nothing at all")
    if isinstance(condition.params, header.FormatIn) and not condition.params.substrings:
        yield error("unreachable", condition.where, f"{condition.kind} allows nothing at all")
    if isinstance(condition.params, text.SubstringMatch) and "" in condition.params.substrings:
        yield warning("always-passes", condition.where, "an empty text is found in any picture")


def _times_beyond(where: str, params: picture.BrightnessAtTimes, longest_s: float) -> Iterator[Finding]:
    wanted = len(params.times) if params.min_passing is None else params.min_passing
    inside = [time_s for time_s in params.times if 0 <= time_s < longest_s]
    outside = sorted(set(params.times) - set(inside))
    if len(params.times) < wanted:
        yield error("unreachable", where, f"{wanted} bright pictures wanted, {len(params.times)} times given")
    elif len(inside) < wanted:
        named = ", ".join(f"{time_s:g}" for time_s in outside)
        sentence = f"{wanted} bright pictures wanted, but at {named} s no allowed film ({longest_s:g} s) has one"
        yield error("unreachable", where, sentence)
    elif outside:
        named = ", ".join(f"{time_s:g}" for time_s in outside)
        yield warning("time-beyond-end", where, f"no allowed film ({longest_s:g} s) has a picture at {named} s")
    if params.min_brightness >= 255:
        yield error("unreachable", where, "no picture is brighter than 255")


def _clash(first: Condition, second: Condition) -> str:
    one, other = _RANGES.get(type(first.params)), _RANGES.get(type(second.params))
    if one and other and one[0] == other[0]:
        left, right = one[1](first.params), other[1](second.params)
        if not left.empty and not right.empty and (left & right).empty:
            return f"{one[0]} {left} and {right} do not overlap"
    chosen, other_chosen = _CHOICES.get(first.kind), _CHOICES.get(second.kind)
    if chosen and other_chosen and chosen[0] == other_chosen[0]:
        allowed, also = chosen[1](first.params), other_chosen[1](second.params)
        if allowed and also and not allowed & also:
            return f"{chosen[0]} {_listed(allowed)} and {_listed(also)} have nothing in common"
    return _one_way_clash(first, second) or _one_way_clash(second, first)


def _one_way_clash(first: Condition, second: Condition) -> str:
    match first.params, second.params:
        case header.AudioStreams() as streams, other if _audio_streams(streams).high < 1 and _hears(other):
            return "one allows no audio stream, the other listens to one"
        case picture.MedianShot(min=low), picture.MaxShot(max_seconds=high) if low is not None and low > high:
            return f"a median shot of at least {low:g} s with no shot over {high:g} s"
    return ""


def _hears(params: object) -> bool:
    kinds = (header.AudioChannelsEq, sound.LoudnessMin, sound.LufsRange, sound.SilenceMaxRun)
    return isinstance(params, kinds)


def _listed(values: set[Any]) -> str:
    shown = ("x".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in values)
    return ", ".join(sorted(shown))
