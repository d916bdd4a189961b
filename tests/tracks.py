"""Made-up tracks of a film that is clean, for the searches of `find_defects`."""

from __future__ import annotations

import dataclasses

import numpy as np

from primitives._defects.common import Finding
from primitives._defects.search import find_all
from primitives._tracks import BANDS, FLOOR_DB, STEP_DB, FilmTracks, PictureTrack, SoundTrack

FPS, FRAMES = 25, 500
WINDOW = range(200, 275)


def moving_picture(seed: int = 1) -> PictureTrack:
    """Soft patches that slide along; fine detail that hardly changes."""
    chance = np.random.default_rng(seed)
    wide = np.cumsum(chance.normal(0, 3, (3, 9, 4 * FRAMES)), axis=2) + 120
    cells = np.stack([wide[:, :, n // 2 : n // 2 + 16] + chance.normal(0, 0.4, (3, 9, 16)) for n in range(FRAMES)])
    return PictureTrack(
        times_s=np.arange(FRAMES + 1) / FPS,
        cells=np.clip(cells, 40, 220).astype(np.uint8),
        bright=np.full(FRAMES, 180, np.float32),
        moved=chance.uniform(2, 5, FRAMES).astype(np.float32),
        detail=(np.array([[1.0], [1.7], [2.4], [3.0], [0.8]]) + chance.normal(0, 0.005, (FRAMES, 5, 12))).astype(
            np.float16
        ),
        keyframes=np.arange(FRAMES) % 50 == 0,
        changes=(),
    )


def speech(seed: int = 1, rows: int = FRAMES * 4) -> SoundTrack:
    """Syllables and pauses over a quiet floor."""
    chance = np.random.default_rng(seed)
    lengths = chance.integers(6, 25, rows // 8)
    loud = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)[:rows]
    shape = -25 - np.linspace(0, 25, BANDS)
    floor = -78 + chance.normal(0, 2, (rows, BANDS))
    levels = np.where(loud[:, None], shape + chance.normal(0, 6, (rows, BANDS)), floor)
    levels[:, -8:] = floor[:, -8:]  # voices do not reach the highest bands
    return sound_of(levels, crest_db=5 + chance.normal(0, 0.7, rows))


def sound_of(levels_db: np.ndarray, crest_db: np.ndarray) -> SoundTrack:
    level = 10 * np.log10((10 ** (levels_db / 10)).sum(axis=1))
    return SoundTrack(
        bands=np.clip(np.rint((levels_db - FLOOR_DB) / STEP_DB), 0, 255).astype(np.uint8),
        level_db=level.astype(np.float32),
        peak_db=(level + 10).astype(np.float32),
        crest_db=crest_db.astype(np.float32),
        flat=np.where(crest_db < 2, 0.3, 0.03).astype(np.float32),
        again=np.full(len(level), 0.1, np.float32),
    )


def film(picture: PictureTrack | None, sound: SoundTrack | None) -> FilmTracks:
    return FilmTracks(picture, sound, FRAMES / FPS)


def first_of(tracks: FilmTracks) -> Finding:
    found = find_all(tracks)
    assert found, "nothing was found"
    return found[0]


def is_the_window(finding: Finding, kind: str, off_s: float = 1e-6) -> None:
    assert finding.kind == kind
    assert abs(finding.start_s - WINDOW.start / FPS) <= off_s and abs(finding.end_s - WINDOW.stop / FPS) <= off_s


def changed(picture: PictureTrack, **fields: np.ndarray) -> PictureTrack:
    return dataclasses.replace(picture, **fields)
