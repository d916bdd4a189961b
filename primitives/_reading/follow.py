"""Text followed over a film: searched for where something new stands still, read again where its pixels change."""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import cv2
import numpy as np

from primitives._reading.engine import Box, Line, Pixels, Reader
from primitives._reading.pixels import (
    OTHER,
    EdgeWatch,
    Grey,
    Mask,
    around,
    first_present,
    is_changed,
    strokes,
    turned_at,
)

RING_S, RING_BYTES = 0.9, 64_000_000
"""How much of the film is remembered to find the frame in which a text came, at most."""
PROBE_S, BETWEEN_SEARCHES_S, SAFETY_S = 0.12, 0.4, 12.0
"""How often edges are looked at, the least time between searches, and the longest."""
REREAD_S, AGAIN_S = 0.5, 0.25
"""How often numbers before a moving film are read again, for their pixels do not tell every change; and how soon at
most, for those pixels change all the time."""
_LEAST_WATCHED = 0.2
"""Share of the watched pixels below which they are chosen anew."""
_STILL = 0.7
"""Share of the watched pixels that stand still where the ground of the text does."""
_SAME = 0.84
_SURE = 0.8
_ROOM_PX, _MARGIN_PX = 40, 12


@dataclass(eq=False)
class Track:
    """One text while it is on screen."""

    box: Box
    text: str
    score: float
    first: int
    known: Grey
    watched: Mask
    """Pixels whose change means that the text may have changed."""
    confirmed: int
    """The frame at which it was last read."""
    last: int = -1
    """The first frame without it; -1 while it is there."""
    doubts: int = 0

    def __post_init__(self) -> None:
        self._whole = int(self.watched.sum())

    def watch(self, crop: Grey, watched: Mask) -> None:
        """Go by these pixels from now on."""
        self.known, self.watched, self._whole = crop, watched, int(watched.sum())

    @property
    def watched_share(self) -> float:
        """Of the pixels watched at first those still watched: one that changed while the text did not is left out."""
        return float(self.watched.sum() / max(1, self._whole))


@dataclass(eq=False)
class TextWatch:
    """Sees the frames of a film in order and gives the texts that were on screen."""

    reader: Reader
    fps: float
    done: list[Track] = field(default_factory=list)
    active: list[Track] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._edges = EdgeWatch()
        self._ring: deque[tuple[int, Grey]] = deque()
        self._seen = 0
        self._searched = self._whole = -(10**9)
        """The frames of the last search, and of the last one of the whole picture."""
        self._wanted: Box | None = None
        """The part of the picture to search next."""

    def see(self, number: int, luma: Grey, bgr: Callable[[], Pixels]) -> None:
        """The next frame; `bgr` gives it in colour, where it has to be read."""
        self._ring.append((number, luma))
        room = max(8, min(round(RING_S * self.fps), RING_BYTES // max(1, luma.size)))
        while len(self._ring) > room:
            self._ring.popleft()
        probe = max(1, round(PROBE_S * self.fps))
        if self._seen % probe == 0:
            self._want_new(self._edges.see(luma), luma.shape[1])
        self._seen += 1
        for track in list(self.active):
            self._look_again(track, number, luma, bgr)
        apart_s = (number - self._searched) / self.fps
        whole = Box(0, 0, luma.shape[1], luma.shape[0])
        if (number - self._whole) / self.fps >= SAFETY_S:
            self._whole = number
            self._search(number, luma, bgr(), whole)
        elif self._wanted is not None and apart_s >= BETWEEN_SEARCHES_S:
            self._search(number, luma, bgr(), self._uncut(roomy(self._wanted, whole)))

    def _want_new(self, part: Box | None, width_px: int) -> None:
        """Edges within a text that is followed are its own: it is read again when its pixels change."""
        if part is None:
            return
        if any(track.box.wider(_MARGIN_PX).common(part) == part for track in self.active):
            self._edges.searched(part, width_px)
        else:
            self._want(part)

    def _uncut(self, part: Box) -> Box:
        """A part of the picture that cuts through no text that is followed."""
        for track in self.active:
            if part.overlap(track.box) > 0:
                part = part.around(track.box)
        return part

    def _want(self, part: Box | None) -> None:
        if part is not None:
            self._wanted = part if self._wanted is None else self._wanted.around(part)

    def finish(self, end: int) -> list[Track]:
        """All texts, the film over at frame `end`."""
        for track in self.active:
            track.last = end
        self.done += self.active
        self.active = []
        return [track for track in self.done if track.last > track.first]

    def _search(self, number: int, luma: Grey, bgr: Pixels, part: Box) -> None:
        self._searched, self._wanted = number, None
        self._edges.searched(part, luma.shape[1])
        for found in self.reader.find(part.of(bgr)):
            line = Line(found.box.moved(part.left, part.top), found.text, found.score)
            crop = line.box.of(luma)
            if min(crop.shape, default=0) < 4:
                continue
            rival = max(self.active, key=lambda track: track.box.overlap(line.box), default=None)
            if rival is not None and rival.box.overlap(line.box) > 0.5:
                known = same_text(rival.text, line.text) or line.text in rival.text
                if known or rival.score >= line.score:
                    self._better(rival, line)
                    continue
                self._close(rival, number)
            self._open(line, number, crop)

    def _better(self, track: Track, line: Line) -> None:
        if line.score > track.score and same_text(track.text, line.text):
            track.text, track.score = line.text, line.score

    def _open(self, line: Line, number: int, crop: Grey, first: int | None = None) -> None:
        if first is None:
            before = [line.box.of(luma) for _, luma in self._ring][:-1]
            ended = max((t.last for t in self.done if t.box.overlap(line.box) > 0.3), default=-1)
            back = first_present(before, crop)
            first = max(self._ring[len(before) - back][0], ended)
        watched = watched_of(crop, line.text)
        self.active.append(Track(line.box, line.text, line.score, first, crop, watched, number))

    def _close(self, track: Track, last: int) -> None:
        track.last = last
        self.active.remove(track)
        self.done.append(track)

    def _look_again(self, track: Track, number: int, luma: Grey, bgr: Callable[[], Pixels]) -> None:
        """Read a text again where its pixels have changed, or might have without showing it."""
        crop = track.box.of(luma)
        changed = is_changed(crop, track.known, track.watched)
        track.doubts = track.doubts + 1 if changed else 0
        quiet_s = (number - track.confirmed) / self.fps
        moving = track.watched_share < _STILL
        hidden = has_digits(track.text) and moving and quiet_s >= REREAD_S
        at_once = changed and has_digits(track.text) and not moving
        if not hidden and not at_once and (track.doubts < 2 or (moving and quiet_s < AGAIN_S)):
            return
        text, score = self.reader.read(track.box.of(bgr()))
        line = Line(track.box, text, score)
        if same_text(track.text, text):
            if track.doubts != 1:
                self._still_there(track, line, number, crop)
        elif track.doubts != 1 or score >= _SURE:
            self._is_other(track, line, number, crop)

    def _still_there(self, track: Track, line: Line, number: int, crop: Grey) -> None:
        self._better(track, line)
        track.watched &= np.asarray(cv2.absdiff(crop, track.known) <= OTHER)
        if track.watched_share < _LEAST_WATCHED:
            track.watch(crop, watched_of(crop, track.text))
        track.confirmed, track.doubts = number, 0

    def _is_other(self, track: Track, line: Line, number: int, crop: Grey) -> None:
        """The box shows something else: find the frame, and go on with what it shows."""
        since = [(n, luma) for n, luma in self._ring if n > track.confirmed]
        crops = [track.box.of(luma) for _, luma in since]
        place = turned_at(crops, track.known, crop, track.watched)
        last = since[place][0] if place < len(since) else number
        self._close(track, last)
        if not line.text:
            return  # what comes there next has edges of its own
        self._edges.forget(track.box, self._ring[-1][1].shape[1])
        if shape_of(line.text) == shape_of(track.text) and line.score >= _SURE:
            self._open(line, number, crop, first=last)
        else:
            across = Box(0, track.box.top, self._ring[-1][1].shape[1], track.box.bottom)
            self._want(across)
            self._searched = min(self._searched, number - round(BETWEEN_SEARCHES_S * self.fps))


def roomy(part: Box, whole: Box) -> Box:
    """The lines of a picture around a part, in all their width, so that no text is cut; all of it where that saves
    little."""
    room = max(_ROOM_PX, part.height)
    wider = Box(0, part.top - room, whole.right, part.bottom + room).common(whole)
    return whole if wider.area > 0.6 * whole.area else wider


def has_digits(text: str) -> bool:
    return bool(re.search(r"\d", text))


def watched_of(crop: Grey, text: str) -> Mask:
    """The letters of a text and a little beside them; more beside digits, which become others by a stroke."""
    letters = strokes(crop)
    wide = crop.shape[0] // 4 if has_digits(text) else 1
    return around(letters, wide) if letters.any() else np.ones(crop.shape, np.bool_)


def shape_of(text: str) -> str:
    """A text with every digit alike: a counter keeps its shape."""
    return re.sub(r"\d", "0", re.sub(r"\s+", "", text))


def same_text(a: str, b: str) -> bool:
    """Whether two readings are of one text: the same digits, and nearly the same letters."""
    one, other = (re.sub(r"\s+", "", text).casefold() for text in (a, b))
    if one == other:
        return True
    if re.sub(r"\D", "", one) != re.sub(r"\D", "", other):
        return False
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio() >= _SAME
