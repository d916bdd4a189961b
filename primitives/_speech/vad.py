"""Where somebody speaks, by the small network that comes with faster-whisper; it needs no speech model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
STEP = 512
STEP_S = STEP / RATE_HZ
"""The network judges 32 ms at a time."""
ON, OFF = 0.5, 0.35
"""Speech begins where its probability reaches ON, and goes on until it falls below OFF."""
MIN_SILENCE_S = 0.1
MIN_SPEECH_S = 0.06
PAD_S = 0.03


@dataclass(frozen=True)
class Span:
    """A stretch of time `[start_s, end_s)`."""

    start_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s

    def overlaps(self, other: Span) -> bool:
        return self.start_s < other.end_s and other.start_s < self.end_s


def speech_probability(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """How likely each 32 ms of 16 kHz mono sound is speech."""
    from faster_whisper.vad import get_vad_model

    if samples.size == 0:
        return np.zeros(0, np.float32)
    padded = np.pad(np.nan_to_num(samples), (0, -samples.size % STEP))
    return np.asarray(get_vad_model()(padded), np.float32).reshape(-1)


def islands(probability: NDArray[np.float32], start_s: float, end_s: float) -> list[Span]:
    """The stretches of speech in a piece of sound that begins at `start_s`. Pure."""
    found: list[Span] = []
    begin: int | None = None
    for step, value in enumerate([*probability.tolist(), 0.0]):
        if begin is None and value >= ON:
            begin = step
        elif begin is not None and value < OFF:
            found.append(Span(start_s + begin * STEP_S, start_s + step * STEP_S))
            begin = None
    long_enough = [span for span in joined(found, MIN_SILENCE_S) if span.length_s >= MIN_SPEECH_S]
    padded = [Span(max(start_s, span.start_s - PAD_S), min(end_s, span.end_s + PAD_S)) for span in long_enough]
    return [span for span in padded if span.length_s > 0]


def joined(spans: list[Span], shortest_gap_s: float) -> list[Span]:
    """Spans in order, those closer than a gap made one."""
    result: list[Span] = []
    for span in spans:
        if result and span.start_s - result[-1].end_s < shortest_gap_s:
            result[-1] = Span(result[-1].start_s, max(result[-1].end_s, span.end_s))
        else:
            result.append(span)
    return result


def gaps(spans: list[Span], start_s: float, end_s: float) -> list[Span]:
    """What lies between spans within a range."""
    edges = [Span(start_s, start_s), *spans, Span(end_s, end_s)]
    return [Span(a.end_s, b.start_s) for a, b in pairwise(edges) if b.start_s > a.end_s]


def within(spans: list[Span], start_s: float, end_s: float) -> list[Span]:
    """The parts of spans that lie in a range."""
    cut = [Span(max(start_s, span.start_s), min(end_s, span.end_s)) for span in spans]
    return [span for span in cut if span.length_s > 0]
