"""Changes of single pictures that several defects share. Pictures are planar YUV 4:2:0."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from avb_mcp.tasks.footage import Image


@dataclass(frozen=True)
class Planes:
    """Luma and both chroma planes of a picture."""

    y: Image
    u: Image
    v: Image


def planes(picture: Image) -> Planes:
    rows, width = picture.shape
    height = rows * 2 // 3
    chroma = picture[height:].reshape(2, height // 2, width // 2)
    return Planes(picture[:height], chroma[0], chroma[1])


def joined(y: Image, u: Image, v: Image) -> Image:
    return np.concatenate([y, np.stack([u, v]).reshape(-1, y.shape[1])])


def blurred(picture: Image, sigma_px: float) -> Image:
    """A Gaussian blur; chroma is half as large and gets half of it."""
    parts = planes(picture)
    y = cv2.GaussianBlur(parts.y, (0, 0), sigma_px)
    u, v = (cv2.GaussianBlur(np.ascontiguousarray(plane), (0, 0), sigma_px / 2) for plane in (parts.u, parts.v))
    return joined(_bytes(y), _bytes(u), _bytes(v))


def coarsened(picture: Image, factor: float) -> Image:
    """Made smaller and large again: detail below the factor is gone."""
    parts = planes(picture)
    y, u, v = (_coarse(np.ascontiguousarray(plane), factor) for plane in (parts.y, parts.u, parts.v))
    return joined(y, u, v)


def _coarse(plane: Image, factor: float) -> Image:
    height, width = plane.shape
    small = max(2, round(width / factor)), max(2, round(height / factor))
    reduced = cv2.resize(plane, small, interpolation=cv2.INTER_AREA)
    return _bytes(cv2.resize(reduced, (width, height), interpolation=cv2.INTER_LINEAR))


@dataclass(frozen=True)
class Grade:
    """A colour grade: saturation and contrast around middle gray, then a gain for each of red, green and blue."""

    saturation: float
    contrast: float
    gains: tuple[float, float, float]

    def __call__(self, picture: Image) -> Image:
        pixels = np.asarray(cv2.cvtColor(picture, cv2.COLOR_YUV2RGB_I420), np.float32)
        gray = pixels @ np.array([0.299, 0.587, 0.114], np.float32)
        graded = gray[..., None] + self.saturation * (pixels - gray[..., None])
        graded = (128.0 + self.contrast * (graded - 128.0)) * np.array(self.gains, np.float32)
        whole = np.clip(np.rint(graded), 0, 255).astype(np.uint8)
        return np.asarray(cv2.cvtColor(whole, cv2.COLOR_RGB2YUV_I420), np.uint8)


def _bytes(plane: object) -> Image:
    return np.asarray(plane, np.uint8)
