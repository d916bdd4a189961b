"""Shots between hard cuts."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import pairwise

from verifiers._media import MediaInfo
from verifiers._shots import ContentCuts
from verifiers.video_repurpose.film import Collector, Picture


@dataclass(frozen=True)
class ShotDurations:
    """Seconds from each cut to the next, the film's start and end included.

    A film without a cut is one shot.
    """

    def start(self, info: MediaInfo) -> Collector[tuple[float, ...]]:  # noqa: ARG002
        return _ShotDurations()


class _ShotDurations(Collector[tuple[float, ...]]):
    needs_pictures = True

    def __init__(self) -> None:
        self._detector = ContentCuts()
        self._times_s = array("d")
        self._end_s = 0.0

    def see(self, picture: Picture) -> None:
        self._detector.add(picture.pixels.bgr())
        self._times_s.append(picture.time_s)
        self._end_s = picture.end_s

    def result(self) -> tuple[float, ...]:
        if not self._times_s:
            return ()
        bounds = [self._times_s[0], *(self._times_s[cut] for cut in self._detector.cuts), self._end_s]
        return tuple(end_s - start_s for start_s, end_s in pairwise(bounds))
