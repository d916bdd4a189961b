"""How late a sound comes: against a reference, against itself, or against silence that was put before it.

A positive lag is a sound that comes late. Where a range was shifted, its beginning repeats what was heard just
before it (or its end what comes just after), and that is as good as a reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from primitives._sound.common import Floats, Spectra, erb_bands, resampled

RATE_HZ = 8_000
MAX_LAG_S = 2.0
ALIKE = 0.6
"""Correlation from which two stretches are the same sound."""
REPEATS = 0.9
"""Correlation from which a stretch is a repetition; a steady vowel resembles itself less."""
_PIECE_S, _LEAST_S = 0.25, 0.15
_SHIFTS_S = tuple(n * 0.05 for n in range(-6, 7))
_SILENT = 10 ** (-78 / 20)
_STEPS = ((1, 1, 2.0), (1, 2, 3.0), (2, 1, 3.0))
"""Ways through two sounds: rows, columns, and what a step costs. Tempos from a half to two."""
_REFINE = 12


@dataclass(frozen=True)
class Lag:
    """A lag and how well the sounds agree at it, from 0 to 1."""

    seconds: float
    likeness: float
    how: str


def best_match(piece: Floats, around: Floats) -> tuple[int, float]:
    """Where in `around` the stretch most like `piece` begins, and the cosine between both."""
    piece = np.asarray(piece, np.float64)
    products = fftconvolve(np.asarray(around, np.float64), piece[::-1], mode="valid")
    energy = np.concatenate([[0.0], np.cumsum(np.asarray(around, np.float64) ** 2)])
    energies = np.maximum(energy[len(piece) :] - energy[: len(energy) - len(piece)], 1e-9)
    cosines = products / np.sqrt(energies * max(float(piece @ piece), 1e-9))
    best = int(np.argmax(cosines))
    return best, float(cosines[best])


def against_reference(sound: Floats, reference: Floats, rate_hz: int, max_lag_s: float = MAX_LAG_S) -> Lag | None:
    """The lag of a whole stretch: the median over its loud seconds that agree with the reference somewhere.

    Its likeness is that of these seconds, by the share of all loud seconds that have this lag: a single one may agree
    by chance.
    """
    ours, theirs = resampled(sound, rate_hz, RATE_HZ), resampled(reference, rate_hz, RATE_HZ)
    reach, size = round(max_lag_s * RATE_HZ), RATE_HZ
    padded = np.pad(theirs, reach)
    loud = float(np.sqrt(np.mean(ours**2))) * 0.3
    lags, likenesses, heard = [], [], 0
    for at in range(0, min(len(ours), len(theirs)) - size + 1, size):
        piece = ours[at : at + size]
        if np.sqrt(np.mean(piece**2)) < max(loud, 1e-5):
            continue
        heard += 1
        place, likeness = best_match(piece, padded[at : at + size + 2 * reach])
        if likeness >= ALIKE:
            lags.append(reach - place)
            likenesses.append(likeness)
    if not lags:
        return None
    middle = float(np.median(lags))
    agreeing = float(np.sum(np.abs(np.array(lags) - middle) < 0.02 * RATE_HZ)) / heard
    return Lag(middle / RATE_HZ, float(np.median(likenesses)) * agreeing, "compared with the reference")


def within_itself(sound: Floats, start: int, end: int, rate_hz: int) -> Lag | None:
    """The lag of the range `[start, end)`: what it repeats, near its beginning of the sound before it, or near its end
    of the sound after it. The ends need not be exact."""
    found: list[Lag] = []
    whole, sound = sound, sound - sound.mean()  # a steady voltage repeats nothing
    size, reach, least = (round(s * rate_hz) for s in (_PIECE_S, MAX_LAG_S, _LEAST_S))
    for shift_s in _SHIFTS_S:
        first = start + round(shift_s * rate_hz)
        early = max(0, first - reach)
        around = sound[early : first + size - least]
        if _worth(sound[first : first + size], size) and len(around) > size and first >= 0:
            place, likeness = best_match(sound[first : first + size], around)
            lag = first - early - place
            likeness = min(likeness, _repetition(sound, start, start + lag, -lag, rate_hz))
            found.append(Lag(lag / rate_hz, likeness, "its beginning repeats the sound before it"))
        first = end - size + round(shift_s * rate_hz)
        around = sound[first + least : first + size + reach]
        if first >= 0 and _worth(sound[first : first + size], size) and len(around) > size:
            place, likeness = best_match(sound[first : first + size], around)
            lag = least + place
            likeness = min(likeness, _repetition(sound, end - lag, end, lag, rate_hz))
            found.append(Lag(-lag / rate_hz, likeness, "its end repeats the sound after it"))
    best = max(found, key=lambda lag: lag.likeness, default=None)
    if best is not None and best.likeness >= REPEATS:
        return best
    near = round(0.3 * rate_hz)
    for part, sign, where in (
        (whole[max(0, start - near) : start + reach], 1, "begins"),
        (whole[max(0, end - reach) : end + near][::-1], -1, "ends"),
    ):
        hole = _first_hole(part, least)
        if hole:
            return Lag(sign * hole / rate_hz, 0.9, f"it {where} with digital silence")
    return None


def _repetition(sound: Floats, first: int, last: int, by: int, rate_hz: int) -> float:
    """How alike the stretch `[first, last)` and the one `by` samples on are, in the best of nearby places.

    A shift repeats as much as it shifts. A vowel that resembles another one does so for less.
    """
    slack, count = round(-_SHIFTS_S[0] * rate_hz), round(0.9 * (last - first))
    begin, end = max(0, first - slack, -by), min(len(sound), len(sound) - by, last + slack)
    if end - begin < count:
        return 0.0
    one, other = (np.asarray(sound[at : at + end - begin], np.float64) for at in (begin, begin + by))
    sums = [np.concatenate([[0.0], np.cumsum(row)]) for row in (one * other, one**2, other**2)]
    products, ours, theirs = (row[count:] - row[:-count] for row in sums)
    enough = 1e-7 * count
    return float(np.max(np.where(np.minimum(ours, theirs) > enough, products / np.sqrt(ours * theirs + 1e-18), 0.0)))


def _worth(piece: Floats, size: int) -> bool:
    return len(piece) == size and float(np.mean(np.square(piece, dtype=np.float64))) > 1e-7


def _first_hole(sound: Floats, least: int) -> int:
    """The length of the first stretch of digital silence of at least so many samples."""
    loud = np.concatenate([[-1], np.flatnonzero(np.abs(sound) > _SILENT), [len(sound)]])
    gaps = np.diff(loud) - 1
    holes = np.flatnonzero(gaps >= least)
    return int(gaps[holes[0]]) if len(holes) and holes[0] < len(gaps) - 1 else 0


def silent_run(sound: Floats) -> int:
    """Samples of digital silence at the beginning."""
    loud = np.flatnonzero(np.abs(sound) > _SILENT)
    return int(loud[0]) if len(loud) else 0


def padded_with_silence(head: Floats, tail: Floats, rate_hz: int) -> Lag | None:
    """A constant lag, from digital silence at one end of a track that is nowhere silent otherwise."""
    first, last = silent_run(head), silent_run(tail[::-1])
    if first == last or max(first, last) in (len(head), len(tail)):
        return None
    run, rest = (first, head[first:]) if first > last else (last, tail[: len(tail) - last])
    if not 0.1 <= run / rate_hz <= 3 or _longest_silence(rest) > 0.25 * run:
        return None
    where = "begins" if first > last else "ends"
    return Lag((first if first > last else -last) / rate_hz, 0.8, f"the track {where} with digital silence")


def _longest_silence(sound: Floats) -> int:
    loud = np.flatnonzero(np.abs(sound) > _SILENT)
    return int(np.max(np.diff(loud), initial=0)) if len(loud) else len(sound)


def features(sound: Floats, rate_hz: int) -> NDArray[np.float64]:
    """`[frames, bands]`, a frame each 10 ms: band levels without their mean, for comparing sounds at other tempos."""
    spectra = Spectra(400, 160)
    low = resampled(sound, rate_hz, 16_000)
    power = np.abs(spectra.forward(low)[: max(1, len(low) // 160)]) ** 2
    levels = np.log(power @ erb_bands(16_000, 400, 24).T + 1e-6)
    return np.asarray(levels - levels.mean(axis=0))


def time_map(ours: NDArray[np.float64], theirs: NDArray[np.float64], band: int = 250) -> NDArray[np.float64]:
    """For each frame of `theirs` the frame of `ours` that sounds like it: the cheapest steady way through both."""
    rows, columns = len(theirs), len(ours)
    distance = 1 - _unit(theirs) @ _unit(ours).T
    cost = np.full((rows + 2, columns + 2), np.inf)  # shifted by two: steps reach back so far
    came = np.zeros((rows, columns), np.int8)
    for row in range(rows):
        ways = np.full((len(_STEPS), columns), np.inf)
        for number, (down, right, price) in enumerate(_STEPS):
            ways[number] = cost[row + 2 - down, 2 - right : 2 - right + columns] + price * distance[row]
        best = np.argmin(ways, axis=0)
        now = ways[best, np.arange(columns)]
        if row == 0:
            now[0] = distance[0, 0]
        now[np.abs(np.arange(columns) - row * columns / rows) > band] = np.inf
        cost[row + 2, 2:], came[row] = now, best
    made = np.full(rows, np.nan)
    row, column = rows - 1, columns - 1
    while row >= 0 and column >= 0:
        made[row] = column
        down, right, _ = _STEPS[came[row, column]]
        row, column = row - down, column - right
    return made


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6))


@dataclass(frozen=True)
class Bend:
    """A map of times in two straight pieces: at `theirs` (a share of the whole) our sound is at `ours`."""

    theirs: float
    ours: float
    likeness: float
    """How alike the sounds are along it, from 0 to 1."""

    def at(self, share: float) -> float:
        """Our place for theirs, both as shares of the whole."""
        if share <= self.theirs:
            return share * self.ours / self.theirs
        return self.ours + (share - self.theirs) * (1 - self.ours) / (1 - self.theirs)


def two_tempos(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> Bend:
    """The map in two pieces that both ends keep: fitted to the cheapest way, then to the likeness of the sounds."""
    rows, columns = len(theirs), len(ours)
    map_ = time_map(ours, theirs)
    known = np.flatnonzero(np.isfinite(map_))
    places, values = known.astype(np.float64), map_[known]
    best = (np.inf, rows / 2, columns / 2)
    for bend in np.arange(0.1 * rows, 0.9 * rows, 2.0):
        # With the bend's place given, its height is a linear least squares problem.
        early = places <= bend
        weight = np.where(early, places / bend, (rows - places) / (rows - bend))
        fixed = np.where(early, 0.0, columns * (places - bend) / (rows - bend))
        height = float(weight @ (values - fixed) / (weight @ weight))
        error = float(np.mean(np.minimum(np.abs(fixed + weight * height - values), 30.0) ** 2))
        best = min(best, (error, float(bend), height))
    a, b = _unit(theirs), _unit(ours)
    near = [
        Bend((best[1] + x) / rows, (best[2] + y) / columns, 0.0)
        for x in range(-_REFINE, _REFINE + 1)
        for y in range(-_REFINE, _REFINE + 1)
        if 0 < best[1] + x < rows and 0 < best[2] + y < columns
    ]
    return max((Bend(one.theirs, one.ours, _along(a, b, one)) for one in near), key=lambda one: one.likeness)


def _along(theirs: NDArray[np.float64], ours: NDArray[np.float64], bend: Bend) -> float:
    shares = (np.arange(len(theirs)) + 0.5) / len(theirs)
    places = np.interp(shares, [0, bend.theirs, 1], [0, bend.ours, 1]) * len(ours) - 0.5
    low = np.clip(np.floor(places).astype(int), 0, len(ours) - 2)
    part = np.clip(places - low, 0, 1)[:, None]
    return float(np.mean(np.sum(theirs * (ours[low] * (1 - part) + ours[low + 1] * part), axis=1)))
