"""Defects: what each does to a film is what its truth says, and nothing else."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from avb_mcp.tasks.defects import _sounds, desync_drift
from avb_mcp.tasks.defects._base import (
    CannotPlace,
    Damage,
    Defect,
    Drawn,
    Hold,
    Run,
    Stretch,
    broken_count,
    broken_frames,
    broken_sound,
)
from avb_mcp.tasks.defects._places import active_seconds, edge_frames
from avb_mcp.tasks.defects._profile import scenes
from avb_mcp.tasks.defects.registry import DEFECTS, by_name
from avb_mcp.tasks.footage import RATE_HZ, open_footage
from tests.avb_mcp.tasks.spoken_films import SHOTS, spoken_film
from verifiers.video_repair.schema import AUDIO_KINDS, TIMELINE_KINDS, VISUAL_KINDS, Kind
from verifiers.video_repair_v3.schema import Profile
from verifiers.video_repair_v3.truth import truth_windows

NAMES = [defect.name for defect in DEFECTS]
LENGTHENING = {"frozen_scene", "buffering", "duplicate_segment"}
TELLING = (
    *("noise", "echo", "reverb", "clip", "distort", "blur", "focus", "sharp", "colour", "color", "swap", "order"),
    *("froze", "freez", "duplicate", "repeat", "filler", " um", " uh", "sync", "drift", "buffer", "hiss", "hum "),
)


@pytest.fixture(scope="module")
def stretch(tmp_path_factory: pytest.TempPathFactory) -> Stretch:
    """The usual film twice as long, of which the first 14 s are the task."""
    path = spoken_film(tmp_path_factory.mktemp("film") / "film.mp4", (*SHOTS, 60, 70))
    return Stretch(open_footage(path), 0, sum(SHOTS))


def drawn(defect: Defect[Any], stretch: Stretch, seed: int = 5) -> tuple[Drawn, Damage]:
    """The first draw that finds a place."""
    rng = np.random.default_rng(seed)
    for _ in range(12):
        try:
            found = defect.draw(stretch, rng)
        except CannotPlace:
            continue
        return found, defect.damage(stretch, found)
    raise AssertionError(f"{defect.name} finds no place")


def order(stretch: Stretch, damage: Damage) -> list[int]:
    """Which frame of the stretch each frame of the broken film is."""
    numbers: list[int] = []
    for part in damage.parts or (Run(0, stretch.frame_count),):
        if isinstance(part, Hold):
            numbers += [part.frame] * part.count
        else:
            own = list(range(part.first, part.last))
            numbers += own[::-1] if part.backwards else own
    return numbers


def spans(damage: Damage, stretch: Stretch) -> list[tuple[int, int]]:
    """The places of the truth, by frames of the broken film."""
    if damage.window:
        return [damage.window]
    if damage.ranges:
        return list(damage.ranges)
    entries = damage.injection.get("injections", [damage.injection])
    entries = [window for entry in entries for window in entry.get("windows", [entry])]
    return [(stretch.frame(entry["start_s"]), stretch.frame(entry["end_s"])) for entry in entries if "start_s" in entry]


def test_the_list_has_every_kind_of_the_paper_and_every_variant_of_the_release(stretch: Stretch) -> None:
    assert {name for name in NAMES if by_name()[name].scheme == "h1"} == {kind.value for kind in Kind}
    variants = {
        entry["variant"]
        for defect in DEFECTS
        if defect.scheme == "v3"
        for entry in (lambda injection: injection.get("injections", [injection]))(drawn(defect, stretch)[1].injection)
    }
    assert {variant[:3] for variant in variants} == {"v01", "v03", "v04", "v05", "v06", "v07"}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_draws_the_same_and_another_seed_something_else(name: str, stretch: Stretch) -> None:
    defect = by_name()[name]
    assert drawn(defect, stretch)[0] == drawn(defect, stretch)[0]
    assert len({drawn(defect, stretch, seed)[0].model_dump_json() for seed in range(6)}) > 1


@pytest.mark.parametrize("name", [name for name in NAMES if name != "desync_constant"])
@pytest.mark.parametrize("seed", range(4))
def test_places_lie_away_from_the_ends_of_the_film(name: str, seed: int, stretch: Stretch) -> None:
    damage = drawn(by_name()[name], stretch, seed)[1]
    least = min(edge_frames(stretch), stretch.frame(0.6))
    for first, last in spans(damage, stretch):
        assert least <= first < last <= broken_count(stretch, damage) - least


@pytest.mark.parametrize("name", sorted({*TIMELINE_KINDS, *LENGTHENING}))
@pytest.mark.parametrize("seed", range(4))
def test_cutting_the_true_places_out_leaves_the_film_as_it_was(name: str, seed: int, stretch: Stretch) -> None:
    damage = drawn(by_name()[name], stretch, seed)[1]
    numbers = order(stretch, damage)
    gone = {frame for span in spans(damage, stretch) for frame in range(*span)}
    assert [number for at, number in enumerate(numbers) if at not in gone] == list(range(stretch.frame_count))
    track, whole = broken_sound(stretch, damage), stretch.sound
    assert track is not None and whole is not None and track.shape[1] == stretch.sample(len(numbers))
    kept = np.ones(track.shape[1], bool)
    for first, last in spans(damage, stretch):
        kept[stretch.sample(first) : stretch.sample(last)] = False
    assert np.abs(track[:, kept][:, : whole.shape[1] - 8] - whole[:, : whole.shape[1] - 8]).max() == 0


@pytest.mark.parametrize("name", ["shot_swap", "scene_swap_gapped", "scene_swap_adjacent"])
def test_a_swap_loses_nothing_and_moves_whole_shots(name: str, stretch: Stretch) -> None:
    damage = drawn(by_name()[name], stretch)[1]
    numbers = order(stretch, damage)
    assert sorted(numbers) == list(range(stretch.frame_count)) != numbers
    cuts = {shot.first for shot in stretch.shots}
    joints = [b for a, b in itertools.pairwise(numbers) if b != a + 1]
    assert set(joints) <= cuts and numbers[0] == 0 and numbers[-1] == stretch.frame_count - 1


@pytest.mark.parametrize("name", sorted({*AUDIO_KINDS, "noise_floor", "desync_window", "desync_drift"}))
def test_a_defect_of_sound_changes_its_window_and_nothing_else(name: str, stretch: Stretch) -> None:
    damage = drawn(by_name()[name], stretch)[1]
    ((first, last),) = spans(damage, stretch)
    clean, track = stretch.sound, broken_sound(stretch, damage)
    assert clean is not None and track is not None and track.shape == clean.shape and not damage.parts
    inside = slice(stretch.sample(first), stretch.sample(last))
    assert active_seconds(clean[:, inside]) >= 1.0
    change = track - clean
    assert np.abs(change[:, inside]).max() > 0.01
    change[:, inside] = 0
    assert np.abs(change).max() == 0


@pytest.mark.parametrize("name", sorted({*VISUAL_KINDS, "colour_grade"}))
def test_a_defect_of_the_picture_changes_its_window_and_nothing_else(name: str, stretch: Stretch) -> None:
    damage = drawn(by_name()[name], stretch)[1]
    ((first, last),) = spans(damage, stretch)
    clean = list(stretch.pictures(0, stretch.frame_count))
    changes = [
        float(np.abs(a.astype(np.int16) - b).mean()) for a, b in zip(clean, broken_frames(stretch, damage), strict=True)
    ]
    assert min(changes[first:last]) > 1.0
    assert max(changes[:first] + changes[last:]) == 0.0
    assert damage.sound is None


def test_a_frozen_picture_keeps_the_sound_and_the_length(stretch: Stretch) -> None:
    damage = drawn(by_name()["frozen_picture"], stretch)[1]
    ((first, last),) = spans(damage, stretch)
    numbers = order(stretch, damage)
    assert numbers[first - 1 : last] == [first - 1] * (last - first + 1)
    assert damage.sound is None and len(numbers) == stretch.frame_count


def test_a_constant_offset_moves_all_of_the_sound(stretch: Stretch) -> None:
    damage = drawn(by_name()["desync_constant"], stretch)[1]
    by = round(damage.injection["offset_ms"] / 1000 * RATE_HZ)
    clean, track = stretch.sound, broken_sound(stretch, damage)
    assert clean is not None and track is not None and 450 <= abs(damage.injection["offset_ms"]) <= 720
    late, early = (track[:, by:], clean[:, :-by]) if by > 0 else (track[:, :by], clean[:, -by:])
    assert np.abs(late - early).max() == 0
    assert spans(damage, stretch) == [(0, stretch.frame_count)]


def test_a_drift_slows_down_and_catches_up_within_its_window() -> None:
    tone = np.sin(2 * np.pi * 200 * np.arange(2 * RATE_HZ) / RATE_HZ).astype(np.float32)[None]
    lengths = [
        _sounds.at_tempo(tone, tempo).shape[1] / tone.shape[1] for tempo in (desync_drift.SLOW, desync_drift.FAST)
    ]
    assert lengths == pytest.approx([1 / 0.67, 1 / 1.55], rel=0.03)
    share = desync_drift._SLOW_SHARE
    assert share / desync_drift.SLOW + (1 - share) / desync_drift.FAST == pytest.approx(1.0)


@pytest.mark.parametrize("name", [defect.name for defect in DEFECTS if defect.scheme == "v3"])
def test_the_verifier_reads_the_profile_and_finds_the_places(name: str, stretch: Stretch) -> None:
    damage = drawn(by_name()[name], stretch)[1]
    truth = damage.injection if "injections" in damage.injection else {"injection": damage.injection}
    profile = Profile.model_validate(
        {"format": {"duration_s": stretch.duration_s}, "narrative": {"scene_list": scenes(stretch)}, **truth}
    )
    found = truth_windows(profile)
    assert len(found) == (2 if name == "combined" or "swap" in name else 1)
    for item in found:
        assert any(s.start_s <= item.window.end_s and item.window.start_s <= s.end_s for s in item.scenes)


def test_two_defects_at_once_do_not_touch_each_other(stretch: Stretch) -> None:
    for seed in range(6):
        (a, b), (c, d) = sorted(spans(drawn(by_name()["combined"], stretch, seed)[1], stretch))
        assert b < c and a < b and c < d


def test_a_stretch_without_speech_pauses_or_cuts_is_refused_by_those_that_need_them(tmp_path: Path) -> None:
    footage = open_footage(spoken_film(tmp_path / "film.mp4", (160,), sound=False))
    plain = Stretch(footage, 0, footage.frame_count)
    for name in ("filler_words", "room_echo", "shot_swap", "duplicate_segment", "scene_swap_gapped"):
        with pytest.raises(CannotPlace):
            by_name()[name].draw(plain, np.random.default_rng(1))


@pytest.mark.parametrize("name", NAMES)
def test_what_a_client_says_names_no_time_and_no_defect(name: str) -> None:
    symptoms = by_name()[name].symptoms
    assert len(set(symptoms)) >= 3
    for symptom in symptoms:
        said = f" {symptom.lower()} "
        assert not any(character.isdigit() for character in said)
        assert not [word for word in TELLING if word in said]


@pytest.mark.parametrize("colour", ["white", "pink", "brown", "babble"])
def test_noises_have_the_asked_level_and_their_own_slope(colour: _sounds.NoiseColour) -> None:
    made = _sounds.noise(np.random.default_rng(2), colour, 1, 2 * RATE_HZ)[0]
    assert float(np.sqrt(np.mean(made**2))) == pytest.approx(1.0, abs=1e-6)
    power = np.abs(np.fft.rfft(made)) ** 2
    hz = np.fft.rfftfreq(len(made), 1 / RATE_HZ)
    low, high = (power[(hz > a) & (hz < b)].mean() for a, b in ((200, 400), (3200, 6400)))
    fall_db = 10 * np.log10(low / high)
    assert {"white": -1 < fall_db < 1, "pink": 9 < fall_db < 15, "brown": 20 < fall_db < 28, "babble": fall_db > 6}[
        colour
    ]
