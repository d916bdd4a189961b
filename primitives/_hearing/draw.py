"""Sounds as one picture: wave, mel spectrogram, a lane of speech and silence, loudness, a time axis; clips stacked.

All clips share one scale of time, level and colour, so that what looks alike is alike. The limits are those of
`_sheet`: no harness rescales the picture.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from primitives._base import Jpeg
from primitives._hearing.bands import decibels, mel_position, top_hz
from primitives._hearing.figures import loudness_curve
from primitives._hearing.measure import Sound
from primitives._sheet import MAX_SIDE_PX, encode
from primitives._speech.vad import Span

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]

WIDTH_PX, LEFT_PX, RIGHT_PX = 1400, 68, 16
HEAD_PX, AXIS_PX, GAP_PX = 26, 26, 4
WAVE, SPECTRUM, LANE, LOUDNESS = 150, 220, 22, 90
"""Heights of the panels, in pixels, before several clips have to share the room."""
SPECTRUM_DB = 75.0
LOUDNESS_LUFS = (-60.0, 0.0)
SHORT_TERM_S, MOMENTARY_S = 3.0, 0.4
QUIETEST_PEAK = 0.05
_BACK, _PANEL, _INK, _DIM, _GRID = (24, 24, 24), (40, 36, 34), (235, 235, 235), (150, 150, 150), (70, 66, 64)
_WAVE, _CLIP, _SPEECH, _OTHER, _SILENCE = (220, 190, 90), (60, 60, 255), (90, 200, 90), (110, 100, 95), (200, 110, 60)
_CURVE = (80, 200, 250)
_FREQUENCIES_HZ = (100, 500, 1000, 2000, 4000, 8000, 16_000)
_STEPS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)


@dataclass(frozen=True, eq=False)
class Shown:
    """A sound with what stands in its lane."""

    sound: Sound
    title: str
    speech: list[Span] | None
    """None where it was not looked for."""
    silences: list[Span]
    clipped: list[Span]


@dataclass(frozen=True)
class _Frame:
    """Where things are drawn: panel heights and one scale of time."""

    heights_px: tuple[int, int, int, int]
    scale_s_px: float
    peak: float
    top_db: float

    @property
    def height_px(self) -> int:
        return HEAD_PX + sum(self.heights_px) + 3 * GAP_PX + AXIS_PX


def draw(shown: list[Shown]) -> Jpeg:
    """The picture of all clips, one below the other."""
    frame = _frame([one.sound for one in shown])
    picture = np.full((frame.height_px * len(shown), WIDTH_PX, 3), _BACK, np.uint8)
    for number, one in enumerate(shown):
        _draw_clip(picture[number * frame.height_px : (number + 1) * frame.height_px], one, frame)
    return encode(picture)


def _frame(sounds: list[Sound]) -> _Frame:
    room = MAX_SIDE_PX // len(sounds) - HEAD_PX - AXIS_PX - 3 * GAP_PX
    share = min(1.0, room / (WAVE + SPECTRUM + LANE + LOUDNESS))
    tops = [float(np.percentile(decibels(sound.mel), 99.8)) if sound.mel.size else -120.0 for sound in sounds]
    return _Frame(
        heights_px=(int(WAVE * share), int(SPECTRUM * share), max(10, int(LANE * share)), int(LOUDNESS * share) - 4),
        scale_s_px=max(max(sound.length_s for sound in sounds), 1e-3) / (WIDTH_PX - LEFT_PX - RIGHT_PX),
        peak=max(QUIETEST_PEAK, *(sound.peak for sound in sounds)),
        top_db=max(max(tops), -80.0),
    )


def _draw_clip(area: Pixels, one: Shown, frame: _Frame) -> None:
    sound, width = one.sound, WIDTH_PX - LEFT_PX - RIGHT_PX
    used = max(1, min(width, round(sound.length_s / frame.scale_s_px)))
    _text(area, one.title, 6, 18, 15, _INK)
    panels = []
    top = HEAD_PX
    for height in frame.heights_px:
        panel = area[top : top + height, LEFT_PX : LEFT_PX + used]
        panel[:] = _PANEL
        panels.append(panel)
        top += height + GAP_PX
    lines = _ticks(sound, frame.scale_s_px)
    _wave(panels[0], one, frame)
    _spectrum(panels[1], sound, frame)
    _lane(panels[2], one, frame)
    _loudness(panels[3], sound)
    _scales(area, one, frame)
    _time_axis(area[:, LEFT_PX:], [panels[0], panels[3]], sound, frame, lines)


def _columns(sound: Sound, used: int, count: int, step_s: float) -> NDArray[np.intp]:
    """For each pixel column and one more: the first of `count` steps that falls into it."""
    edges_s = np.arange(used + 1) / used * sound.length_s
    return np.clip(np.floor(edges_s / step_s + 1e-6).astype(np.intp), 0, max(0, count - 1))


def _wave(panel: Pixels, one: Shown, frame: _Frame) -> None:
    sound, (height, used) = one.sound, panel.shape[:2]
    middle = height // 2
    panel[middle] = _GRID
    if sound.high.size:
        at = _columns(sound, used, sound.high.size, sound.bin_s)[:-1]
        reach = (height // 2 - 3) / frame.peak
        upper = np.rint(middle - np.maximum.reduceat(sound.high, at) * reach).astype(int)
        lower = np.rint(middle - np.minimum.reduceat(sound.low, at) * reach).astype(int)
        rows = np.arange(height)[:, None]
        panel[(rows >= np.minimum(upper, lower)) & (rows <= np.maximum(upper, lower))] = _WAVE
    for span in one.clipped:
        first, last = _pixels(span, sound, frame.scale_s_px, used)
        panel[:6, first:last] = _CLIP
        panel[-6:, first:last] = _CLIP


def _spectrum(panel: Pixels, sound: Sound, frame: _Frame) -> None:
    height, used = panel.shape[:2]
    if sound.mel.size == 0:
        return
    at = _columns(sound, used, len(sound.mel), sound.hop_s)[:-1]
    power = np.add.reduceat(sound.mel, at, axis=0) / np.maximum(np.diff([*at.tolist(), len(sound.mel)]), 1)[:, None]
    share = np.clip((decibels(power) - frame.top_db) / SPECTRUM_DB + 1, 0, 1)
    grey = cv2.resize((share.T[::-1] * 255).astype(np.uint8), (used, height), interpolation=cv2.INTER_LINEAR)
    panel[:] = cv2.applyColorMap(grey, cv2.COLORMAP_MAGMA)


def _lane(panel: Pixels, one: Shown, frame: _Frame) -> None:
    used = panel.shape[1]
    panel[:] = _OTHER
    for spans, colour in ((one.silences, _SILENCE), (one.speech or [], _SPEECH)):
        for span in spans:
            first, last = _pixels(span, one.sound, frame.scale_s_px, used)
            panel[:, first:last] = colour


def _pixels(span: Span, sound: Sound, scale_s_px: float, used: int) -> tuple[int, int]:
    first = int((span.start_s - sound.start_s) / scale_s_px)
    last = max(first + 1, round((span.end_s - sound.start_s) / scale_s_px))
    return max(0, min(first, used - 1)), min(used, last)


def _loudness(panel: Pixels, sound: Sound) -> None:
    height, used = panel.shape[:2]
    low, high = LOUDNESS_LUFS
    if sound.weighted.size == 0:
        return
    curve = loudness_curve(sound, MOMENTARY_S if sound.length_s < 60 else SHORT_TERM_S)
    at = _columns(sound, used, curve.size, sound.hop_s)[:-1]
    share = np.clip((np.maximum.reduceat(curve, at) - low) / (high - low), 0, 1)
    points = np.stack([np.arange(used), (height - 2) - share * (height - 4)], axis=1)
    cv2.polylines(panel, [np.rint(points).astype(np.int32)], False, _CURVE, 2, cv2.LINE_AA)


def _scales(area: Pixels, one: Shown, frame: _Frame) -> None:
    """What stands left of the panels: level, frequency, the lane's name, loudness."""
    sound = one.sound
    wave, spectrum, lane, loudness = frame.heights_px
    top = HEAD_PX
    _label(area, "0 dB" if frame.peak > 0.99 else f"{20 * np.log10(frame.peak):.0f} dB", top + 8)
    _label(area, "wave", top + wave // 2)
    top += wave + GAP_PX
    last = top + spectrum + 20
    for frequency_hz in _FREQUENCIES_HZ:
        highest = top_hz(sound.rate_hz)
        y = top + round((1 - mel_position(frequency_hz, highest)) * spectrum)
        if frequency_hz <= highest and last - y >= 16:
            _label(
                area, f"{frequency_hz // 1000} kHz" if frequency_hz >= 1000 else f"{frequency_hz} Hz", max(y, top + 6)
            )
            last = y
    top += spectrum + GAP_PX
    _label(area, "silence" if one.speech is None else "speech", top + lane // 2)
    top += lane + GAP_PX
    for level in (-10, -30, -50) if loudness >= 60 else (-10, -50) if loudness >= 34 else (-30,):
        low, high = LOUDNESS_LUFS
        y = top + round((1 - (level - low) / (high - low)) * loudness)
        area[y, LEFT_PX : LEFT_PX + 6] = _DIM
        _label(area, f"{level} LUFS", y)


def _ticks(sound: Sound, scale_s_px: float) -> list[float]:
    """Times to mark: round numbers, about 90 pixels apart."""
    step_s = next((step for step in _STEPS_S if step / scale_s_px >= 88), _STEPS_S[-1])
    first = np.ceil(sound.start_s / step_s - 1e-9)
    count = int((sound.end_s - first * step_s) / step_s + 1e-9) + 1
    return [round(float((first + n) * step_s), 3) for n in range(max(0, count))]


def _time_axis(area: Pixels, panels: list[Pixels], sound: Sound, frame: _Frame, ticks: list[float]) -> None:
    bottom = area.shape[0] - AXIS_PX
    for time_s in ticks:
        x = round((time_s - sound.start_s) / frame.scale_s_px)
        for panel in panels:
            if x < panel.shape[1]:
                dim = (panel[:, x] == _PANEL).all(axis=1)
                panel[dim, x] = _GRID
        area[bottom : bottom + 5, min(x, area.shape[1] - 1)] = _INK
        label = f"{time_s:g}s"
        left = min(max(x - _text_width_px(label, 14) // 2, -LEFT_PX), area.shape[1] - _text_width_px(label, 14) - 6)
        _text(area, label, max(0, left), bottom + 19, 14, _INK)


def _label(area: Pixels, text: str, y: int) -> None:
    _text(area, text, LEFT_PX - 6 - _text_width_px(text, 12), y + 4, 12, _DIM)


def _text(area: Pixels, text: str, x: int, y: int, size: int, colour: Colour) -> None:
    cv2.putText(area, text, (x, y), colour, _face(), size, 500)


def _text_width_px(text: str, size: int) -> int:
    return int(cv2.getTextSize((0, 0), text, (0, 0), _face(), size, 500)[2])


@functools.cache
def _face() -> cv2.FontFace:
    return cv2.FontFace("sans")
