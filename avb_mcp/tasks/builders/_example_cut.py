"""A plain cut of a source that meets delivery requirements: the proof that they can be met, not a good edit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from avb_mcp.tasks.builders._delivery import Delivery
from avb_mcp.tasks.builders._moves import Image, View, seen
from avb_mcp.tasks.footage import RATE_HZ, Footage, Sound, frames, sound, write_film
from primitives._base import UserError
from primitives._media.loudness import measure_loudness

SHOT_ROOM = 0.9
"""Shots are cut shorter than allowed, so that a cut which a detector places late does no harm."""
MIN_PIECE_S = 0.5
SILENT_LUFS = -69.0


@dataclass(frozen=True)
class Piece:
    """Frames `[first, last)` of the source."""

    first: int
    last: int


def write_example(film: Footage, delivery: Delivery, path: Path) -> None:
    """The heads of the source's shots, in order, in the size and loudness asked for."""
    pieces = choose_pieces(film, delivery)
    heard = _sound(film, pieces) if delivery.sound else None
    if heard is not None and delivery.min_lufs is not None and delivery.max_lufs is not None:
        heard = _levelled(heard, (delivery.min_lufs + delivery.max_lufs) / 2)
    write_film(path, _pictures(film, pieces, (delivery.width_px, delivery.height_px)), film.fps, heard)


def choose_pieces(film: Footage, delivery: Delivery) -> list[Piece]:
    """Shot after shot, none longer than allowed, until the film is as long as asked."""
    wanted = round((delivery.min_s + delivery.max_s) / 2 * film.fps)
    least = round(MIN_PIECE_S * film.fps)
    limit_s = delivery.max_shot_s * SHOT_ROOM if delivery.max_shot_s is not None else film.duration_s
    spans = [(shot.clean_first, shot.clean_last) for shot in film.shots]
    total = sum(min(last - first, round(limit_s * film.fps)) for first, last in spans)
    if total < wanted:  # then also what lies after the heads, and the fades
        spans, limit_s = [(0, film.frame_count)], film.duration_s
    pieces: list[Piece] = []
    for first, last in spans:
        length = min(last - first, round(limit_s * film.fps), wanted)
        if length >= least:
            pieces.append(Piece(first, first + length))
            wanted -= length
        if wanted < least:
            break
    if not pieces:
        raise UserError(
            f"{film.name} lasts {film.duration_s:.1f} s, too little for the {delivery.min_s:g} s asked for."
        )
    return pieces


def _pictures(film: Footage, pieces: Sequence[Piece], size: tuple[int, int]) -> Iterator[Image]:
    whole = View(share=1.0)
    for piece in pieces:
        for frame in frames(film, piece.first, piece.last):
            yield seen(frame, whole, size)


def _sound(film: Footage, pieces: Sequence[Piece]) -> Sound | None:
    heard = [sound(film, film.time_of(piece.first), film.time_of(piece.last)) for piece in pieces]
    parts = [part for part in heard if part is not None]
    return np.concatenate(parts, axis=1) if parts else None


def _levelled(heard: Sound, wanted_lufs: float) -> Sound:
    """The sound at a loudness, its peaks rounded off where they would not fit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sound.wav"
        soundfile.write(path, heard.T, RATE_HZ, subtype="FLOAT")
        loudness = measure_loudness(path, path.name, lambda: None)
    if loudness is None or loudness.integrated_lufs <= SILENT_LUFS:
        return heard
    gain = 10 ** ((wanted_lufs - loudness.integrated_lufs) / 20)
    return np.asarray(np.tanh(heard * gain) if gain > 1 else heard * gain, np.float32)
