"""Somebody says um: hesitations put in where the sound rests."""

from __future__ import annotations

import numpy as np

from avb_mcp.tasks.defects import _places, _timeline, _voice
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch
from avb_mcp.tasks.footage import RATE_HZ, Sound

_APART_S = 1.5
_BEFORE_S, _AFTER_S = 0.08, 0.10
"""A breath around the word."""
_NEAR_S = 4.0
_LEVEL = 0.8


class Parameters(Drawn):
    frames: tuple[int, ...]
    """Before which frames something is put in."""
    lengths: tuple[int, ...]
    """Of how many frames."""
    voice_seed: int


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    candidates = _places.pauses(stretch, _places.heard(stretch))
    count = min(int(rng.integers(2, 5)), max(1, len(candidates) // 2))
    places = _timeline.draw_places(rng, candidates, count, stretch.frame(_APART_S), "pauses in its sound")
    lengths = [stretch.frame(_BEFORE_S + _AFTER_S + rng.uniform(0.32, 0.6)) for _ in places]
    return Parameters(frames=tuple(places), lengths=tuple(lengths), voice_seed=int(rng.integers(1 << 31)))


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    rng = np.random.default_rng(drawn.voice_seed)
    track, insertions, own = _places.heard(stretch), [], 0
    for frame, length in zip(drawn.frames, drawn.lengths, strict=True):
        said = _said(stretch, track, rng, frame, length)
        own += said.own_voice
        parts = _timeline.lingering(stretch, frame, length)
        insertions.append(_timeline.Insertion(frame, parts, said.sound))
    made = f"{own} of {len(insertions)} from periods of the film's own sound, the others from a synthetic voice"
    return _timeline.insert(stretch, insertions).damage(
        f"um-like sounds, synthesised ({made}), over pictures that go back and forth or are held"
    )


def _said(stretch: Stretch, track: Sound, rng: np.random.Generator, frame: int, length: int) -> _voice.Said:
    at, count, near = stretch.sample(frame), stretch.sample(length), round(_NEAR_S * RATE_HZ)
    around = track[:, max(0, at - near) : at + near]
    said = _voice.um(rng, around, count - round((_BEFORE_S + _AFTER_S) * RATE_HZ), _LEVEL * _places.active_rms(around))
    bed = _voice.room_tone(track, at, count)
    start = round(_BEFORE_S * RATE_HZ)
    bed[:, start : start + said.sound.shape[1]] += said.sound
    return _voice.Said(np.clip(bed, -1.0, 1.0), said.own_voice)


DEFECT = Defect(
    name="filler_words",
    scheme="h1",
    needs=Needs(sound=True),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "The delivery sounded so much surer in the room. Can you tighten it, without losing anything that is said?",
        "It does not flow. I keep waiting for the speaker to get on with it.",
        "My boss says it sounds unprepared. Please take out what makes it so, and leave every real word in.",
    ),
)
