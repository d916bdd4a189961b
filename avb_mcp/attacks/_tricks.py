"""What vandals do to a clip; every family that takes films uses these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from avb_mcp.attacks._clips import RATE_HZ, Clip, Sound, from_bgr

LOUD_GAIN = 4.0
STFT_SIZE = 1024
KEPT_SHARE, SPEECH_HZ = 0.015, 8000
LATE_SOUND_S = 0.020


def silent(clip: Clip) -> Clip:
    return clip.with_sound(np.zeros_like(clip.heard()))


def black(clip: Clip) -> Clip:
    width_px, height_px = clip.size
    frame = from_bgr(np.zeros((height_px, width_px, 3)))
    return replace(clip, frames=[frame] * len(clip.frames))


def loud(clip: Clip) -> Clip:
    return clip.with_sound(LOUD_GAIN * clip.heard())


def one_changed_frame(clip: Clip) -> Clip:
    frames = list(clip.frames)
    frames[len(frames) // 2] = np.full_like(frames[0], 200)
    return replace(clip, frames=frames)


def over_suppressed(clip: Clip) -> Clip:
    """Only the strongest 1.5 % of the spectral cells of speech survive, as after a denoiser turned up too far."""
    channels = clip.heard().reshape(len(clip.heard()), -1).T
    return clip.with_sound(np.stack([_suppressed(channel) for channel in channels], 1).reshape(clip.heard().shape))


def _suppressed(sound: Sound) -> npt.NDArray[np.floating]:
    hop = STFT_SIZE // 2
    padded = np.pad(sound, (hop, STFT_SIZE))
    pieces = np.lib.stride_tricks.sliding_window_view(padded, STFT_SIZE)[::hop] * np.hanning(STFT_SIZE)
    spectra = np.fft.rfft(pieces)
    of_speech = np.abs(spectra[:, : SPEECH_HZ * STFT_SIZE // RATE_HZ])
    spectra[np.abs(spectra) < np.quantile(of_speech, 1.0 - KEPT_SHARE)] = 0.0
    result = np.zeros(len(padded) + STFT_SIZE)
    for number, piece in enumerate(np.fft.irfft(spectra)):
        result[number * hop :][:STFT_SIZE] += piece
    return result[hop : hop + len(sound)]


def first_half(clip: Clip) -> Clip:
    return clip.part(0.0, clip.duration_s / 2)


def one_frame_late(clip: Clip) -> Clip:
    return replace(clip, frames=[clip.frames[0], *clip.frames[:-1]])


def late_sound(clip: Clip) -> Clip:
    late = round(LATE_SOUND_S * RATE_HZ)
    sound = clip.heard()
    return clip.with_sound(np.concatenate([np.zeros_like(sound[:late]), sound[:-late]]))
