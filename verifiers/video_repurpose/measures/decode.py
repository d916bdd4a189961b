"""Whether every audio and video packet decodes, up to the end that the header promises."""

from __future__ import annotations

from dataclasses import dataclass

from verifiers._media import MediaInfo
from verifiers.video_repurpose.film import Collector, Fault, Picture, Sound

MISSING_END_S = 0.5
"""A file that stops this long before its header's duration was cut short; less is rounding and padding."""


@dataclass(frozen=True)
class DecodeFaults:
    """What went wrong while decoding every audio and video stream to its end; empty when nothing did."""

    def start(self, info: MediaInfo) -> Collector[tuple[str, ...]]:
        return _DecodeFaults(info.duration_s)


class _DecodeFaults(Collector[tuple[str, ...]]):
    needs_every_stream = True

    def __init__(self, promised_s: float | None) -> None:
        self._promised_s = promised_s
        self._end_s = 0.0
        self._counts: dict[str, int] = {}

    def see(self, picture: Picture) -> None:
        self._end_s = max(self._end_s, picture.end_s)

    def hear(self, sound: Sound) -> None:
        if sound.time_s is not None:
            self._end_s = max(self._end_s, sound.time_s + sound.duration_s)

    def fault(self, fault: Fault) -> None:
        self._counts[fault.sentence] = self._counts.get(fault.sentence, 0) + 1

    def result(self) -> tuple[str, ...]:
        faults = [f"{sentence} (x{count})" for sentence, count in self._counts.items()]
        if self._promised_s is not None and self._end_s < self._promised_s - MISSING_END_S:
            faults.append(f"it ends at {self._end_s:.3f} s, though its header says {self._promised_s:.3f} s")
        return tuple(faults)
