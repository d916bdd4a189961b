"""The new pictures of an edit: decoded, changed, blended, brought to the written film's format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from av.video.frame import VideoFrame

from primitives._base import UserError
from primitives._edit import Piece
from primitives._edit_plan import Numbers, Span
from primitives._media.conform import Conform, blend
from primitives._media.film import Film, PictureFacts
from primitives._media.frames import decode_straight


def pictures(
    spans: Sequence[Span],
    pieces: Sequence[Piece],
    films: Sequence[Film],
    target: PictureFacts,
    check: Callable[[], None],
) -> Iterator[tuple[int, VideoFrame]]:
    """The frames of spans in playing order, each with its timestamp in the written film."""
    for span in spans:
        frames = _frames(span.piece, span.frames, pieces, films, target, check)
        others = _frames(span.mix.piece, span.mix.frames, pieces, films, target, check) if span.mix else None
        for place, frame in enumerate(frames):
            made = frame
            if others is not None and span.mix is not None:
                made = blend(frame, next(others), float(span.mix.shares[place]))
            elif span.levels is not None:
                made = blend(frame, None, 1 - float(span.levels[place]))
            # A decoded frame brings its old type along, which an encoder would take as an order.
            made.pict_type = 0
            yield int(span.ticks[place]), made


def _frames(
    number: int,
    wanted: Numbers,
    pieces: Sequence[Piece],
    films: Sequence[Film],
    target: PictureFacts,
    check: Callable[[], None],
) -> Iterator[VideoFrame]:
    """One frame for each wanted number (ascending, repeats allowed)."""
    piece, film = pieces[number], films[number]
    conform = Conform(film.picture, target)
    shown = decode_straight(film.path, film.name, film.scan, sorted(set(wanted.tolist())), check)
    current, made = None, None
    for frame_number in wanted.tolist():
        if current is None or current.wanted != frame_number:
            current = next(shown, current)
            if current is None:
                raise UserError(f"Frame {frame_number} of {film.name} does not decode. Leave that part out.")
            frame = current.frame
            made = conform(piece.change(frame, frame_number) if piece.change is not None else frame)
        assert made is not None
        yield made
