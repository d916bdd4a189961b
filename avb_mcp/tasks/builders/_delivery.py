"""What a repurposed film must be, technically: the requirements, and the brief and the starter rubric that say so.

A starter rubric measures delivery only. What makes an edit good (story, rhythm, tone) is the author's to add.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from avb_mcp.tasks.footage import Footage
from primitives._base import UserError
from primitives._task import MediaSpec

MIN_SOURCE_S = 8.0
SHARES = (0.25, 0.4)
"""How much of the source a drawn requirement asks for."""
LONGEST_S = 90.0
SLACK = 0.1
"""How far the length may be off either way."""
MIN_CUT_SHOTS = 4
"""Sources with fewer shots get no limit on their length."""
FORMAT, VISUAL, SOUND = 0, 1, 3
"""Pillars of the contract."""

Params = dict[str, Any]


class Delivery(BaseModel):
    """Delivery requirements, as `--delivery` reads them from JSON; what is left out or null is not asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    min_s: float = Field(gt=0)
    max_s: float
    """The length of the film."""
    width_px: int = Field(gt=0, multiple_of=2)
    height_px: int = Field(gt=0, multiple_of=2)
    min_fps: float | None = None
    max_fps: float | None = None
    sound: bool = True
    """Whether the film must have sound."""
    min_lufs: float | None = None
    max_lufs: float | None = None
    """Integrated loudness."""
    max_silence_s: float | None = None
    max_black_s: float | None = 1.0
    max_freeze_s: float | None = 2.0
    max_shot_s: float | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Delivery:
        for low, high in ((self.min_s, self.max_s), (self.min_fps, self.max_fps), (self.min_lufs, self.max_lufs)):
            if low is not None and high is not None and low > high:
                raise ValueError(f"the minimum {low:g} is above the maximum {high:g}")
        return self

    @property
    def spec(self) -> MediaSpec:
        """What `submit` can check of it."""
        return MediaSpec(
            container="mp4",
            video_codec="h264",
            audio_codec="aac" if self.sound else None,
            width_px=self.width_px,
            height_px=self.height_px,
            min_duration_s=self.min_s,
            max_duration_s=self.max_s,
        )


def load_delivery(path: Path) -> Delivery:
    try:
        return Delivery.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        known = ", ".join(Delivery.model_fields)
        raise UserError(f"{path} holds no delivery requirements: {place}: {fault['msg']}. Fields: {known}.") from None


def require_length(film: Footage) -> None:
    """Refuse a source that is too short to be shortened."""
    if film.duration_s < MIN_SOURCE_S:
        raise UserError(
            f"{film.name} lasts {film.duration_s:.1f} s; a repurpose task needs at least {MIN_SOURCE_S:g} s of film."
        )


def draw_delivery(film: Footage, rng: np.random.Generator) -> Delivery:
    """Requirements that the source can meet, as a client might have them."""
    require_length(film)
    target_s = min(LONGEST_S, film.duration_s * float(rng.uniform(*SHARES)))
    side_px = min(film.width_px, film.height_px)
    tall = (round(side_px * 9 / 16) // 2 * 2, side_px)
    sizes = [(film.width_px, film.height_px), (side_px, side_px), tall]
    width_px, height_px = sizes[int(rng.integers(len(sizes)))]
    return Delivery(
        min_s=math.floor(target_s * (1 - SLACK)),
        max_s=math.ceil(target_s * (1 + SLACK)),
        width_px=width_px,
        height_px=height_px,
        min_fps=round(float(film.fps) * 0.95, 2),
        max_fps=round(float(film.fps) * 1.05, 2),
        sound=film.has_sound,
        min_lufs=-20.0 if film.has_sound else None,
        max_lufs=-12.0 if film.has_sound else None,
        max_silence_s=2.0 if film.has_sound else None,
        max_shot_s=_shot_limit_s(film, target_s),
    )


def _shot_limit_s(film: Footage, target_s: float) -> float | None:
    """A limit that most of the source's shots keep and that asks for some cuts."""
    if len(film.shots) < MIN_CUT_SHOTS:
        return None
    usual_s = np.percentile([shot.end_s - shot.start_s for shot in film.shots], 75)
    return float(max(2, math.ceil(min(usual_s, target_s / 3))))


def starter_rubric(delivery: Delivery) -> list[dict[str, Any]]:
    """Every requirement as an item that is measured, and penalties for what makes a film useless."""
    asked = delivery
    size: Params = {"width": asked.width_px, "height": asked.height_px}
    rows = [
        _item("length", FORMAT, 2, "The film is as long as asked.", "ffprobe_duration_range", _range(asked, "s")),
        _item("size", FORMAT, 2, "The picture has the size that was asked for.", "ffprobe_resolution_eq", size),
        _item("container", FORMAT, 1, "The file is an MP4.", "ffprobe_format_in", {"substrings": ["mp4"]}),
        _item("video-codec", FORMAT, 1, "The video is H.264.", "ffprobe_video_codec_in", {"codecs": ["h264"]}),
        _item("decodes", FORMAT, -2, "No decoding error anywhere in the file.", "ffmpeg_decode_no_errors", {}),
    ]
    if asked.min_fps is not None:
        rows.append(_item("rate", FORMAT, 1, "The frame rate is as asked.", "ffprobe_fps_range", _range(asked, "fps")))
    limits = [
        ("black", VISUAL, "black picture", "ffmpeg_blackdetect_max_run", asked.max_black_s),
        ("frozen", VISUAL, "frozen picture", "ffmpeg_freeze_max_run", asked.max_freeze_s),
        ("shots", VISUAL, "shot", "scenedetect_max_shot_duration", asked.max_shot_s),
        ("silence", SOUND, "silence", "librosa_silence_max_run", asked.max_silence_s if asked.sound else None),
    ]
    for name, pillar, what, kind, most_s in limits:
        if most_s is not None:
            text = f"No {what} lasts longer than {most_s:g} s."
            rows.append(_item(name, pillar, 2, text, kind, {"max_seconds": most_s}))
    if asked.sound:
        rows.append(_item("audio-codec", SOUND, 1, "The sound is AAC.", "ffprobe_audio_codec_in", {"codecs": ["aac"]}))
        if asked.min_lufs is not None or asked.max_lufs is not None:
            params = _range(asked, "lufs")
            rows.append(_item("loudness", SOUND, 2, "The loudness is as asked.", "ffmpeg_loudness_lufs_range", params))
    return rows


def _item(name: str, pillar: int, weight: int, criterion: str, kind: str, params: Params) -> dict[str, Any]:
    item = {"id": name, "criterion": criterion, "pillar": pillar, "weight": weight}
    return item | {"dispatch": "python", "kind": kind, "params": params}


def _range(delivery: Delivery, unit: str) -> Params:
    ends = {"min": getattr(delivery, f"min_{unit}"), "max": getattr(delivery, f"max_{unit}")}
    return {name: value for name, value in ends.items() if value is not None}


def delivery_text(delivery: Delivery) -> str:
    """The requirements as a list, worded so that the rubric's linter reads them as they are meant."""
    asked = delivery
    lines = [
        f"Length: {asked.min_s:g} to {asked.max_s:g} seconds",
        f"Picture: {asked.width_px}x{asked.height_px} pixels, square ones",
        "File: MP4 with H.264 video" + (" and AAC sound" if asked.sound else ""),
    ]
    if asked.min_fps is not None and asked.max_fps is not None:
        lines.append(f"Frame rate: from {asked.min_fps:g} to {asked.max_fps:g} frames a second")
    elif asked.min_fps is not None:
        lines.append(f"Frame rate: {asked.min_fps:g} frames a second or more")
    if asked.sound and (asked.min_lufs is not None or asked.max_lufs is not None):
        ends = [f"{word} {value:g}" for word, value in (("from", asked.min_lufs), ("to", asked.max_lufs)) if value]
        lines.append(f"Loudness: {' '.join(ends)} LUFS, integrated")
    limits = (
        ("black picture", asked.max_black_s),
        ("frozen picture", asked.max_freeze_s),
        ("single shot", asked.max_shot_s),
        ("silence", asked.max_silence_s if asked.sound else None),
    )
    lines += [f"No {what} longer than {most_s:g} s" for what, most_s in limits if most_s is not None]
    return "## Delivery\n\n" + "\n".join(f"- {line}" for line in lines)
