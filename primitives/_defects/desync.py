"""Late or early sound. Without a model of lips only its traces are seen: silence that was put in before sound that then
goes on where it had stopped, at the film's start or end (all of it is late, or early) or within (from there on); or
sound that plays twice under pictures that do not; or sound that is played slowly, and then fast."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter1d

from primitives._defects.common import Curve, Finding, confidence, runs
from primitives._defects.drift import find_drift
from primitives._defects.dropout import DOUBT, OFTEN
from primitives._defects.freeze import still_frames
from primitives._defects.gaps import find_gaps
from primitives._defects.said_twice import Again, said_twice
from primitives._defects.sound import GONE_DB, parts, rows, wide_bands
from primitives._tracks import HOP_S, FilmTracks, PictureTrack, SoundTrack

OFFSET_S = (0.08, 2.0)
SURE_S = 0.35
"""A shorter silence at a film's start or end is nothing unusual."""
LONGEST_S = 30.0
LATER_DB = 0.1
"""What a break counts less for each second that it comes later."""
CLICK_BANDS, CLICK_ROWS, CLICK_DB, HUSH_DB = slice(36, None), (2, 5), (-3.0, 20.0), -95.0
"""A break clicks in the bands over 11 kHz, where voices have little: against so many rows on both sides."""
CHANGE_S, BY_CUTS, CHANCE = 0.3, 0.5, 3.0
"""Sound on each side of a change; what its changes at cuts count for or against an offset; what may be chance."""
PICTURE_NOISE = 0.3
"""Grey levels by which a picture that is shown again differs after coding."""


def find_desync(tracks: FilmTracks) -> list[Finding]:
    """A constant offset from silence at either end; a window from silence within, from sound that is heard twice, or
    from sound that slows down and hurries."""
    sound = tracks.sound
    if sound is None or tracks.picture is None or len(sound) < rows(3.0):
        return []
    found = [*_whole(sound, tracks.picture, tracks.duration_s), *_drifts(sound)]
    again = said_twice(sound)
    if again.lag and not _seen_twice(tracks.picture, again):
        end = _skip(sound, again.first + again.lag)
        window_s = again.first * HOP_S, end * HOP_S
        found.append(_finding(sound, *window_s, confidence(again.ratio), again.lag * HOP_S))
    for gap in find_gaps(sound):
        late_s = (gap.last - gap.first) * HOP_S
        if OFFSET_S[0] <= late_s <= OFFSET_S[1] and not _held(tracks.picture, gap.first, gap.last):
            sure = gap.cut * gap.goes_on**DOUBT * float(np.exp(OFTEN * gap.elsewhere))
            found.append(_finding(sound, gap.first * HOP_S, _skip(sound, gap.last) * HOP_S, round(sure, 3), late_s))
    return found


def _drifts(sound: SoundTrack) -> list[Finding]:
    """Sound that falls behind and catches up, of each part of the film."""
    found = []
    for start, part in parts(sound):
        drift = find_drift(part)
        if drift is not None:
            times_s = [round((start + row) * HOP_S, 3) for row in (drift.first, drift.middle, drift.last)]
            again = Curve("sound that comes again within 16 ms, share", np.arange(len(sound)) * HOP_S, sound.again)
            evidence = {"slow_until_s": times_s[1]}
            found.append(Finding("desync", times_s[0], times_s[2], drift.likely, evidence, again))
    return found


def _whole(sound: SoundTrack, picture: PictureTrack, duration_s: float) -> list[Finding]:
    """All of the sound is late, or early, where a film begins or ends with silence; unless it changes at its cuts."""
    gone = sound.level_db < GONE_DB
    found = []
    for first, last in runs(gone):
        offset_s = (last - first) * HOP_S
        if not OFFSET_S[0] <= offset_s <= OFFSET_S[1] or (first > 2 and last < len(sound) - 2):
            continue
        heard = (last, len(sound)) if first <= 2 else (0, first)
        ratio = _under_way(sound, *heard) * _usual(offset_s, float(np.delete(gone, np.s_[first:last]).mean()))
        ratio *= _by_cuts(sound, picture, last - first if first <= 2 else first - last)
        found.append(_finding(sound, 0.0, duration_s, confidence(ratio), offset_s if first <= 2 else -offset_s))
    return found


def _seen_twice(picture: PictureTrack, again: Again) -> bool:
    """Whether the pictures play again with the sound: then a stretch was repeated, and nothing is late."""
    first, last = (picture.frame_at(row * HOP_S) for row in (again.first, again.first + again.lag))
    by = last - first
    near = range(max(1, by - 4), by + 5)
    frames = np.arange(max(first, near.stop), last)
    if len(frames) < 3:
        return False
    apart = {lag: float(np.abs(picture.flat[frames] - picture.flat[frames - lag]).mean()) for lag in near}
    best = min(apart[lag] for lag in near if abs(lag - by) <= 1)
    return best + PICTURE_NOISE < 0.75 * (min(apart[near[0]], apart[near[-1]]) + PICTURE_NOISE)


def _held(picture: PictureTrack, first: int, last: int) -> bool:
    """Whether the picture stands still while there is no sound: then the film stopped, and nothing is late."""
    frames = slice(*(picture.frame_at(row * HOP_S) for row in (first, last)))
    still = still_frames(picture)[frames]
    return len(still) > 2 and float(still.mean()) > 0.6


def _under_way(sound: SoundTrack, first: int, last: int) -> float:
    """Sound that sets in at once, or breaks off at once, was under way already, or not over."""
    loud = float(np.quantile(sound.level_db, 0.9))
    starts = float(np.max(sound.level_db[first : first + rows(0.05)]))
    ends = float(np.max(sound.level_db[last - rows(0.15) : last]))
    return 0.5 + 0.7 * (starts > loud - 35) + 0.7 * (ends > loud - 35)


def _usual(offset_s: float, elsewhere: float) -> float:
    """Many films begin or end with a short silence; and some are silent often."""
    return min(1.0, offset_s / SURE_S) * float(np.exp(-8 * elsewhere))


def _by_cuts(sound: SoundTrack, picture: PictureTrack, offset: int) -> float:
    """How much more an offset is likely for the sound that changes so many rows after cuts, rather than at them."""
    size, near = rows(CHANGE_S), rows(0.08)
    bands = wide_bands(sound)
    sums = np.concatenate((np.zeros((1, bands.shape[1])), np.cumsum(bands, axis=0, dtype=np.float64)))
    at = np.arange(size, len(bands) - size)
    changes = np.zeros(len(bands))
    changes[at] = np.abs(sums[at + size] - 2 * sums[at] + sums[at - size]).mean(axis=1) / size
    changes = maximum_filter1d(changes, 2 * near + 1)
    usual, spread = float(changes.mean()), float(changes.std()) + 1e-6
    cuts = np.array([round(float(picture.times_s[cut]) / HOP_S) for cut in picture.cuts], np.intp)
    clear = []
    for lag in (offset, 0):
        there = cuts[(cuts + lag > size) & (cuts + lag < len(bands) - size)] + lag
        clear.append((changes[there].mean() - usual) / spread * len(there) ** 0.5 if len(there) else 0.0)
    more = clear[0] - clear[1]
    return float(np.exp(BY_CUTS * np.sign(more) * max(0.0, abs(more) - CHANCE)))


def _skip(sound: SoundTrack, row: int) -> int:
    """The loudest click after a gap: there the late part ends, and sound is missing."""
    low, high = row + rows(0.5), min(len(sound) - rows(0.3), row + rows(LONGEST_S))
    if high - low < 10:
        return len(sound)
    bands = np.maximum(sound.bands_db[:, CLICK_BANDS], HUSH_DB)
    at = np.arange(low, high)
    beside = [bands[at + side * by] for by in range(*CLICK_ROWS) for side in (-1, 1)]
    clicks = np.clip(bands[at] - np.maximum.reduce(beside), *CLICK_DB).mean(axis=1)
    return int(at[np.argmax(clicks - LATER_DB * (at - row) * HOP_S)])


def _finding(sound: SoundTrack, start_s: float, end_s: float, sure: float, offset_s: float) -> Finding:
    level = np.maximum(sound.level_db, -100)
    return Finding(
        "desync",
        start_s,
        end_s,
        sure,
        {"sound_late_s": round(offset_s, 3)},
        Curve("level, dB", np.arange(len(sound)) * HOP_S, level),
    )
