"""What a copy of the broken film earns by the released scheme: never more than the bound, which is worked by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from avb_mcp.attacks._clips import MASTER, Clip, write_clip
from avb_mcp.attacks._defects import WINDOW
from avb_mcp.attacks._footage import FILM_S, Footage, generated_footage
from avb_mcp.attacks._v3_copy import copy_at_most, samples
from avb_mcp.attacks.repair_v3 import EDIT, FLOOR, FORMAT, VARIANTS
from verifiers.video_repair_v3.runner import verify
from verifiers.video_repair_v3.schema import Profile
from verifiers.video_repair_v3.scoring import plan_chunks

FROZEN = "v01_frozen_scene"
SLACK = 1e-6


@pytest.fixture(scope="module")
def footage() -> Footage:
    return generated_footage()


def both(folder: Path, film: Clip, damage: Callable[[Clip], Clip], variant: str) -> tuple[float, float]:
    """What a copy earns, and the bound."""
    source, broken, file = folder / "source.mp4", folder / "broken.mp4", folder / "profile.json"
    write_clip(source, film, MASTER)
    write_clip(broken, damage(film), MASTER)
    profile = {
        "format": {"duration_s": film.duration_s},
        "narrative": {"scene_list": [{"start_s": 0.0, "end_s": FILM_S}]},
        "injection": {"variant": variant, "target_scene_index": 0, **WINDOW.model_dump()},
    }
    file.write_text(json.dumps(profile), encoding="utf-8")
    verdict = verify(broken, folder / "report.md", source, file)
    assert verdict.score is not None
    return verdict.score, copy_at_most(source, broken, Profile.model_validate(profile))


def frozen(clip: Clip) -> Clip:
    first, last = (round(time_s * clip.fps) for time_s in (WINDOW.start_s, WINDOW.end_s))
    return Clip(
        [*clip.frames[:first], *[clip.frames[first]] * (last - first), *clip.frames[last:]], clip.fps, clip.sound
    )


def silenced(clip: Clip) -> Clip:
    sound = clip.heard().copy()
    sound[round((WINDOW.start_s - 0.1) * 48_000) : round((WINDOW.end_s + 0.1) * 48_000)] = 0
    return clip.with_sound(sound)


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_no_copy_earns_more_than_its_bound(variant: str, footage: Footage, tmp_path: Path) -> None:
    earned, bound = both(tmp_path, footage.film, VARIANTS[variant], variant)
    assert earned <= bound + SLACK
    assert bound < FORMAT + EDIT - 0.05


def test_a_freeze_costs_what_moves_meanwhile(footage: Footage, tmp_path: Path) -> None:
    earned, bound = both(tmp_path, footage.film, frozen, FROZEN)
    assert earned <= bound + SLACK
    assert bound < FORMAT + EDIT - 0.01


def test_a_freeze_in_which_nothing_moves_costs_nothing(footage: Footage, tmp_path: Path) -> None:
    still = Clip([footage.film.frames[0]] * len(footage.film.frames), footage.film.fps, footage.film.sound)
    earned, bound = both(tmp_path, still, frozen, FROZEN)
    assert earned == pytest.approx(FORMAT + EDIT, abs=0.005)
    assert earned <= bound + SLACK


def test_a_silenced_window_keeps_the_share_of_the_picture(footage: Footage, tmp_path: Path) -> None:
    earned, bound = both(tmp_path, footage.film, silenced, "v05_noise_floor_spike")
    assert (earned, bound) == (pytest.approx(FLOOR), pytest.approx(FLOOR))


def test_every_tenth_of_a_second_is_looked_at_until_a_chunk_has_its_hundred() -> None:
    looks = samples(plan_chunks(25.0), 25.0)
    times_s = np.array([look.time_s for look in looks])
    assert [look.number for look in looks[:3]] == [0, 2, 4]
    assert [int(np.sum((times_s >= start_s) & (times_s < start_s + 10))) for start_s in (0, 10, 20)] == [100, 100, 50]
    assert times_s[99] == pytest.approx(7.92)
