"""The clips of a call: whole files, or the shots of one film, with their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from primitives._base import Call, UserError
from primitives._media.ends import Ends, read_ends
from primitives._media.scan import Scan, scan
from primitives._media.shots import film_changes
from primitives._media.timeline import Timeline

SENSITIVITY = 0.5


@dataclass(frozen=True, eq=False)
class Clip:
    """Something that may stand anywhere in the order."""

    name: str
    ends: Ends
    file: Path
    path: str
    """As the caller wrote it."""
    scan: Scan
    frames: range

    @property
    def times_s(self) -> tuple[float, float]:
        """When it begins and ends in its file."""
        assert self.scan.video is not None
        return _time_s(self.scan.video, self.frames.start), _time_s(self.scan.video, self.frames.stop)


def whole_clips(call: Call, paths: Sequence[str], names: Sequence[str]) -> list[Clip]:
    """Files, each one clip."""
    opened = [_opened(call, path) for path in paths]  # what is wrong with one is said before any is read
    clips = []
    for number, ((file, found, timeline), path, name) in enumerate(zip(opened, paths, names, strict=True)):
        call.progress(number, len(paths), f"reading the ends of {path}")
        frames = range(len(timeline))
        clips.append(Clip(name, read_ends(call, file, path, found, frames), file, path, found, frames))
        call.media_s += float(timeline.duration)
    return clips


def film_shots(call: Call, path: str, start_s: float | None, end_s: float | None, most: int) -> list[Clip]:
    """The shots of a film, as they follow each other."""
    file, found, timeline = _opened(call, path)
    changes = film_changes(call, file, path, found).sure(SENSITIVITY)
    bounds = [0, *(change.frame for change in changes if 0 < change.frame < len(timeline)), len(timeline)]
    shots = [range(*ends) for ends in pairwise(sorted(set(bounds)))]
    times = [(_time_s(timeline, shot.start), _time_s(timeline, shot.stop)) for shot in shots]
    kept = [
        (number, shot)
        for number, (shot, (begins_s, ends_s)) in enumerate(zip(shots, times, strict=True), start=1)
        if ends_s > (start_s or 0.0) and begins_s < (end_s or times[-1][1])
    ]
    if not 2 <= len(kept) <= most:
        way_out = "Give a shorter range" if len(kept) > most else "Give a longer range, or the clips to order in paths"
        raise UserError(f"{path} has {len(kept)} shots there; 2 to {most} can be checked at once. {way_out}.")
    clips = []
    for done, (number, shot) in enumerate(kept):
        call.progress(done, len(kept), f"reading the ends of shot {number}")
        name = f"{number}@{times[number - 1][0]:.2f}s"
        clips.append(Clip(name, read_ends(call, file, path, found, shot), file, path, found, shot))
    call.media_s += times[kept[-1][0] - 1][1] - times[kept[0][0] - 1][0]
    return clips


def _opened(call: Call, path: str) -> tuple[Path, Scan, Timeline]:
    file = call.input(path)
    found = scan(file, path, call.check)
    if found.video is None:
        raise UserError(f"{path} has no pictures. Give films or clips with pictures.")
    return file, found, found.video


def _time_s(timeline: Timeline, frame: int) -> float:
    return float(timeline.time_of(frame) if frame < len(timeline) else timeline.duration)
