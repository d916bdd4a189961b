"""What takes longer to find out than pictures and waves: the beat, and what is written and said at the ends of clips.

Only ends and starts that the quick cues leave open are looked at.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from primitives._base import Call
from primitives._joins.beat import SIDE_S as BEAT_S
from primitives._joins.beat import beat_evidence, onsets
from primitives._joins.clips import Clip
from primitives._joins.picture import Values
from primitives._joins.speech import speech_evidence
from primitives._joins.text import text_evidence
from primitives._media.signs import read_signs
from primitives._media.sound_read import read_sound
from primitives._media.tracks import film_tracks
from primitives._reading.engine import Reader
from primitives._speech.models import SpeechModel
from primitives._speech.seams import SIDE_S, Samples, SeamListener, is_spoken, key_of, mark_of
from primitives._speech.vad import RATE_HZ
from primitives._tracks import BANDS, HOP_S

MOST_PAIRS = 120
"""Seams listened to in one call; of each end the likeliest ones."""
WORK_S = 25.0
VERSION = 1


def beaten(call: Call, clips: Sequence[Clip], ends: Sequence[int], starts: Sequence[int]) -> Values:
    """What the beat says, for the given ends and starts."""
    rows = round(BEAT_S / HOP_S)
    tails = [onsets(_bands(call, clips[place])[-rows:]) for place in ends]
    heads = [onsets(_bands(call, clips[place])[:rows]) for place in starts]
    return _spread(beat_evidence(tails, heads), ends, starts, len(clips))


def written(call: Call, clips: Sequence[Clip], ends: Sequence[int], starts: Sequence[int], reader: Reader) -> Values:
    """What text says, for the given ends and starts."""
    signs = []
    total = len(ends) + len(starts)
    for number, (place, at_end) in enumerate([*((a, True) for a in ends), *((b, False) for b in starts)]):
        clip = clips[place]
        call.progress(number, total, f"reading what is written in {clip.name}")
        signs.append(read_signs(call, clip.file, clip.path, clip.scan, clip.frames, at_end, reader))
    return _spread(text_evidence(signs[: len(ends)], signs[len(ends) :]), ends, starts, len(clips))


def said(
    call: Call, clips: Sequence[Clip], ends: Sequence[int], starts: Sequence[int], so_far: Values, model: SpeechModel
) -> Values:
    """What speech says, for the given ends and starts; of each end the ones that are the likeliest so far."""
    tails, heads = (
        {place: _side(call, clips[place], at_end) for place in places}
        for places, at_end in ((ends, True), (starts, False))
    )
    spoken_ends = [a for a in ends if is_spoken(tails[a], at_end=True)]
    spoken_starts = [b for b in starts if is_spoken(heads[b], at_end=False)]
    sure = np.full((len(ends), len(starts)), np.nan)
    if not spoken_ends or not spoken_starts:
        return np.zeros(so_far.shape)
    listener, until = SeamListener(call, model), time.monotonic() + WORK_S
    for number, a in enumerate(spoken_ends):
        call.progress(number, len(spoken_ends), f"listening across the end of {clips[a].name}")
        likely = sorted((b for b in spoken_starts if b != a), key=lambda b: -float(so_far[a, b]))
        known = _Heard(call, clips[a], model)
        for b in likely[: max(3, MOST_PAIRS // len(spoken_ends))]:
            if known.has(heads[b]) or time.monotonic() < until:
                sure[ends.index(a), starts.index(b)] = known.sureness(listener, tails[a], heads[b])
        known.keep()
    return _spread(speech_evidence(sure), ends, starts, len(clips))


class _Heard:
    """What was heard across the end of one clip, kept beside it."""

    def __init__(self, call: Call, clip: Clip, model: SpeechModel) -> None:
        kind = f"said-{VERSION}-{key_of(model)}-{clip.frames.start}-{clip.frames.stop}"
        self._call, self._file, self._new = call, call.workspace.derived(clip.file, kind), False
        self._known = _load(self._file)

    def has(self, head: Samples) -> bool:
        return mark_of(head) in self._known

    def sureness(self, listener: SeamListener, tail: Samples, head: Samples) -> float:
        mark = mark_of(head)
        if mark not in self._known:
            self._known[mark], self._new = listener.sureness(tail, head), True
        return self._known[mark]

    def keep(self) -> None:
        if self._new:
            with contextlib.suppress(OSError), self._call.workspace.atomic(self._file) as part:
                part.write_bytes(_KNOWN.dump_json(self._known))


_KNOWN = TypeAdapter(dict[str, float])


def _load(file: Path) -> dict[str, float]:
    try:
        return _KNOWN.validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return {}


def _bands(call: Call, clip: Clip) -> Values:
    """The levels of a clip's sound over time; nothing where it has none."""
    if clip.scan.sound is None:
        return np.zeros((0, BANDS))
    sound = film_tracks(call, clip.file, clip.path, clip.scan, picture=False).sound
    assert sound is not None
    start_s, end_s = clip.times_s
    return np.asarray(sound.bands_db[round(start_s / HOP_S) : round(end_s / HOP_S)], np.float64)


def _side(call: Call, clip: Clip, at_end: bool) -> Samples:
    """The last or first seconds of a clip's sound; nothing where it has none."""
    if clip.scan.sound is None:
        return np.zeros(0, np.float32)
    start_s, end_s = clip.times_s
    side = (max(start_s, end_s - SIDE_S), end_s) if at_end else (start_s, min(end_s, start_s + SIDE_S))
    samples: Samples = read_sound(clip.file, clip.path, *side, RATE_HZ, 1, call.check)[0]
    return samples


def _spread(values: Values, ends: Sequence[int], starts: Sequence[int], count: int) -> Values:
    """For all clips; the others say nothing."""
    told = np.zeros((count, count))
    told[np.ix_(ends, starts)] = values
    np.fill_diagonal(told, 0.0)
    return told
