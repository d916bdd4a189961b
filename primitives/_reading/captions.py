"""Texts as captions: readings of one text joined again, lines that come and go together put into one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from primitives._reading.engine import Box
from primitives._reading.follow import SURE, Track, same_text

GAP_S = 0.35
"""A text that is away for no longer was only not read."""
LEAST_S, LEAST_CONFIDENCE = 0.1, 0.65
"""What is less sure, or short and not quite sure, is hardly a text: twigs and folds look like letters, too."""
TOGETHER_FRAMES = 2


@dataclass(frozen=True)
class Caption:
    """A text on screen during frames `[first, last)`."""

    text: str
    first: int
    last: int
    box: Box
    confidence: float


def captions(tracks: Sequence[Track], fps: float) -> list[Caption]:
    """What was on screen, in the order in which it came."""
    lines = [Caption(track.text, track.first, track.last, track.box, round(track.score, 3)) for track in tracks]
    joined = _joined(sorted(lines, key=lambda line: (line.first, line.box.top)), round(GAP_S * fps))
    texts = [
        line
        for line in joined
        if line.confidence >= (LEAST_CONFIDENCE if line.last - line.first >= LEAST_S * fps else SURE)
    ]
    grouped = _grouped(sorted(texts, key=lambda line: (line.box.top, line.box.left)))
    return sorted(grouped, key=lambda line: (line.first, line.box.top, line.box.left))


def _joined(lines: list[Caption], gap: int) -> list[Caption]:
    """One for each text that was lost for a moment and found again where it was."""
    kept: list[Caption] = []
    for line in lines:
        for place, other in enumerate(kept):
            near = other.box.overlap(line.box) > 0.5 and line.first - other.last <= gap
            if near and same_text(other.text, line.text):
                best = max(other, line, key=lambda one: one.confidence)
                kept[place] = replace(best, first=min(other.first, line.first), last=max(other.last, line.last))
                break
        else:
            kept.append(line)
    return kept


def _grouped(lines: list[Caption]) -> list[Caption]:
    """Lines below each other that come and go together, as one caption."""
    groups: list[Caption] = []
    for line in lines:
        for place, above in enumerate(groups):
            if _below(above, line):
                groups[place] = replace(
                    above,
                    text=f"{above.text}\n{line.text}",
                    box=above.box.around(line.box),
                    confidence=min(above.confidence, line.confidence),
                )
                break
        else:
            groups.append(line)
    return groups


def _below(above: Caption, line: Caption) -> bool:
    together = max(abs(above.first - line.first), abs(above.last - line.last)) <= TOGETHER_FRAMES
    height = above.box.height / (above.text.count("\n") + 1)
    close = -0.5 * height <= line.box.top - above.box.bottom <= 0.8 * height
    alike = 0.6 <= line.box.height / max(1.0, height) <= 1.7
    left = abs(above.box.left - line.box.left) <= height
    middle = abs(above.box.left + above.box.right - line.box.left - line.box.right) <= 2 * height
    return together and close and alike and (left or middle)
