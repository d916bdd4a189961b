"""A stretch that plays twice: picture and sound are again what they were a moment before, frame after frame.

Every lag is tried. A frame speaks for a lag by how much closer it is to the frame so long before than to others at
about that distance; the stretch whose frames speak most for one lag is the second copy.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from primitives._defects.common import Curve, Finding, Values, best_stretch, confidence
from primitives._defects.freeze import still_frames
from primitives._tracks import HOP_S, FilmTracks, PictureTrack, SoundTrack

SHORTEST_S, LONGEST_LAG_S = 0.4, 12.0
WINDOW_S = 120.0
"""Film that is compared with itself at a time: memory stays flat."""
_PICTURE_SHARE, _SOUND_SHARE = 1.0, 0.7
_PICTURE_NOISE, _SOUND_NOISE = 0.2, 1.0
"""What a copy may differ by after coding, in grey levels and decibels."""
_BESIDE = 3
_COST = 0.4
"""What a frame must say for a lag, in natural logarithms, to belong to the copy."""
_MOST = 20
"""Copies that are looked at in each stretch of film: several lags find the same one."""
_EVEN = 5.0
"""What all frames together must say at least; films that do not loop by themselves say less than 1."""
LOOP, WITH_SOUND = 1.05, (0.1, 20.0)
"""A picture that comes again under sound that does not is a loop the film may have made itself: never surer than that,
but for each bit of likeness that the sound has above the first figure."""
SEEN = 0.3
"""Likeness of a moving picture below which it does not come again, whatever the sound does."""
_HEARD_DB, _HEARD_SHARE = -65.0, 0.4


def find_repeats(tracks: FilmTracks) -> list[Finding]:
    """The best second copies in each stretch of film, if they are good enough."""
    picture = tracks.picture
    if picture is None or len(picture) < 20:
        return []
    found: list[Finding] = []
    vectors = _vectors(picture)
    sound = _sound_rows(picture, tracks.sound) if tracks.sound is not None else None
    still = still_frames(picture) | (picture.bright < 24)
    for part in _parts(picture):
        for candidate in _best(picture, vectors, sound, still, part):
            if not any(candidate.overlap(other) > 0 for other in found):
                found.append(candidate)
    return found


def _parts(picture: PictureTrack) -> Iterator[range]:
    size, lag = round(WINDOW_S * picture.fps), round(LONGEST_LAG_S * picture.fps)
    for start in range(0, len(picture), size):
        yield range(max(0, start - lag), min(len(picture), start + size + lag))
        if start + size + lag >= len(picture):
            return


def _vectors(picture: PictureTrack) -> Values:
    """Cells, pooled two by two where that goes, without each frame's own mean: light may flicker."""
    luma = picture.cells[:, 0, :8].astype(np.float32)
    pooled = luma.reshape(len(picture), 4, 2, 8, 2).mean(axis=(2, 4)).reshape(len(picture), -1)
    chroma = picture.cells[:, 1:].astype(np.float32).reshape(len(picture), 2, 3, 3, 4, 4).mean(axis=(3, 5))
    return np.concatenate((pooled, chroma.reshape(len(picture), -1)), axis=1)


def _sound_rows(picture: PictureTrack, sound: SoundTrack) -> Values:
    """The sound during each frame: levels of twenty wide bands."""
    bands = np.maximum(sound.bands_db.reshape(len(sound), 20, 2).mean(axis=2), -75.0)
    sums = np.concatenate((np.zeros((1, 20)), np.cumsum(bands, axis=0, dtype=np.float64)))
    edges = np.clip(np.round(picture.times_s / HOP_S).astype(int), 0, len(sound))
    starts, stops = edges[:-1], np.maximum(edges[1:], edges[:-1] + 1).clip(max=len(sound))
    return np.asarray((sums[stops] - sums[starts]) / np.maximum(stops - starts, 1)[:, None], np.float32)


def _distances(rows: Values, lags: range) -> Values:
    """Distance of each row from the one `lag` before, `[lags, rows]`; not a number where there is none."""
    gaps = np.full((len(lags), len(rows)), np.nan, np.float32)
    for place, lag in enumerate(lags):
        if lag < len(rows):
            gaps[place, lag:] = np.abs(rows[lag:] - rows[:-lag]).mean(axis=1)
    return gaps


def _best(
    picture: PictureTrack, vectors: Values, sound: Values | None, still: NDArray[np.bool_], part: range
) -> list[Finding]:
    """The best copy at each lag, those that all frames together say most for first."""
    here = slice(part.start, part.stop)
    lags = range(
        max(2 * _BESIDE, round(SHORTEST_S * picture.fps) - _BESIDE),
        min(len(part) - 1, round(LONGEST_LAG_S * picture.fps)),
    )
    if len(lags) < 10:
        return []
    seen = _speaks(_distances(vectors[here], lags), _PICTURE_NOISE)
    heard = _speaks(_distances(sound[here], lags), _SOUND_NOISE) if sound is not None else np.zeros_like(seen)
    audible = sound[here].max(axis=1) > _HEARD_DB if sound is not None else np.zeros(len(part), bool)
    moving = np.where(still[here], 0.2, 1.0)
    evidence = _PICTURE_SHARE * seen * moving + _SOUND_SHARE * heard - _COST * np.maximum(moving, 0.5)
    copies: list[tuple[float, int, int, int]] = []
    for place, lag in enumerate(lags):
        total, first, last = best_stretch(evidence[place, lag:])
        # Two copies do not overlap; and the second follows the first, or nearly.
        if last - first > lag:
            first = last - lag
            total = float(evidence[place, lag + first : lag + last].sum())
        if last - first >= max(SHORTEST_S * picture.fps, 0.8 * lag):
            copies.append((total, first + lag, last + lag, place))
    copies.sort(reverse=True)
    return [
        _finding(
            picture,
            part,
            lags[place],
            (seen[place], heard[place]),
            total * _again(seen[place, first:last], still[here][first:last]),
            slice(first, last),
            audible[first:last],
        )
        for total, first, last, place in copies[:_MOST]
    ]


def _finding(
    picture: PictureTrack,
    part: range,
    lag: int,
    speaks: tuple[Values, Values],
    total: float,
    share: slice,
    audible: NDArray[np.bool_],
) -> Finding:
    seen, heard = speaks
    ratio = total / _EVEN * min(1.0, float(np.median(seen[share] + heard[share])) / 1.2)
    if audible.mean() > _HEARD_SHARE:
        ratio = min(ratio, LOOP + WITH_SOUND[1] * max(0.0, float(heard[share].mean()) - WITH_SOUND[0]))
    start, end = part.start + share.start, part.start + share.stop
    return Finding(
        "repeat",
        float(picture.times_s[start]),
        float(picture.times_s[end]),
        confidence(ratio),
        {
            "lag_s": round(float(picture.times_s[start] - picture.times_s[start - lag]), 3),
            "picture_likeness": round(float(seen[share].mean()), 2),
            "sound_likeness": round(float(heard[share].mean()), 2),
        },
        Curve("likeness to the film one lag before", picture.times_s[part.start : part.stop], seen + heard),
    )


def _again(seen: Values, still: NDArray[np.bool_]) -> float:
    """Less than 1 where a picture that moves is not like itself; a still one tells nothing."""
    return 1.0 if still.mean() > 0.5 else float(np.clip(seen.mean() / SEEN, 0.0, 1.0))


def _speaks(gaps: Values, noise: float) -> Values:
    """How much closer a row is at a lag than at lags a little shorter and longer, as a logarithm; 0 where unknown."""
    speaks = np.zeros_like(gaps)
    near = np.fmin(gaps[: -2 * _BESIDE], gaps[2 * _BESIDE :])
    speaks[_BESIDE:-_BESIDE] = np.log((near + noise) / (gaps[_BESIDE:-_BESIDE] + noise))
    return np.asarray(np.clip(np.nan_to_num(speaks, nan=0.0), -1.0, 1.5), np.float32)
