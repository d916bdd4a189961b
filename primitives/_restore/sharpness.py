"""Lost sharpness, undone by a filter that the film itself teaches.

The same scene just outside a range is sharp, just inside it is not. Laid over each other, their cross-spectrum over
the power of the soft picture is the linear filter of least error: it contains the blur, whatever its shape, and the
coding noise, which keeps it from lifting what is not there. What misplaced motion takes from the cross-spectrum is
seen between two sharp frames and given back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from primitives._flow import fetched, motion, scaled, targets

Grey = NDArray[np.float32]
TILES_PX = (128, 64)
"""Sizes of the tiles in which spectra are taken: the first of which enough fit. Wide blurs need the larger."""
BINS_PER_PX = 3 / 8
KERNEL_PX = 61
HIGHEST_GAIN = 6.0
_GRID = 128
_CONSISTENT_PX = 0.7
_SAME_LEVEL = 12.0
_COVERED = 0.9
_LEAST_TILES = 4
UNSHARP = [(sigma, amount) for sigma in (1.0, 1.6, 2.5) for amount in (0.3, 0.7, 1.2, 2.0)]


@dataclass(frozen=True, eq=False)
class Overlay:
    """One plane of a picture inside (`soft`), and the same points of one outside (`sharp`), where `mask` holds."""

    soft: Grey
    sharp: Grey
    mask: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Lesson:
    """What one end of a range teaches about one plane: overlays across it, and one of two sharp frames."""

    across: list[Overlay]
    outside: Overlay | None


def overlay(inside: Sequence[NDArray[Any]], outside: Sequence[NDArray[Any]]) -> list[Overlay]:
    """Planes of two frames (8-bit samples) laid over each other by the motion of their first plane."""
    there, back = motion(inside[0], outside[0]), motion(outside[0], inside[0])
    where = targets(there)
    kept = np.linalg.norm(there + fetched(back, where), axis=2) < _CONSISTENT_PX
    made = []
    for a, b in zip(inside, outside, strict=True):
        moved = fetched(b, targets(scaled(there, a.shape)), sharp=True).astype(np.float32)
        soft = a.astype(np.float32)
        level = np.abs(cv2.GaussianBlur(soft, (0, 0), 4) - cv2.GaussianBlur(moved, (0, 0), 4)) < _SAME_LEVEL
        mask = cv2.resize(kept.astype(np.uint8), a.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
        made.append(Overlay(soft, moved, np.asarray(mask & level)))
    return made


def learned(lessons: Sequence[Lesson], strength: float = 1.0) -> Grey | None:
    """The filter of least error over all lessons, as a kernel; None where too little lies over each other."""
    for tile_px in TILES_PX:
        across, calm = Spectra.empty(tile_px), Spectra.empty(tile_px)
        for lesson in lessons:
            for pair in lesson.across:
                across.add(pair)
            if lesson.outside is not None:
                calm.add(lesson.outside)
        if across.tiles >= _LEAST_TILES:
            gain = across.gain
            if calm.tiles:
                gain = gain / np.clip(calm.gain, 0.4, 1.0)
            return kernel_of(_smooth(np.clip(gain, 0.0, HIGHEST_GAIN)), strength)
    return None


@dataclass(eq=False)
class Spectra:
    """Cross-spectrum and power of overlaid tiles, summed up over rings of equal frequency."""

    tile_px: int
    cross: NDArray[np.float64]
    power: NDArray[np.float64]
    tiles: int = 0

    @classmethod
    def empty(cls, tile_px: int) -> Spectra:
        bins = int(tile_px * BINS_PER_PX)
        return cls(tile_px, np.zeros(bins), np.zeros(bins))

    @property
    def gain(self) -> NDArray[np.float64]:
        return self.cross / np.maximum(self.power, 1e-9)

    def add(self, pair: Overlay) -> None:
        size, bins = self.tile_px, len(self.cross)
        window = np.outer(np.hanning(size), np.hanning(size))
        rings = _rings(size, bins).ravel()
        height, width = pair.soft.shape
        for top in range(0, height - size + 1, size // 2):
            for left in range(0, width - size + 1, size // 2):
                here = np.s_[top : top + size, left : left + size]
                if pair.mask[here].mean() < _COVERED:
                    continue
                soft, sharp = pair.soft[here], pair.sharp[here]
                x = np.fft.rfft2((soft - soft.mean()) * window)
                y = np.fft.rfft2((sharp - sharp.mean()) * window)
                self.cross += np.bincount(rings, (y * x.conj()).real.ravel(), bins)
                self.power += np.bincount(rings, (x * x.conj()).real.ravel(), bins)
                self.tiles += 1


def _rings(size: int, bins: int) -> NDArray[np.int64]:
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None])
    return np.asarray(np.minimum(frequency * 2 * bins, bins - 1), dtype=np.int64)


def _centres(bins: int) -> NDArray[np.float64]:
    return (np.arange(bins) + 0.5) / (2 * bins)


def _smooth(gain: NDArray[Any]) -> NDArray[Any]:
    padded = np.pad(gain, 1, mode="edge")
    return np.asarray((padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4)


def kernel_of(gain: NDArray[Any], strength: float) -> Grey:
    """A kernel whose gain over frequency (bins from 0 to half a cycle per pixel) is the given one, 1 for flat areas."""
    frequency = np.hypot(np.fft.fftfreq(_GRID)[:, None], np.fft.fftfreq(_GRID)[None])
    wanted = 1 + strength * (np.interp(frequency, np.r_[0, _centres(len(gain))], np.r_[1, gain]) - 1)
    full = np.fft.fftshift(np.fft.ifft2(wanted).real)
    middle, reach = _GRID // 2, KERNEL_PX // 2
    kernel = full[middle - reach : middle + reach + 1, middle - reach : middle + reach + 1]
    return np.asarray(kernel / kernel.sum(), dtype=np.float32)


def unsharp(sigma_px: float, amount: float) -> Grey:
    """The classical filter: more of what a blur takes away."""
    line = cv2.getGaussianKernel(KERNEL_PX, sigma_px)
    kernel = -amount * (line @ line.T)
    kernel[KERNEL_PX // 2, KERNEL_PX // 2] += 1 + amount
    return kernel.astype(np.float32)


def from_spectra(soft: Sequence[Grey], sharp: Sequence[Grey], strength: float) -> Grey:
    """Without a common scene: the blur from the ratio of mean spectra, undone with a strong regulariser."""
    ratio = _mean_power(soft) / np.maximum(_mean_power(sharp), 1e-9)
    centres = _centres(len(ratio))
    used = (centres > 0.02) & (centres < 0.15)
    slope = np.log(np.clip(ratio[used], 1e-4, 1.0)) / (-4 * np.pi**2 * centres[used] ** 2)
    variance = float(np.median(slope))
    blur = np.exp(-2 * np.pi**2 * max(variance, 0.0) * centres**2)
    return kernel_of(np.clip(1.3 * blur / (blur**2 + 0.3), 1.0, HIGHEST_GAIN), strength)


def _mean_power(pictures: Sequence[Grey]) -> NDArray[Any]:
    spectra = Spectra.empty(TILES_PX[-1])
    for picture in pictures:
        spectra.add(Overlay(picture, picture, np.ones(picture.shape, dtype=bool)))
    return spectra.power / max(1, spectra.tiles)


def filtered(plane: NDArray[Any], kernel: Grey) -> Grey:
    return np.asarray(cv2.filter2D(plane, cv2.CV_32F, kernel, borderType=cv2.BORDER_REFLECT_101), dtype=np.float32)


def gain_db(lessons: Sequence[Lesson], kernel: Grey | None) -> float:
    """PSNR of what the filter makes of the soft planes against the sharp ones."""
    errors = []
    for pair in (pair for lesson in lessons for pair in lesson.across):
        made = np.clip(filtered(pair.soft, kernel), 0, 255) if kernel is not None else pair.soft
        errors.append(float(np.mean((made - pair.sharp)[pair.mask] ** 2)) if pair.mask.any() else 0.0)
    return float(10 * np.log10(255**2 / max(float(np.mean(errors)), 1e-3)))
