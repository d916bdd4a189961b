"""The released repair scheme on real footage: golden near 1, broken far below, monotone in between.

An excerpt of a real clip is the source; each defect is injected at falling strength with one encoder, so that
only the defect changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.verifiers.clips import RATE_HZ, Picture, Sound, shared_media, write_clip
from verifiers._media import mono_audio, video_frames
from verifiers.video_repair_v3.runner import verify

CLIPS = {"film/bbb_480p_30s.mp4": 11.0, "film/nasa_13013.mp4": 2.0}
SECONDS = 6
WINDOW_S = (2.0, 4.0)
HEIGHT_PX = 180
STRENGTHS = (1.0, 0.5, 0.1)


@dataclass(frozen=True)
class Excerpt:
    fps: int
    pictures: list[Picture]
    sound: Sound
    source: Path

    def frames(self, start_s: float, end_s: float) -> range:
        return range(round(start_s * self.fps), round(end_s * self.fps))

    def samples(self, start_s: float, end_s: float) -> slice:
        return slice(round(start_s * RATE_HZ), round(end_s * RATE_HZ))


Defect = Callable[[Excerpt, float], tuple[list[Picture], Sound]]


def freeze(clip: Excerpt, strength: float) -> tuple[list[Picture], Sound]:
    """Hold the first picture of the window for a part of it."""
    pictures = list(clip.pictures)
    held = clip.frames(WINDOW_S[0], WINDOW_S[0] + strength * (WINDOW_S[1] - WINDOW_S[0]))
    for number in held:
        pictures[number] = clip.pictures[held[0]]
    return pictures, clip.sound


def grade(clip: Excerpt, strength: float) -> tuple[list[Picture], Sound]:
    """Tint the window."""
    gains = 1 + strength * (np.array([1.15, 0.95, 0.85]) - 1)
    pictures = list(clip.pictures)
    for number in clip.frames(*WINDOW_S):
        pictures[number] = np.clip(np.rint(pictures[number] * gains), 0, 255).astype(np.uint8)
    return pictures, clip.sound


def hiss(clip: Excerpt, strength: float) -> tuple[list[Picture], Sound]:
    """Add noise to the window, as loud as the sound itself at full strength."""
    sound = clip.sound.copy()
    inside = clip.samples(*WINDOW_S)
    noise = np.random.default_rng(5).standard_normal(sound[inside].size)
    sound[inside] += strength * sound[inside].std() * noise
    return clip.pictures, sound


def desync(clip: Excerpt, strength: float) -> tuple[list[Picture], Sound]:
    """Delay all sound: 600, 150 and 6 ms."""
    late = round(strength**2 * 0.6 * RATE_HZ)
    return clip.pictures, np.concatenate((np.zeros(late), clip.sound[: clip.sound.size - late]))


def duplicate(clip: Excerpt, strength: float) -> tuple[list[Picture], Sound]:
    """Play up to 2 s before the window's start twice; everything after comes late."""
    cut_s, length_s = WINDOW_S[0], strength * (WINDOW_S[1] - WINDOW_S[0])
    copied, before = clip.frames(cut_s - length_s, cut_s), clip.frames(0, cut_s)
    pictures = [clip.pictures[n] for n in before] + [clip.pictures[n] for n in copied]
    pictures += clip.pictures[len(before) :]
    head, copy = clip.sound[clip.samples(0, cut_s)], clip.sound[clip.samples(cut_s - length_s, cut_s)]
    return pictures, np.concatenate((head, copy, clip.sound[head.size :]))


DEFECTS: dict[str, Defect] = {
    "v01_frozen_scene": freeze,
    "v04_color_grade_shift": grade,
    "v05_noise_floor_spike": hiss,
    "v06_duplicate_segment": duplicate,
    "v07_audio_video_desync": desync,
}


@pytest.fixture(scope="module", params=CLIPS)
def excerpt(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Excerpt:
    """Six seconds of a real clip at its own rate, small, with its own sound."""
    path, start_s = shared_media(request.param), CLIPS[request.param]
    pictures: list[Picture] = []
    times_s: list[float] = []
    for frame in video_frames(path):
        if frame.time_s >= start_s + SECONDS:
            break
        if frame.time_s >= start_s:
            bgr = frame.bgr()
            width_px = round(HEIGHT_PX * bgr.shape[1] / bgr.shape[0] / 2) * 2
            pictures.append(cv2.resize(bgr, (width_px, HEIGHT_PX), interpolation=cv2.INTER_AREA))
            times_s.append(frame.time_s)
    fps = round((len(times_s) - 1) / (times_s[-1] - times_s[0]))
    pictures = pictures[: fps * SECONDS]
    samples: list[float] = []
    for block in mono_audio(path, rate_hz=RATE_HZ):
        samples.extend(block)
        if len(samples) >= (start_s + SECONDS) * RATE_HZ:
            break
    first = round(start_s * RATE_HZ)
    sound = np.array(samples[first : first + SECONDS * RATE_HZ])
    source = tmp_path_factory.mktemp("real") / "source.mp4"
    write_clip(source, pictures, sound, fps=fps, crf=16)
    return Excerpt(fps, pictures, sound, source)


def score(clip: Excerpt, fixed: Path, variant: str, folder: Path) -> float:
    scene = {"start_s": 0.0, "end_s": SECONDS}
    injection = {"variant": variant, "start_s": WINDOW_S[0], "end_s": WINDOW_S[1], "target_scene": scene}
    profile, report = folder / "profile.json", folder / "report.md"
    profile.write_text(json.dumps({"format": {"duration_s": SECONDS}, "injection": injection}))
    report.write_text(f"## Diagnosis\n- start: {WINDOW_S[0]}\n- end: {WINDOW_S[1]}\n")
    verdict = verify(fixed, report, clip.source, profile)
    assert verdict.status == "scored", verdict.reasons
    return verdict.components["edit"]


@pytest.mark.parametrize("variant", DEFECTS)
def test_less_damage_never_scores_less_and_none_scores_1(excerpt: Excerpt, variant: str, tmp_path: Path) -> None:
    scores = []
    for strength in STRENGTHS:
        pictures, sound = DEFECTS[variant](excerpt, strength)
        fixed = write_clip(tmp_path / f"{strength}.mp4", pictures, sound, fps=excerpt.fps, crf=16)
        scores.append(score(excerpt, fixed, variant, tmp_path))
    golden = tmp_path / "golden.mp4"
    golden.write_bytes(excerpt.source.read_bytes())
    scores.append(score(excerpt, golden, variant, tmp_path))
    assert scores[-1] >= 0.99
    assert scores[0] <= 0.7
    assert all(less <= more + 1e-9 for less, more in pairwise(scores)), scores
