"""Whether every audio and video packet decodes."""

from __future__ import annotations

from dataclasses import dataclass

from verifiers._media import MediaInfo
from verifiers.video_repurpose.film import Collector, Fault


@dataclass(frozen=True)
class DecodeFaults:
    """What went wrong while decoding every audio and video stream to its end; empty when nothing did."""

    def start(self, info: MediaInfo) -> Collector[tuple[str, ...]]:  # noqa: ARG002
        return _DecodeFaults()


class _DecodeFaults(Collector[tuple[str, ...]]):
    needs_every_stream = True

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def fault(self, fault: Fault) -> None:
        self._counts[fault.sentence] = self._counts.get(fault.sentence, 0) + 1

    def result(self) -> tuple[str, ...]:
        return tuple(f"{sentence} (x{count})" for sentence, count in self._counts.items())
