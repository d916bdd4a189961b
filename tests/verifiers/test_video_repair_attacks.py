"""Known tricks and their stated rewards, with honest controls that must still score."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.verifiers.defects import Task, expected_of, golden_task, joined, report_of, without
from tests.verifiers.repair_clips import RATE_HZ, Clip, Export, Sound, generated_clip, write_clip
from verifiers.video_repair.runner import verify
from verifiers.video_repair.schema import Expected, Kind, TimeRange

NOTHING = (0.0, 0.0)
FULL = (0.95, 1.0)


@dataclass(frozen=True)
class Attempt:
    reward: tuple[float, float]
    """Lowest and highest reward that is right."""
    clip: Callable[[Task], Clip]
    export: Export | None = None
    report: Callable[[Task], str] = lambda task: report_of(task.truth.ranges)
    copy: str | None = None
    """Hand in this file of the answer folder instead of writing the clip."""


def golden(task: Task) -> Clip:
    return task.golden


def broken(task: Task) -> Clip:
    return task.broken


def sound_of(make: Callable[[Task], Clip], change: Callable[[Sound], Sound]) -> Callable[[Task], Clip]:
    def changed(task: Task) -> Clip:
        clip = make(task)
        assert clip.sound is not None
        return replace(clip, sound=change(clip.sound).astype(np.float32))

    return changed


def black(make: Callable[[Task], Clip]) -> Callable[[Task], Clip]:
    return lambda task: replace(make(task), frames=[np.zeros_like(frame) for frame in make(task).frames])


def one_changed_frame(task: Task) -> Clip:
    middle = len(task.broken.frames) // 2
    frames = list(task.broken.frames)
    frames[middle] = np.full_like(frames[middle], 200)
    return replace(task.broken, frames=frames)


def of_another_task(task: Task) -> Clip:
    return generated_clip(seed=77)


def shorter(task: Task) -> Clip:
    keep = len(task.golden.frames) // 2
    assert task.golden.sound is not None
    return Clip(task.golden.frames[:keep], task.golden.fps, task.golden.sound[: 3 * RATE_HZ])


def one_frame_late(task: Task) -> Clip:
    return replace(task.golden, frames=[task.golden.frames[0], *task.golden.frames[:-1]])


def delayed(samples: int) -> Callable[[Sound], Sound]:
    return lambda sound: np.concatenate([np.zeros(samples), sound[:-samples]])


def over_suppressed(sound: Sound) -> Sound:
    """Only the strongest 1.5 % of each short spectrum's cells survive."""
    size = 1024
    frames = np.lib.stride_tricks.sliding_window_view(sound, size)[:: size // 2] * np.hanning(size)
    spectra = np.fft.rfft(frames)
    spectra[np.abs(spectra) < np.quantile(np.abs(spectra), 0.985)] = 0
    result = np.zeros(len(sound))
    for index, frame in enumerate(np.fft.irfft(spectra)):
        result[index * size // 2 :][:size] += frame
    return result


EVERY_KIND = {
    "golden": Attempt((1.0, 1.0), golden, copy="golden.mp4"),
    "broken, verbatim": Attempt(NOTHING, broken, copy="broken.mp4"),
    "control: golden re-encoded": Attempt(FULL, golden),
    "broken re-encoded": Attempt(NOTHING, broken),
    "broken re-encoded badly": Attempt(NOTHING, broken, Export(crf="30", audio_bit_rate=48_000)),
    "broken with one changed frame": Attempt(NOTHING, one_changed_frame),
    "silence over the broken picture": Attempt(NOTHING, sound_of(broken, np.zeros_like)),
    "silence over the golden picture": Attempt(NOTHING, sound_of(golden, np.zeros_like)),
    "black with the broken sound": Attempt(NOTHING, black(broken)),
    "black with the golden sound": Attempt(NOTHING, black(golden)),
    "over-suppressed broken sound": Attempt((0.0, 0.3), sound_of(broken, over_suppressed)),
    "broken, louder": Attempt(NOTHING, sound_of(broken, lambda sound: 4 * sound)),
    "golden of another task": Attempt(NOTHING, of_another_task),
    "half as long": Attempt(NOTHING, shorter),
    "control: a fragmented mp4": Attempt(FULL, golden, Export(movflags="frag_keyframe+empty_moov")),
    "control: QuickTime's flavour": Attempt(FULL, golden, Export(container="mov")),
    "control: one frame late": Attempt(FULL, one_frame_late),
    "control: sound 20 ms late": Attempt(FULL, sound_of(golden, delayed(960))),
}

FORMAT = {  # gates that no kind sees differently
    "golden at another audio rate": Attempt(NOTHING, golden, Export(audio_rate_hz=44_100)),
    "golden in another codec": Attempt(NOTHING, golden, Export(codec="libx265")),
    "golden in another container": Attempt(NOTHING, golden, Export(container="matroska")),
    "golden with non-square pixels": Attempt(NOTHING, golden, Export(sample_aspect=Fraction(4, 3))),
}


def moved(ranges: list[TimeRange]) -> list[TimeRange]:
    return [TimeRange(start_s=item.start_s + 0.7, end_s=item.end_s + 0.7) for item in ranges]


def comb(task: Task) -> list[TimeRange]:
    """Half-second cuts everywhere, each of which could be a true one."""
    return [TimeRange(start_s=at, end_s=at + 0.45) for at in np.arange(0.2, task.broken.duration_s - 1, 0.5)]


TIMELINE = {
    "no ranges": Attempt(NOTHING, golden, report=lambda task: report_of([])),
    "no report to speak of": Attempt(NOTHING, golden, report=lambda task: "I cut some things."),
    "the whole file claimed": Attempt(
        NOTHING, golden, report=lambda task: report_of([TimeRange(start_s=0.0, end_s=task.broken.duration_s)])
    ),
    "cuts everywhere, honestly rendered": Attempt(
        NOTHING, lambda task: without(task.broken, comb(task)), report=lambda task: report_of(comb(task))
    ),
    "true ranges, broken rendered": Attempt(NOTHING, broken),
    "true ranges, other ranges rendered": Attempt(NOTHING, lambda task: without(task.broken, moved(task.truth.ranges))),
    "wrong ranges, golden rendered": Attempt(NOTHING, golden, report=lambda task: report_of(moved(task.truth.ranges))),
    "golden, louder": Attempt(NOTHING, sound_of(golden, lambda sound: 4 * sound)),
    "control: one of three, honestly": Attempt(
        (0.33, 0.34),
        lambda task: without(task.broken, task.truth.ranges[:1]),
        report=lambda task: report_of(task.truth.ranges[:1]),
    ),
    "control: cut from the broken file": Attempt(FULL, lambda task: without(task.broken, task.truth.ranges)),
}

SHOT_SWAP = {"golden three times over": Attempt(NOTHING, lambda task: joined([task.golden] * 3))}


def wrong_rewards(task: Task, attempts: dict[str, Attempt], folder: Path) -> dict[str, float | None]:
    """The rewards that are not as stated."""
    wrong = {}
    for number, (name, attempt) in enumerate(attempts.items()):
        outputs = folder / str(number)
        outputs.mkdir()
        if attempt.copy:
            shutil.copy(task.answers / attempt.copy, outputs / "fixed.mp4")
        else:
            write_clip(outputs / "fixed.mp4", attempt.clip(task), attempt.export)
        (outputs / "report.md").write_text(attempt.report(task), encoding="utf-8")
        reward = verify(outputs, task.answers).score
        lowest, highest = attempt.reward
        if reward is None or not lowest <= reward <= highest:
            wrong[name] = reward
    return wrong


@pytest.mark.parametrize(
    ("kind", "attempts"),
    [
        (Kind.BACKGROUND_NOISE, EVERY_KIND),
        (Kind.BLUR, EVERY_KIND | FORMAT),
        (Kind.SHOT_SWAP, EVERY_KIND | SHOT_SWAP),
        (Kind.FILLER_WORDS, EVERY_KIND | TIMELINE),
    ],
)
def test_every_trick_and_control_gets_its_stated_reward(kind, attempts, tmp_path):
    task = golden_task(tmp_path / "answers", generated_clip(), kind)
    assert wrong_rewards(task, attempts, tmp_path) == {}


def test_another_codec_scores_where_the_task_allows_it(tmp_path):
    clip = generated_clip()
    fields = expected_of(clip).model_dump()
    fields["video"]["codecs"], fields["audio"]["codecs"] = ["h264", "hevc"], ["aac", "opus"]
    task = golden_task(tmp_path / "answers", clip, Kind.FILLER_WORDS, accepted=Expected(**fields))
    attempts = {
        "control: HEVC": Attempt(FULL, golden, Export(codec="libx265")),
        "control: Opus": Attempt(FULL, golden, Export(audio_codec="libopus")),
        "broken in HEVC": Attempt(NOTHING, broken, Export(codec="libx265")),
    }
    assert wrong_rewards(task, attempts, tmp_path) == {}


def test_a_repair_scores_more_the_further_it_goes(tmp_path):
    task = golden_task(tmp_path / "answers", generated_clip(), Kind.COLOUR_SHIFT)

    def score(share: float) -> float:
        frames = [
            np.rint((1 - share) * a + share * b).astype(np.uint8)
            for a, b in zip(task.broken.frames, task.golden.frames, strict=True)
        ]
        outputs = tmp_path / str(share)
        outputs.mkdir()
        write_clip(outputs / "fixed.mp4", replace(task.golden, frames=frames))
        reward = verify(outputs, task.answers).score
        assert reward is not None
        return reward

    scores = [score(share) for share in (0.0, 0.2, 0.5, 0.8, 1.0)]
    assert scores[0] == 0.0
    assert all(later > earlier + 0.05 for earlier, later in pairwise(scores))
