"""From a profile to truth windows and target scenes (contract, "Truth windows and target scenes"), pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verifiers._files import AnswerError
from verifiers.video_repair_v3.schema import SWAP, Injection, Profile


@dataclass(frozen=True)
class Window:
    start_s: float
    end_s: float


@dataclass(frozen=True)
class TruthWindow:
    """One stretch the report should name, and the scenes that earn the scene points."""

    window: Window
    scenes: tuple[Window, ...]


def truth_windows(profile: Profile) -> list[TruthWindow]:
    """Every truth window of the profile; `AnswerError` when it lacks what its variant needs."""
    if profile.injection is None:
        return [_combined(injection, profile) for injection in profile.injections]
    try:
        variant = _VARIANTS[profile.variant]
    except KeyError:
        known = ", ".join(sorted(_VARIANTS))
        raise AnswerError(f"the profile's variant is {profile.variant!r}; known are {known}") from None
    return variant(profile.injection, profile)


def edit_window(profile: Profile, *, fix_v03: bool) -> Window | None:
    """The stretch whose samples count as inside; None when every sample counts as outside.

    For v03 the released code asks for fields that its own profiles lack and finds no window: reproduced
    unless `fix_v03`, which takes the outer span of the swapped groups **(ours)**.
    """
    if profile.variant == SWAP:
        return outer_span([truth.window for truth in truth_windows(profile)]) if fix_v03 else None
    injections = profile.injections if profile.injection is None else (profile.injection,)
    return outer_span([_window(injection) for injection in injections])


def outer_span(windows: Sequence[Window]) -> Window:
    return Window(min(window.start_s for window in windows), max(window.end_s for window in windows))


def _one_scene(injection: Injection, profile: Profile) -> list[TruthWindow]:
    return [TruthWindow(_window(injection), (_target_scene(injection, profile),))]


def _frozen(injection: Injection, profile: Profile) -> list[TruthWindow]:
    """v01: one window; with buffering, the scene of every freeze is a target."""
    if not injection.windows:
        return _one_scene(injection, profile)
    scenes = tuple(_scene_at(window.target_scene_index, profile) for window in injection.windows)
    return [TruthWindow(_window(injection), scenes)]


def _swapped(injection: Injection, _profile: Profile) -> list[TruthWindow]:
    """v03: one window per group, where its shots stand in the broken file."""
    truths = []
    for group in ("A", "B"):
        scenes = tuple(
            Window(scene.broken_start_s, scene.broken_end_s)
            for scene in injection.swapped_scenes
            if scene.group == group
        )
        if not scenes:
            raise AnswerError(f"the profile of a scene swap has no scene of group {group}")
        truths.append(TruthWindow(outer_span(scenes), scenes))
    return truths


def _duplicated(injection: Injection, profile: Profile) -> list[TruthWindow]:
    """v06: the scene runs from the target scene's start through the second copy and the next scene."""
    window, scene = _window(injection), _target_scene(injection, profile)
    duration_s = window.end_s - window.start_s if injection.duration_s is None else injection.duration_s
    end_s = scene.end_s + duration_s
    if injection.next_scene is not None:
        end_s = max(end_s, injection.next_scene.end_s)
    return [TruthWindow(window, (Window(scene.start_s, end_s),))]


def _desynced(injection: Injection, profile: Profile) -> list[TruthWindow]:
    """v07: the whole clip is the scene."""
    return [TruthWindow(_window(injection), (Window(0.0, profile.format.duration_s),))]


def _combined(injection: Injection, profile: Profile) -> TruthWindow:
    if injection.target_scene_index is None:
        return _desynced(injection, profile)[0]
    return _one_scene(injection, profile)[0]


def _window(injection: Injection) -> Window:
    if injection.start_s is None or injection.end_s is None or injection.end_s <= injection.start_s:
        raise AnswerError("the profile's injection needs start_s and end_s with end_s > start_s")
    return Window(injection.start_s, injection.end_s)


def _target_scene(injection: Injection, profile: Profile) -> Window:
    if injection.target_scene is not None:
        return Window(injection.target_scene.start_s, injection.target_scene.end_s)
    if injection.target_scene_index is None:
        raise AnswerError("the profile's injection names no target scene")
    return _scene_at(injection.target_scene_index, profile)


def _scene_at(index: int, profile: Profile) -> Window:
    scenes = profile.narrative.scene_list
    if index >= len(scenes):
        raise AnswerError(f"the profile's target scene {index} is not among its {len(scenes)} scenes")
    return Window(scenes[index].start_s, scenes[index].end_s)


_VARIANTS: dict[str, Callable[[Injection, Profile], list[TruthWindow]]] = {
    "v01_frozen_scene": _frozen,
    "v03_scene_swap": _swapped,
    "v04_color_grade_shift": _one_scene,
    "v05_noise_floor_spike": _one_scene,
    "v06_duplicate_segment": _duplicated,
    "v07_audio_video_desync": _desynced,
}
