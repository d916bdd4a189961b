"""Text followed over a film: searched for where something new stands still, read again where its pixels change."""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from primitives._reading.digits import Digits, places
from primitives._reading.engine import Box, Line, Pixels, Reader
from primitives._reading.ink import Letters, has_digits
from primitives._reading.pixels import PRESENT, EdgeWatch, Grey, turned_at

RING_S, RING_BYTES = 0.9, 64_000_000
"""How much of the film is remembered to find the frame in which a text came, at most."""
PROBE_S, BETWEEN_SEARCHES_S, SAFETY_S = 0.12, 0.4, 12.0
"""How often edges are looked at, the least time between searches, and the longest."""
REREAD_S, AGAIN_S = 0.5, 0.25
"""How often numbers before a moving film are read again, for their pixels do not tell every change; and how soon at
most, for those pixels change all the time."""
_STILL = 0.7
"""Share of the pixels gone by that are left where the ground of the text stands still."""
_SAME = 0.84
SURE, _SURE = 0.9, 0.8
_LONGER = 1.3
_ROOM_PX, _MARGIN_PX = 40, 12


@dataclass(eq=False)
class Track:
    """One text while it is on screen."""

    box: Box
    text: str
    score: float
    first: int
    centres_px: tuple[float, ...]
    letters: Letters
    confirmed: int
    """The frame at which it was last read."""
    last: int = -1
    """The first frame without it; -1 while it is there."""
    readings: int = 1
    doubts: int = 0
    """Frames since which its letters look changed, and since which they are gone."""
    gone: int = 0

    @property
    def is_vague(self) -> bool:
        """Whether further readings have to tell that it is a text at all."""
        return self.score < SURE

    @property
    def is_sure(self) -> bool:
        """Whether there is nothing to be gained by reading it again."""
        return not self.doubts and self.score >= _SURE


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
        self._probe = max(1, round(PROBE_S * self.fps))
        self._seen = self._not_before = 0
        self._searched = self._whole = -(10**9)
        """The frames of the last search, and of the last one of the whole picture."""
        self._digits: dict[Box, Digits] = {}
        self._wanted: Box | None = None
        """The part of the picture to search next."""

    def see(self, number: int, luma: Grey, bgr: Callable[[], Pixels]) -> None:
        """The next frame; `bgr` gives it in colour, where it has to be read."""
        self._ring.append((number, luma))
        room = max(8, min(round(RING_S * self.fps), RING_BYTES // max(1, luma.size)))
        while len(self._ring) > room:
            self._ring.popleft()
        if self._seen % self._probe == 0:
            self._want_new(self._edges.see(luma))
        self._seen += 1
        for track in list(self.active):
            self._look_again(track, number, luma, bgr)
        apart_s = (number - self._searched) / self.fps
        whole = Box(0, 0, luma.shape[1], luma.shape[0])
        if (number - self._whole) / self.fps >= SAFETY_S:
            self._whole = number
            self._search(number, luma, bgr(), whole)
        elif self._wanted is not None and apart_s >= BETWEEN_SEARCHES_S and number >= self._not_before:
            self._search(number, luma, bgr(), self._uncut(roomy(self._wanted, whole)))

    def _want_new(self, part: Box | None) -> None:
        """Edges within a text that is followed are its own: it is read again when its pixels change."""
        if part is None:
            return
        if any(track.box.wider(_MARGIN_PX).common(part) == part for track in self.active):
            self._edges.searched(part)
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
        self._edges.searched(part)
        for found in self.reader.boxes(part.of(bgr)):
            box = found.moved(part.left, part.top)
            crop = box.of(luma)
            if min(crop.shape, default=0) < 4:
                continue
            rival = max(self.active, key=lambda track: track.box.overlap(box), default=None)
            if rival is not None and rival.box.overlap(box) <= 0.5:
                rival = None
            if rival is not None and rival.is_sure and box.area < _LONGER * rival.box.area:
                continue
            line = self.reader.line(box, bgr)
            if not line.text:
                continue
            if rival is not None:
                known = same_text(rival.text, line.text) or line.text in rival.text
                if known and box.area > rival.box.area and box.common(rival.box) == rival.box:
                    rival.box, rival.centres_px = box, line.centres_px
                    rival.letters = Letters(crop, rival.text)
                if known or rival.score >= line.score:
                    self._better(rival, line)
                    continue
                self._close(rival, number)
            self._open(line, number, crop)

    def _better(self, track: Track, line: Line) -> None:
        """Another reading: the surer one counts, but of vague ones their mean."""
        if not same_text(track.text, line.text):
            return
        if line.score > track.score and (line.score >= SURE or not track.is_vague):
            track.text, track.score = line.text, line.score
        elif track.is_vague:
            track.score += (line.score - track.score) / track.readings

    def _open(self, line: Line, number: int, crop: Grey, first: int | None = None) -> None:
        letters = Letters(crop, line.text)
        if first is None:
            before = [line.box.of(luma) for _, luma in self._ring][:-1]
            ended = max((t.last for t in self.done if t.box.overlap(line.box) > 0.3), default=-1)
            back = letters.shown_in(before)
            first = max(self._ring[len(before) - back][0], ended)
            letters.ignore(line.box.of(luma) for n, luma in self._ring if first < n < number)
        self.active.append(
            Track(line.box, line.text, line.score, first, line.centres_px, letters.renewed(crop), number)
        )

    def _close(self, track: Track, last: int) -> None:
        track.last = last
        self.active.remove(track)
        self.done.append(track)

    def _look_again(self, track: Track, number: int, luma: Grey, bgr: Callable[[], Pixels]) -> None:
        """Read a text again where its pixels have changed, or might have without showing it."""
        crop = track.box.of(luma)
        before = track.box.of(self._ring[-2][1]) if len(self._ring) > 1 else None
        changed = track.letters.is_other(crop, before)
        track.doubts = track.doubts + 1 if changed else 0
        if changed and not has_digits(track.text) and track.letters.kept_share(crop) < PRESENT:
            track.gone += 1
            if track.gone == 2:
                self._close(track, number - 1)
                self._edges.forget(track.box)
                # What comes in its place needs a moment to stand still.
                self._not_before = number + 2 * self._probe
            return
        track.gone = 0
        if not self._is_due(track, number, changed):
            return
        line = self._counted(track, crop) or self.reader.line(track.box, bgr())
        if same_text(track.text, line.text):
            track.readings += 1
            if track.doubts != 1:
                self._still_there(track, line, number, crop)
        elif track.is_vague and not track.doubts:
            self.active.remove(track)
        elif track.doubts != 1 or line.score >= _SURE:
            self._is_other(track, line, number, crop)

    def _counted(self, track: Track, crop: Grey) -> Line | None:
        """A text of which digits changed, told by those alone."""
        others, known = track.letters.others(crop, crop), track.letters.known
        where = places(track.text, track.centres_px, crop.shape[1])
        if not where or not track.letters.is_much(others):
            return None
        digits = self._digits_of(track)
        now = digits.changed(where, others, (known, track.letters.ink(known)), (crop, track.letters.ink(crop)))
        if now is None:
            return None
        letters = iter(now)
        text = "".join(letter if letter.isspace() else next(letters).letter for letter in track.text)
        return Line(track.box, text, track.score, track.centres_px)

    def _digits_of(self, track: Track) -> Digits:
        """The digits known in a track's box: a counter keeps its place and its looks."""
        if track.box not in self._digits:
            self._digits[track.box] = Digits(self.reader.letter)
        return self._digits[track.box]

    def _is_due(self, track: Track, number: int, changed: bool) -> bool:
        """Whether to read a text again: digits in the frame in which they change, and once more when the change has
        settled."""
        quiet_s, counts = (number - track.confirmed) / self.fps, has_digits(track.text)
        moving = track.letters.left_share < _STILL
        hidden = counts and moving and quiet_s >= REREAD_S
        vague = track.is_vague and quiet_s >= REREAD_S * 2 ** (track.readings - 1)
        at_once = counts and track.doubts == 1
        settled = track.doubts >= (3 if counts else 2)
        return hidden or vague or (changed and (settled or at_once) and (not moving or quiet_s >= AGAIN_S))

    def _still_there(self, track: Track, line: Line, number: int, crop: Grey) -> None:
        self._better(track, line)
        track.letters.ignore([crop])
        track.letters = track.letters.renewed(crop)
        track.confirmed, track.doubts = number, 0

    def _is_other(self, track: Track, line: Line, number: int, crop: Grey) -> None:
        """The box shows something else: find the frame, and go on with what it shows."""
        since = [(n, luma) for n, luma in self._ring if n > track.confirmed]
        crops = [track.box.of(luma) for _, luma in since]
        place = turned_at(crops, track.letters.known, crop, track.letters.others(crop, crop))
        last = since[place][0] if place < len(since) else number
        self._close(track, last)
        if not line.text:
            return  # what comes there next has edges of its own
        self._edges.forget(track.box)
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
