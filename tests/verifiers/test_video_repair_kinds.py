"""Golden scores 1, broken 0, an honest re-encode of golden at least 0.9: for every kind of defect.

Generated clips here cover the kinds that test_video_repair_attacks does not; real footage covers all of them,
each on one of two clips (benchmarks/h1_table.py runs every kind on every clip).
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.verifiers.defects import golden_task, report_of
from tests.verifiers.repair_clips import (
    Clip,
    generated_clip,
    read_clip,
    read_sound,
    real_media,
    with_sound,
    write_clip,
)
from verifiers.video_repair.runner import verify
from verifiers.video_repair.schema import Kind


class Source(NamedTuple):
    """Real pictures with real speech laid under them."""

    film: str
    start_s: float
    speech: str


ANIMATION = Source("film/bbb_480p_30s.mp4", 10.0, "speech/ljspeech/LJ001-0001.wav")
STREET = Source("film/bikes.mp4", 2.0, "speech/librispeech/libri_5703-47212-0000.ogg")


@cache
def real_clip(source: Source) -> Clip:
    folder = real_media()
    clip = read_clip(folder / source.film, start_s=source.start_s, length_s=5.0, height_px=120)
    speech = read_sound(folder / source.speech)
    assert speech is not None
    return with_sound(clip, speech)


def anchor_scores(folder: Path, clip: Clip, kind: Kind) -> tuple[float | None, ...]:
    """What golden, broken, broken re-encoded and golden re-encoded score."""
    task = golden_task(folder / "answers", clip, kind)
    outputs = folder / "outputs"
    outputs.mkdir()
    (outputs / "report.md").write_text(report_of(task.truth.ranges), encoding="utf-8")

    def score(file: Path) -> float | None:
        shutil.copy(file, outputs / "fixed.mp4")
        return verify(outputs, task.answers).score

    return (
        score(task.answers / "golden.mp4"),
        score(task.answers / "broken.mp4"),
        score(write_clip(folder / "broken_again.mp4", task.broken)),
        score(write_clip(folder / "golden_again.mp4", task.golden)),
    )


@pytest.mark.parametrize(
    "kind", [Kind.ROOM_ECHO, Kind.CLIPPING, Kind.LOST_SHARPNESS, Kind.REPEATED_FRAMES, Kind.WRONG_SENTENCES]
)
def test_a_generated_clip_is_anchored_at_0_and_1(kind, tmp_path):
    golden, broken, broken_again, golden_again = anchor_scores(tmp_path, generated_clip(), kind)
    assert (golden, broken, broken_again) == (1.0, 0.0, 0.0)
    assert golden_again is not None and golden_again >= 0.9


@pytest.mark.parametrize(
    ("kind", "source"), [(kind, (ANIMATION, STREET)[index % 2]) for index, kind in enumerate(Kind)]
)
def test_a_real_clip_is_anchored_at_0_and_1(kind, source, tmp_path):
    golden, broken, broken_again, golden_again = anchor_scores(tmp_path, real_clip(source), kind)
    assert (golden, broken, broken_again) == (1.0, 0.0, 0.0)
    assert golden_again is not None and golden_again >= 0.9
