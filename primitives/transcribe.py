"""transcribe: what is said and when, found by text, with candidates for cutting; kept, so that none is read twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Primitive, RangeRequest, Result, UserError

if TYPE_CHECKING:
    from primitives._speech.fillers import Candidate
    from primitives._speech.reader import Reading
    from primitives._speech.store import Ears
    from primitives._speech.vad import Span
    from primitives._speech.words import Line, Word

MAX_ROWS = 100
DEFAULT_ROWS = 50
RANGE_GAP_S = 0.3
"""Speech with shorter pauses than this is one range."""


class TranscribeRequest(RangeRequest):
    path: str
    """The film or sound, such as materials/a.mp4."""
    start_s: float | None = Field(default=None, ge=0)
    """Start of the range in seconds (included). Default 0."""
    end_s: float | None = Field(default=None, gt=0)
    """End of the range in seconds (not included). Default: the end."""
    find: str | None = Field(default=None, min_length=1, max_length=300)
    """Return only the passages most like this text, best first; small differences are forgiven."""
    words: bool = False
    """List single words with their times instead of sentences."""
    fillers: bool = False
    """List candidates for cutting instead: ums, sounds that are no word, repeated words, hesitations."""
    speech_only: bool = False
    """List only when somebody speaks; needs no speech model."""
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}$")
    """Code of the spoken language, such as en. Default: found by the model."""
    model: str | None = None
    """Name of a speech model, such as base.en. Default: the best one installed."""
    offset: int = Field(default=0, ge=0)
    """How many rows to leave out, for paging."""
    limit: int = Field(default=DEFAULT_ROWS, ge=1, le=MAX_ROWS)
    """At most so many rows, 1 to 100."""

    @model_validator(mode="after")
    def _one_form(self) -> TranscribeRequest:
        ways = [way for way in ("find", "words", "fillers", "speech_only") if getattr(self, way)]
        if len(ways) > 1:
            raise ValueError(f"{' and '.join(ways)} exclude each other. Use one of find, words, fillers, speech_only.")
        return self


class Row(Result):
    start_s: float
    end_s: float
    text: str | None = None
    kind: str | None = None
    """Of a candidate: filler, sound, repeat or pause."""
    sure: float | None = None
    """0 to 1: of a word or candidate how likely it is right, of a hit how alike it is."""


class TranscribeResult(Result):
    path: str
    start_s: float
    end_s: float
    done_s: float
    """Everything before this time has been read."""
    model: str | None
    language: str | None
    speech_s: float
    """How long somebody speaks until done_s."""
    word_count: int | None
    row_count: int
    rows: list[Row]
    srt: str | None
    """Captions of everything read of this film so far."""
    table: str | None
    """The same with the time of every word."""
    next: list[str]
    notes: list[str]


def transcribe(request: TranscribeRequest, call: Call) -> Answer:
    from primitives._media.scan import scan
    from primitives._speech.store import Ears

    path = call.input(request.path)
    found = scan(path, request.path, call.check)
    if found.sound is None:
        raise UserError(
            f"{request.path} has no sound, so there is nothing to transcribe. Use frame_grid to look at it."
        )
    length_s = float(found.sound.end)
    start_s, end_s = request.start_s or 0.0, min(request.end_s or length_s, length_s)
    if start_s >= length_s:
        raise UserError(
            f"start_s={start_s} is past the end of the sound of {request.path} ({length_s:.3f} s). "
            f"Use 0 <= start_s < {length_s:.3f}."
        )
    ears = Ears(call, path, request.path, length_s)
    notes = list(found.notes)
    work = _heard if request.speech_only else _read
    answer = work(request, ears, start_s, end_s, notes)
    call.media_s += answer.done_s - start_s
    return Answer(answer)


def _heard(request: TranscribeRequest, ears: Ears, start_s: float, end_s: float, notes: list[str]) -> TranscribeResult:
    """Only when somebody speaks."""
    from primitives._speech.vad import joined

    heard = ears.hear(start_s, end_s)
    rows = [Row(start_s=round(s.start_s, 3), end_s=round(s.end_s, 3)) for s in joined(heard.speech, RANGE_GAP_S)]
    return _result(request, start_s, end_s, heard.done_s, heard.speech, rows, notes)


def _read(request: TranscribeRequest, ears: Ears, start_s: float, end_s: float, notes: list[str]) -> TranscribeResult:
    """What is said, as the request wants to see it."""
    from primitives._speech.models import find_model
    from primitives._speech.reader import Reader

    model = find_model(request.model, request.language)
    if model.english_only and request.language not in (None, "en"):
        raise UserError(
            f"Model {model.name} knows English only. Leave out language={request.language!r}, or the model."
        )
    reader = Reader(ears, model, request.language, request.fillers)
    reading = reader.read(start_s, end_s)
    if not reading.speech and reading.done_s == end_s:
        notes.append("nobody speaks in this range; listen shows what is there")
    rows = _rows(request, reading)
    if request.find and not rows:
        notes.append(f"nothing like {request.find!r} is said up to {reading.done_s:.2f} s; try fewer or other words")
    result = _result(request, start_s, end_s, reading.done_s, reading.speech, rows, notes)
    srt, table = _write(request, ears.call, reader.everything()) if reading.words else (None, None)
    about = {"model": model.name, "language": reading.language, "word_count": len(reading.words)}
    return result.model_copy(update={**about, "srt": srt, "table": table})


def _rows(request: TranscribeRequest, reading: Reading) -> list[Row]:
    from primitives._speech.fillers import candidates
    from primitives._speech.words import SEGMENT, lines

    if request.find:
        return _hits(request.find, reading.words)
    if request.fillers:
        return [_candidate(one) for one in candidates(reading.words, reading.sounds, reading.speech)]
    if request.words:
        return [
            Row(start_s=w.start_s, end_s=w.end_s, text=w.text.strip(), sure=round(w.sure, 2)) for w in reading.words
        ]
    return [_line(line) for line in lines(reading.words, SEGMENT)]


def _line(line: Line) -> Row:
    return Row(start_s=line.start_s, end_s=line.end_s, text=line.text)


def _candidate(one: Candidate) -> Row:
    return Row(start_s=one.start_s, end_s=one.end_s, text=one.text or None, kind=one.kind, sure=one.sure)


def _hits(query: str, words: list[Word]) -> list[Row]:
    from primitives._speech.find import find
    from primitives._speech.words import text_of

    hits = find(query, words)
    return [
        Row(
            start_s=words[hit.first].start_s,
            end_s=words[hit.last - 1].end_s,
            text=text_of(words[hit.first : hit.last]),
            sure=hit.likeness,
        )
        for hit in hits
    ]


def _result(
    request: TranscribeRequest,
    start_s: float,
    end_s: float,
    done_s: float,
    speech: list[Span],
    rows: list[Row],
    notes: list[str],
) -> TranscribeResult:
    if request.offset and request.offset >= len(rows):
        raise UserError(f"offset={request.offset} is past the last of {len(rows)} rows. Use 0 <= offset < {len(rows)}.")
    page = rows[request.offset : request.offset + request.limit]
    after = request.offset + len(page)
    following = [f"offset={after} for rows {after + 1} to {len(rows)}"] if after < len(rows) else []
    if done_s < end_s:
        following.append(
            f"read up to {done_s:.2f} of {end_s:.2f} s: call again with start_s={done_s:.2f} for what follows, or with "
            "the same arguments for all of it; nothing is read twice"
        )
    return TranscribeResult(
        path=request.path,
        start_s=round(start_s, 3),
        end_s=round(end_s, 3),
        done_s=round(done_s, 3),
        model=None,
        language=None,
        speech_s=round(sum(span.length_s for span in speech), 2),
        word_count=None,
        row_count=len(rows),
        rows=page,
        srt=None,
        table=None,
        next=following,
        notes=notes,
    )


def _write(request: TranscribeRequest, call: Call, words: list[Word]) -> tuple[str, str]:
    """Captions and every word of what is known of the film, in work/."""
    from primitives._speech.words import CAPTION, SEGMENT, lines, srt
    from primitives._writing import write_text

    stem = Path(request.path).stem
    rows = [
        {
            "start_s": line.start_s,
            "end_s": line.end_s,
            "text": line.text,
            "words": [[word.start_s, word.end_s, word.text.strip(), word.sure] for word in line.words],
        }
        for line in lines(words, SEGMENT)
    ]
    table = "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"
    names = f"work/{stem}.srt", f"work/{stem}.words.json"
    for name, text in zip(names, (srt(lines(words, CAPTION)), table), strict=True):
        write_text(call, call.output(name), text)
    return names


PRIMITIVE = Primitive(
    name="transcribe",
    title="Transcribe speech",
    description=(
        "What is said and when: sentences, words, passages like a text (find), ums and hesitations (fillers), or only "
        "when somebody speaks (speech_only). Long films are read in slices that are kept: follow `next`. Captions and "
        "word times go to work/. Next: trim_concat by these times."
    ),
    request=TranscribeRequest,
    run=transcribe,
    read_only=False,
)
