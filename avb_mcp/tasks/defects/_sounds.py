"""Changes of sound that several defects share: noises, edges, tempo."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Literal

import av.error
import av.filter
import numpy as np
import numpy.typing as npt
from av.audio.frame import AudioFrame
from scipy.signal import lfilter

from avb_mcp.tasks.defects._base import Rng
from avb_mcp.tasks.film_write import layout_of
from avb_mcp.tasks.footage import RATE_HZ, Sound

EDGE_S = 0.01
"""Over which a change of sound comes and goes, so that its edges do not click."""
COLOURS = ("white", "pink", "brown")
_SLOPES = {"white": 0.0, "pink": 0.5, "brown": 1.0}
_LOWEST_HZ = 40.0
_VOICES, _FORMANTS_HZ = 7, ((300, 900), (900, 2300), (2300, 3400))

Floats = npt.NDArray[np.float64]
NoiseColour = Literal["white", "pink", "brown", "babble"]


def noise(rng: Rng, colour: NoiseColour, channels: int, count: int) -> Floats:
    """Noise of RMS 1, each channel its own."""
    make = _babble if colour == "babble" else _coloured
    made = np.stack([make(rng, count, _SLOPES.get(colour, 0.0)) for _ in range(channels)])
    return np.asarray(made / (np.sqrt(np.mean(made**2)) + 1e-12), np.float64)


def _coloured(rng: Rng, count: int, slope: float) -> Floats:
    spectrum = np.fft.rfft(rng.standard_normal(count))
    hz = np.fft.rfftfreq(count, 1 / RATE_HZ)
    return np.asarray(np.fft.irfft(spectrum * np.maximum(hz, _LOWEST_HZ) ** -slope, count), np.float64)


def _babble(rng: Rng, count: int, _slope: float) -> Floats:
    """Several voices at once, of which none is understood: pulses through wandering formants, by syllables."""
    total = np.zeros(count)
    for _ in range(_VOICES):
        at = -int(rng.integers(0, RATE_HZ // 4))
        pitch_hz = rng.uniform(90, 230)
        while at < count:
            length = round(rng.uniform(0.12, 0.35) * RATE_HZ)
            syllable = _syllable(rng, pitch_hz * rng.uniform(0.9, 1.1), length)
            first, last = max(0, at), min(count, at + length)
            if first < last:
                total[first:last] += syllable[first - at : last - at]
            at += length + (round(rng.uniform(0.1, 0.4) * RATE_HZ) if rng.random() < 0.2 else 0)
    return total


def _syllable(rng: Rng, pitch_hz: float, count: int) -> Floats:
    glide = pitch_hz * np.linspace(rng.uniform(0.95, 1.1), rng.uniform(0.85, 1.0), count)
    phase = np.cumsum(glide) / RATE_HZ
    voice = np.diff(np.floor(phase), prepend=0.0) + 0.02 * rng.standard_normal(count)
    for low_hz, high_hz in _FORMANTS_HZ:
        voice = _resonance(voice, rng.uniform(low_hz, high_hz), 120.0)
    swell = np.sin(np.pi * np.arange(count) / count) ** 2
    return np.asarray(rng.uniform(0.5, 1.0) * swell * voice / (np.abs(voice).max() + 1e-12), np.float64)


def _resonance(signal: Floats, centre_hz: float, width_hz: float) -> Floats:
    radius, angle = np.exp(-np.pi * width_hz / RATE_HZ), 2 * np.pi * centre_hz / RATE_HZ
    # Some of the input passes beside the resonance, so that three in a row leave more than their overlap.
    rung = lfilter([1 - radius], [1, -2 * radius * np.cos(angle), radius**2], signal)
    return np.asarray(rung + 0.1 * signal, np.float64)


def changed_within(track: Sound, first: int, last: int, change: Callable[[Floats], Floats]) -> Sound:
    """The track with samples `[first, last)` changed, blended over at both edges."""
    inside = track[:, first:last].astype(np.float64)
    wet = change(inside)
    share = swell(inside.shape[1])
    made = track.copy()
    made[:, first:last] = np.clip(inside + share * (wet - inside), -1.0, 1.0)
    return made


def swell(count: int, edge_s: float = EDGE_S) -> Floats:
    """1, with a short rise and fall at its ends."""
    edge = max(1, min(round(edge_s * RATE_HZ), count // 2))
    ramp = np.minimum(np.arange(count) + 0.5, count - np.arange(count) - 0.5) / edge
    return np.asarray(np.clip(ramp, 0.0, 1.0), np.float64)


def at_tempo(track: Sound, tempo: float) -> Sound:
    """The sound played faster or slower (from half to twice) at the same pitch."""
    made = list(_tempo_chunks(track, tempo))
    return np.concatenate([np.zeros((len(track), 0), np.float32), *made], axis=1)


def _tempo_chunks(track: Sound, tempo: float) -> Iterator[Sound]:
    graph = av.filter.Graph()
    layout = layout_of(len(track))
    source = graph.add_abuffer(sample_rate=RATE_HZ, format="fltp", layout=layout, time_base=Fraction(1, RATE_HZ))
    nodes = [source, graph.add("atempo", f"{tempo:.9f}"), graph.add("aformat", "sample_fmts=fltp")]
    nodes.append(graph.add("abuffersink"))
    for before, after in itertools.pairwise(nodes):
        before.link_to(after)
    graph.configure()
    frame = AudioFrame.from_ndarray(np.ascontiguousarray(track), format="fltp", layout=layout)
    frame.sample_rate, frame.time_base, frame.pts = RATE_HZ, Fraction(1, RATE_HZ), 0
    graph.push(frame)
    graph.push(None)
    while True:
        try:
            made = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        assert isinstance(made, AudioFrame)
        yield np.asarray(made.to_ndarray(), np.float32)
