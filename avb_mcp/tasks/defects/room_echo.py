"""Everything sounds for a few seconds as if it were said in a large bare room."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.signal import fftconvolve

from avb_mcp.tasks.defects import _places, _sounds
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch
from avb_mcp.tasks.footage import RATE_HZ, Sound

_TAIL_HZ = 5000.0


class Parameters(Drawn):
    first: int
    last: int
    rt60_s: float
    """How long the room takes to fall by 60 dB."""
    direct_db: float
    """The direct sound's energy over the room's."""
    room_seed: int


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_heard_window(stretch, rng, 3.0, 8.0)
    return Parameters(
        first=first,
        last=last,
        rt60_s=round(float(rng.uniform(0.5, 0.95)), 3),
        direct_db=round(float(rng.uniform(-5.0, 0.0)), 2),
        room_seed=int(rng.integers(1 << 31)),
    )


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    return Damage(
        sound=partial(_reverberate, stretch, drawn),
        window=(drawn.first, drawn.last),
        note="a synthetic room: a direct sound, then noise that decays and loses its highs",
    )


def _room(drawn: Parameters) -> _sounds.Floats:
    rng = np.random.default_rng(drawn.room_seed)
    count = round(drawn.rt60_s * RATE_HZ)
    time_s = np.arange(count) / RATE_HZ
    tail = rng.standard_normal(count) * 10 ** (-3 * time_s / drawn.rt60_s)
    spectrum, hz = np.fft.rfft(tail), np.fft.rfftfreq(count, 1 / RATE_HZ)
    tail = np.fft.irfft(spectrum / (1 + (hz / _TAIL_HZ) ** 2), count)
    tail[: round(rng.uniform(0.003, 0.012) * RATE_HZ)] = 0.0
    tail *= 10 ** (-drawn.direct_db / 20) / np.linalg.norm(tail)
    tail[0] = 1.0
    return np.asarray(tail, np.float64)


def _reverberate(stretch: Stretch, drawn: Parameters, track: Sound) -> Sound:
    first, last = stretch.sample(drawn.first), stretch.sample(drawn.last)
    room = _room(drawn)

    def change(inside: _sounds.Floats) -> _sounds.Floats:
        wet = fftconvolve(inside, room[None], axes=1)[:, : inside.shape[1]]
        return np.asarray(wet * np.sqrt(np.mean(inside**2) / (np.mean(wet**2) + 1e-12)), np.float64)

    return _sounds.changed_within(track, first, last, change)


DEFECT = Defect(
    name="room_echo",
    scheme="h1",
    needs=Needs(sound=True),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "For a while it sounds as if everybody had walked into another building, but the picture says otherwise.",
        "One passage is hard to follow by ear: the words seem far away there. The rest sounds close and clear.",
        "Something about the sound changes part-way through and changes back later. Please make it match.",
    ),
)
