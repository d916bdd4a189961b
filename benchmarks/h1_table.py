"""Appendix H.1 scores of golden, broken and what lies between, for every kind on real clips.

    python -m benchmarks.h1_table [--clips NAME ...] [--kinds KIND ...] [--height 240]

For each kind and clip: golden, broken, broken re-encoded, golden re-encoded (x264 crf 18, AAC 128k), half-way
repairs, and the CPU time of one verdict. Clips come from AVB_TEST_MEDIA, else from ../shared/media. Exits 1
unless golden = 1, broken and its re-encode = 0, golden's re-encode >= 0.9 and the order in between holds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from tests.verifiers.defects import Task, golden_task, report_of, without
from tests.verifiers.repair_clips import Clip, read_clip, read_sound, with_sound, write_clip
from verifiers._verdict import Verdict
from verifiers.video_repair.runner import verify
from verifiers.video_repair.schema import TIMELINE_KINDS, Kind
from verifiers.video_repair.scoring import UnmeasurableDefect

MEDIA = Path(os.environ.get("AVB_TEST_MEDIA") or Path(__file__).resolve().parents[1] / ".." / "shared" / "media")
LENGTH_S = 8.0


class Source(NamedTuple):
    film: str
    start_s: float = 0.0
    speech: str | None = None
    """Real speech to lay under the pictures; otherwise the film's own sound."""


CLIPS = {
    "animation": Source("film/bbb_480p_30s.mp4", 10.0, "speech/ljspeech/LJ001-0001.wav"),
    "street": Source("film/bikes.mp4", 0.0, "speech/librispeech/libri_5703-47212-0000.ogg"),
    "diver": Source("odd/prores_like_mjpeg_diver.mov", 2.0, "speech/jfk.wav"),
    "screencast": Source("talking_head/movie-hello_webcam_screencast.mpeg"),
    "intro": Source("film/fillets_intro.mpg", 12.0),
}


def read(source: Source, height_px: int) -> Clip:
    clip = read_clip(MEDIA / source.film, start_s=source.start_s, length_s=LENGTH_S, height_px=height_px)
    speech = None if source.speech is None else read_sound(MEDIA / source.speech)
    return clip if speech is None else with_sound(clip, speech)


@dataclass(frozen=True)
class Row:
    golden: float
    broken: float
    broken_again: float
    golden_again: float
    between: tuple[float, ...]
    cpu_s: float

    @property
    def holds(self) -> bool:
        in_order = list(self.between) == sorted(self.between)
        return (
            (self.golden, self.broken, self.broken_again) == (1.0, 0.0, 0.0) and self.golden_again >= 0.9 and in_order
        )


def measure(task: Task, folder: Path) -> Row:
    outputs = folder / "outputs"
    outputs.mkdir()

    def judge(file: Path, ranges_kept: int | None = None) -> Verdict:
        shutil.copy(file, outputs / "fixed.mp4")
        claimed = task.truth.ranges[:ranges_kept]
        (outputs / "report.md").write_text(report_of(claimed), encoding="utf-8")
        return verify(outputs, task.answers)

    def score(verdict: Verdict) -> float:
        assert verdict.score is not None, verdict.reasons
        return verdict.score

    started_s = time.process_time()
    golden = score(judge(task.answers / "golden.mp4"))
    cpu_s = time.process_time() - started_s
    if task.truth.kind in TIMELINE_KINDS:
        steps = range(1, len(task.truth.ranges) + 1)
        partial = [(without(task.broken, task.truth.ranges[:count]), count) for count in steps]
    else:
        partial = [(blend(task, share), None) for share in (0.25, 0.5, 0.75)]
    between = tuple(score(judge(write_clip(folder / "part.mp4", clip), count)) for clip, count in partial)
    return Row(
        golden=golden,
        broken=score(judge(task.answers / "broken.mp4")),
        broken_again=score(judge(write_clip(folder / "broken_again.mp4", task.broken))),
        golden_again=score(judge(write_clip(folder / "golden_again.mp4", task.golden))),
        between=between,
        cpu_s=cpu_s,
    )


def blend(task: Task, share: float) -> Clip:
    """That much of golden in broken."""
    frames = [
        np.asarray(cv2.addWeighted(a, 1 - share, b, share, 0), np.uint8)
        for a, b in zip(task.broken.frames, task.golden.frames, strict=True)
    ]
    if task.broken.sound is None or task.golden.sound is None:
        return replace(task.golden, frames=frames)
    count = min(len(task.broken.sound), len(task.golden.sound))
    sound = (1 - share) * task.broken.sound[:count] + share * task.golden.sound[:count]
    return replace(task.golden, frames=frames, sound=sound.astype(np.float32))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", nargs="*", default=list(CLIPS), choices=list(CLIPS))
    parser.add_argument("--kinds", nargs="*", default=[kind.value for kind in Kind])
    parser.add_argument("--height", type=int, default=240, help="pictures are scaled to this height in pixels")
    options = parser.parse_args()
    print(f"{'kind':18}{'clip':12}{'golden':>8}{'broken':>8}{'again':>8}{'re-enc':>8}{'CPU s':>7}  between")
    failures = 0
    for name in options.clips:
        clip = read(CLIPS[name], options.height)
        for kind in map(Kind, options.kinds):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    row = measure(golden_task(Path(folder) / "answers", clip, kind), Path(folder))
                except UnmeasurableDefect as error:
                    print(f"{kind:18}{name:12}refused at build: {error}", flush=True)
                    continue
            failures += not row.holds
            between = " ".join(f"{value:.3f}" for value in row.between)
            print(
                f"{kind:18}{name:12}{row.golden:8.3f}{row.broken:8.3f}{row.broken_again:8.3f}"
                f"{row.golden_again:8.3f}{row.cpu_s:7.1f}  {between}{'' if row.holds else '  <-- FAILS'}",
                flush=True,
            )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
