"""join_scores: how well the end of each clip goes on in the start of each other, and the order that follows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, get_args

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Jpeg, Primitive, RangeRequest, Result, UserError

if TYPE_CHECKING:
    from primitives._joins.clips import Clip
    from primitives._joins.evidence import Evidence
    from primitives._joins.order import Ordering

MOST_CLIPS = 30
SMALL_MATRIX = 12
"""Up to so many clips the matrix comes without being asked for."""
ALTERNATIVES = 3
CERTAIN, LIKELY = 5.0, 1.5
"""Margins from which on a join counts as such: odds of 150 to 1, and of 4 to 1."""
AT_ODDS = 3.0
Cue = Literal["picture", "sound", "text", "speech"]


class JoinScoresRequest(RangeRequest):
    paths: list[str] = Field(min_length=1, max_length=MOST_CLIPS)
    """2 to 30 clips to order; or one film, whose own shots are then checked for being in order."""
    start_s: float | None = Field(default=None, ge=0)
    """One film only: leave out shots that end before this time, in seconds."""
    end_s: float | None = Field(default=None, gt=0)
    """One film only: leave out shots that begin after this time."""
    cues: list[Cue] = Field(default=[], max_length=4)
    """Only these. Default: picture and sound; where they leave joins open, text and speech too."""
    matrix: bool = False
    """Also the scores of all pairs; up to 12 clips they come anyway."""
    picture: bool = True
    """Also a picture: the clips in the best order, each by its first and last frame."""

    @model_validator(mode="after")
    def _sensible(self) -> JoinScoresRequest:
        twice = [path for path, times in Counter(self.paths).items() if times > 1]
        if twice:
            raise ValueError(f"paths names {twice[0]} twice. Give every clip once.")
        if len(self.paths) > 1 and (self.start_s is not None or self.end_s is not None):
            raise ValueError("start_s and end_s are for one film. Clips are taken whole: leave them out.")
        return self


class Join(Result):
    after: str
    then: str
    score: float
    """Natural logarithm of how much likelier a true join looks and sounds like this; 0 tells nothing."""
    picture: float | None
    sound: float | None
    text: float | None
    """Clocks and counters that go on, captions that stay."""
    speech: float | None
    sure: str
    """certain, likely or open; in one film also broken: a better order does without it."""
    margin: float | None
    """What the best order without this join scores less."""


class Alternative(Result):
    order: list[str]
    behind: float
    """What it scores less than the best."""


class JoinScoresResult(Result):
    clips: int
    cues: list[str]
    best_order: list[str]
    """Of one film: its shots as number@start."""
    score: float
    margin: float
    """Over the best other order."""
    proven: bool
    """Whether no order scores more."""
    runs: list[list[str]]
    """Clips that belong together for certain; these runs may still stand in another order."""
    joins: list[Join]
    alternatives: list[Alternative]
    own_order_behind: float | None
    """One film: what its own order scores less than the best; 0 where it is the best."""
    matrix: list[str]
    """A row for each clip that ends: the scores of what could follow, in the order of the first row."""
    picture: str | None
    notes: list[str]


def join_scores(request: JoinScoresRequest, call: Call) -> Answer:
    from primitives._joins.clips import film_shots, whole_clips
    from primitives._joins.order import best_ordering

    one_film = len(request.paths) == 1
    if one_film:
        clips = film_shots(call, request.paths[0], request.start_s, request.end_s, MOST_CLIPS)
    else:
        clips = whole_clips(call, request.paths, _short_names(request.paths))
    evidence = _evidence(clips, request.cues)
    call.progress(0, 0, "searching the best order")
    ordering = best_ordering(evidence.total, call.check)
    evidence, missing = _further(request, call, clips, evidence, ordering)
    if evidence.text.any() or evidence.speech.any():
        ordering = best_ordering(evidence.total, call.check)
    names = [clip.name for clip in clips]
    image = _sheet(clips, ordering) if request.picture else None
    joins = _own_joins(names, evidence, ordering) if one_film else _joins(names, evidence, ordering)
    best, others = ordering.best, ordering.alternatives
    return Answer(
        JoinScoresResult(
            clips=len(clips),
            cues=_told_by(evidence),
            best_order=[names[clip] for clip in best.clips],
            score=round(best.score, 2),
            margin=round(best.score - others[0].score, 2),
            proven=ordering.proven,
            runs=[[names[clip] for clip in run] for run in _certain(ordering)],
            joins=joins,
            alternatives=[
                Alternative(order=[names[clip] for clip in other.clips], behind=round(best.score - other.score, 2))
                for other in others[:ALTERNATIVES]
            ],
            own_order_behind=_behind(evidence, ordering) if one_film else None,
            matrix=_matrix(names, evidence) if request.matrix or len(clips) <= SMALL_MATRIX else [],
            picture=f"{image.width_px}x{image.height_px} px, the best order by rows" if image else None,
            notes=[*_notes(request, evidence, ordering), *missing],
        ),
        image,
    )


def _short_names(paths: list[str]) -> list[str]:
    """File names, or whole paths where two are called alike."""
    names = [PurePosixPath(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _evidence(clips: list[Clip], cues: list[Cue]) -> Evidence:
    import numpy as np

    from primitives._joins.evidence import Evidence, picture_evidence, sound_evidence
    from primitives._joins.picture import Looks

    nothing = np.zeros((len(clips), len(clips)))
    picture = sound = nothing
    if not cues or "picture" in cues:
        last, closing, first, opening = (
            np.stack([getattr(clip.ends, what) for clip in clips]) for what in ("last", "closing", "first", "opening")
        )
        picture = picture_evidence(Looks(last, closing), Looks(first, opening))
    if not cues or "sound" in cues:
        sound = sound_evidence(
            np.stack([clip.ends.tail for clip in clips]), np.stack([clip.ends.head for clip in clips])
        )
    return Evidence(picture, sound, nothing, nothing)


def _further(
    request: JoinScoresRequest, call: Call, clips: list[Clip], evidence: Evidence, ordering: Ordering
) -> tuple[Evidence, list[str]]:
    """With the beat, what is written and what is said where joins are open; and what could not be read or heard."""
    from dataclasses import replace

    from primitives._joins.further import beaten, said, written
    from primitives._reading.engine import open_reader
    from primitives._speech.models import find_model

    runs = _certain(ordering)
    if len(runs) == 1:
        return evidence, []
    ends, starts = [run[-1] for run in runs], [run[0] for run in runs]
    missing = []
    if not request.cues or "text" in request.cues:
        try:
            evidence = replace(evidence, text=written(call, clips, ends, starts, open_reader()))
        except UserError as error:
            missing.append(_without("text", error, request))
    heard = any(clip.scan.sound is not None for clip in clips)
    if heard and (not request.cues or "sound" in request.cues):
        evidence = replace(evidence, sound=evidence.sound + beaten(call, clips, ends, starts))
    if heard and (not request.cues or "speech" in request.cues):
        try:
            model = find_model(None, None)
            evidence = replace(evidence, speech=said(call, clips, ends, starts, evidence.total, model))
        except UserError as error:
            missing.append(_without("speech", error, request))
    return evidence, missing


def _without(cue: Cue, error: UserError, request: JoinScoresRequest) -> str:
    """What to say of a cue that cannot be had; one that was asked for is not left out silently."""
    if cue in request.cues:
        raise error
    need = {"text": "the extra ocr is not installed", "speech": "no speech model is installed"}[cue]
    return f"open joins were not compared by {cue}: {need}"


def _told_by(evidence: Evidence) -> list[str]:
    return [name for name in get_args(Cue) if getattr(evidence, name).any()]


def _joins(names: list[str], evidence: Evidence, ordering: Ordering) -> list[Join]:
    found = []
    for (a, b), margin in zip(pairwise(ordering.best.clips), ordering.margins, strict=True):
        found.append(_join(names, evidence, a, b, _called(margin), margin))
    return found


def _called(margin: float) -> str:
    return "certain" if margin >= CERTAIN else "likely" if margin >= LIKELY else "open"


def _certain(ordering: Ordering) -> list[tuple[int, ...]]:
    """The best order, parted at every join that is not certain."""
    clips, margins = ordering.best.clips, ordering.margins
    breaks = [0, *(place for place, margin in enumerate(margins, start=1) if margin < CERTAIN), len(clips)]
    return [clips[first:last] for first, last in pairwise(breaks)]


def _own_joins(names: list[str], evidence: Evidence, ordering: Ordering) -> list[Join]:
    """The joins of a film as it is; broken where it is better off without them."""
    margins = dict(zip(pairwise(ordering.best.clips), ordering.margins, strict=True))
    lacking = "broken" if _behind(evidence, ordering) >= CERTAIN else "open"
    found = []
    for join in pairwise(range(len(names))):
        margin = margins.get(join)
        found.append(_join(names, evidence, *join, lacking if margin is None else _called(margin), margin))
    return found


def _join(names: list[str], evidence: Evidence, a: int, b: int, sure: str, margin: float | None) -> Join:
    told = {cue: round(float(getattr(evidence, cue)[a, b]), 1) for cue in _told_by(evidence)}
    return Join(
        after=names[a],
        then=names[b],
        score=round(float(evidence.total[a, b]), 1),
        picture=told.get("picture"),
        sound=told.get("sound"),
        text=told.get("text"),
        speech=told.get("speech"),
        sure=sure,
        margin=None if margin is None else round(margin, 1),
    )


def _behind(evidence: Evidence, ordering: Ordering) -> float:
    from primitives._joins.order import score_of

    return round(ordering.best.score - score_of(range(len(evidence.picture)), evidence.total), 2)


def _matrix(names: list[str], evidence: Evidence) -> list[str]:
    whole = evidence.total.round().astype(int).tolist()
    rows = ["then: " + " ".join(names)]
    for a, name in enumerate(names):
        rows.append(f"{name}: " + " ".join("." if a == b else str(score) for b, score in enumerate(whole[a])))
    return rows


def _notes(request: JoinScoresRequest, evidence: Evidence, ordering: Ordering) -> list[str]:
    notes = []
    if not evidence.sound.any() and (not request.cues or "sound" in request.cues):
        notes.append("there is no sound: the order of shots rests on likeness alone where no take runs on")
    if any(_at_odds(evidence, *join) for join in pairwise(ordering.best.clips)):
        notes.append("picture and sound are at odds: where all clips end at shot changes, trust cues=['sound']")
    if not ordering.proven:
        notes.append("the clips are too much alike to prove that no order is better")
    if any(margin < LIKELY for margin in ordering.margins):
        notes.append("open joins: look at them with frame_grid, or decide by the story")
    return notes


def _at_odds(evidence: Evidence, a: int, b: int) -> bool:
    """A take that seems to run on while the sound does not: the same view may have come again later."""
    return bool(evidence.picture[a, b] > AT_ODDS and evidence.sound[a, b] < -AT_ODDS)


def _sheet(clips: list[Clip], ordering: Ordering) -> Jpeg:
    from primitives._joins.sheet import order_sheet

    ordered = [clips[number] for number in ordering.best.clips]
    width, height = (int(side) for side in ordered[0].ends.size_px)
    return order_sheet([(clip.name, clip.ends.opening, clip.ends.closing) for clip in ordered], (width, height))


PRIMITIVE = Primitive(
    name="join_scores",
    title="Join scores",
    description=(
        "Order clips: how well each end goes on in each start by picture, sound, clocks and captions, speech; the best "
        "order with margin, alternatives, which joins are certain, and a picture. One film: are its shots in order? "
        "Next: frame_grid at open joins, then trim_concat and submit."
    ),
    request=JoinScoresRequest,
    run=join_scores,
    read_only=True,
    returns_image=True,
)
