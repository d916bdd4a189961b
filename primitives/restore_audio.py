"""restore_audio: mend clipped, echoing, harsh, jumping or shifted sound in a range, and leave the rest alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Primitive, RangeRequest, Result, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from primitives._media.sound_patch import PatchReport
    from primitives._media.sound_source import SoundSource
    from primitives._sound.common import Sound
    from primitives._sound.localise import Kind
    from primitives._sound.repairs import SoundRepair
    from primitives._sound.retime import Move
    from primitives._soundwork import Range

FOUND_BY: dict[str, tuple[Kind, str]] = {
    "declip": ("clip", "clipping"),
    "dereverb": ("reverb", "echo"),
    "deharsh": ("level", "a jump of level"),
    "gain": ("level", "a jump of level"),
}
LONGEST_BEND_S = 60.0
MOST_LAG_S = 10.0


class RestoreAudioRequest(RangeRequest):
    path: str
    """The film or sound file, such as materials/a.mp4."""
    kind: Literal["declip", "dereverb", "deharsh", "gain", "retime"]
    """declip: overload; dereverb: room echo; deharsh: sharp, piercing sound; gain: a jump of level; retime: sound
    out of step with the picture (constant offset, lagging range, or drift in a range)."""
    start_s: float | None = Field(default=None, ge=0)
    """Start of the damaged range in seconds (included). Without both ends: found by itself; retime: all."""
    end_s: float | None = Field(default=None, gt=0)
    """End of that range (not included)."""
    strength: float = Field(default=1.0, gt=0, le=1)
    """1 repairs fully, less blends with the original. Not for retime."""
    amount: float | None = Field(default=None, ge=-60, le=60)
    """gain: dB to add. retime: seconds by which the sound comes late (negative: early). Default: estimated."""
    tempos: list[float] = Field(default=[], max_length=2)
    """retime, drift: the two wrong tempos at which the range plays, such as [0.67, 1.55]."""
    reference: str | None = None
    """retime: a file whose sound is in step, such as another copy or take of the film."""
    output: str | None = None
    """The file to write, below work/ or outputs/. Default: work/<name>_<kind>.<ext>."""

    @model_validator(mode="after")
    def _fits(self) -> RestoreAudioRequest:
        if self.amount is not None and self.kind not in {"gain", "retime"}:
            raise ValueError(f"amount goes with kinds gain and retime only, not with {self.kind}.")
        if self.kind == "retime" and self.amount is not None and abs(self.amount) > MOST_LAG_S:
            raise ValueError(f"amount={self.amount} s is more than {MOST_LAG_S} s. Use trim_concat to move more.")
        if (self.tempos or self.reference) and self.kind != "retime":
            raise ValueError("tempos and reference go with kind retime only.")
        if self.tempos and (len(self.tempos) != 2 or not all(0.3 <= tempo <= 3 for tempo in self.tempos)):
            raise ValueError(f"tempos={self.tempos} must be two numbers from 0.3 to 3, such as [0.67, 1.55].")
        return self


class RestoreAudioResult(Result):
    output: str
    kind: str
    method: str
    start_s: float
    end_s: float
    range_found: bool
    """The range was not given but found."""
    figures: dict[str, float]
    """The kind's own measures, before and after where both are known."""
    sound: str
    notes: list[str]


def restore_audio(request: RestoreAudioRequest, call: Call) -> Answer:
    from primitives._media.sound_source import open_sound
    from primitives._soundwork import asked, default_output, found, how_written, write_range

    source = open_sound(call.input(request.path), request.path, call.check)
    rate = source.facts.rate_hz
    given = request.start_s is not None or request.end_s is not None
    part = asked(source, request.start_s, request.end_s, call)
    if not given and request.kind in FOUND_BY and request.amount is None:
        part = found(source, *FOUND_BY[request.kind], call)
    call.progress(0, 1, "measuring the sound")
    output = call.output(request.output or default_output(source, request.kind))
    if request.kind == "retime":
        move = _move(request, source, part, given, call)
        method, figures, notes = move.how, _move_figures(move), list[str]()
        report = _retimed(source, part, move, output, call)
    else:
        repair = _plan(request, source, part, call)
        method, figures, notes = repair.method, repair.figures, repair.notes
        report = write_range(source, part, repair.change, repair.context_s, output, call)
    call.media_s += (part.last - part.first) / rate
    return Answer(
        RestoreAudioResult(
            output=call.workspace.relative(output),
            kind=request.kind,
            method=method,
            start_s=round(part.first / rate, 3),
            end_s=round(part.last / rate, 3),
            range_found=part.found,
            figures=figures,
            sound=how_written(report),
            notes=[*notes, *report.notes, *source.scan.notes],
        )
    )


def _plan(request: RestoreAudioRequest, source: SoundSource, part: Range, call: Call) -> SoundRepair:
    from primitives._sound.repairs import plan_declip, plan_deharsh, plan_dereverb, plan_gain
    from primitives._soundwork import beside, sample_of

    rate = source.facts.rate_hz
    sample, around = sample_of(source, part, call), beside(source, part, call, reach_s=15.0)
    if request.kind == "declip":
        return plan_declip(sample, around, rate, request.strength, call.check)
    if request.kind == "dereverb":
        return plan_dereverb(sample, around, rate, request.strength, call.check)
    if request.kind == "deharsh":
        return plan_deharsh(sample, around, rate, request.strength)
    return plan_gain(sample, around, rate, request.strength, request.amount)


def _move(request: RestoreAudioRequest, source: SoundSource, part: Range, given: bool, call: Call) -> Move:
    from primitives._sound.retime import Move, bend_of_tempos

    if request.tempos:
        bend = bend_of_tempos(request.tempos[0], request.tempos[1])
        if bend is None:
            raise UserError(
                f"tempos={request.tempos}: one must be below 1 and the other above, so that the range ends in step."
            )
        return Move(0.0, bend, "the given tempos undone", 1.0)
    if request.amount is not None:
        return Move(request.amount, None, "moved by the given amount", 1.0)
    if request.reference is not None:
        return _by_reference(request.reference, source, part, given, call)
    return _by_itself(source, part, given, call)


def _by_reference(reference: str, source: SoundSource, part: Range, given: bool, call: Call) -> Move:
    from primitives._media.sound_source import open_sound
    from primitives._sound.lag import MAX_LAG_S, against_reference, features, two_tempos
    from primitives._sound.retime import Move
    from primitives._soundwork import mono

    other = open_sound(call.input(reference), reference, call.check)
    rate = source.facts.rate_hz
    last = min(part.last, part.first + 120 * rate)
    ours = mono(source, part.first, last, call)
    scale = other.facts.rate_hz / rate
    theirs = mono(other, round(part.first * scale), round(last * scale), call)
    if other.facts.rate_hz != rate:
        from primitives._sound.common import fitted, resampled

        theirs = fitted(resampled(theirs, other.facts.rate_hz, rate), len(ours)).astype("float32")
    lag = against_reference(ours, theirs, rate)
    if lag is not None and lag.likeness >= 0.5:
        return Move(lag.seconds, None, lag.how, lag.likeness)
    if given and (part.last - part.first) / rate <= LONGEST_BEND_S:
        bend = two_tempos(features(ours, rate), features(theirs, rate))
        if bend.likeness >= 0.5:
            return Move(0.0, bend, "two tempos, found by comparing with the reference", bend.likeness)
    raise UserError(
        f"{source.name} and {reference} do not sound alike there within {MAX_LAG_S} s. Give amount or tempos, "
        "another reference, or a range."
    )


def _by_itself(source: SoundSource, part: Range, given: bool, call: Call) -> Move:
    from primitives._sound.lag import padded_with_silence, within_itself
    from primitives._sound.retime import Move
    from primitives._soundwork import mono

    rate, span = source.facts.rate_hz, source.heard(call.check)
    if given:
        reach = 4 * rate
        first = max(span.start, part.first - reach)
        sound = mono(source, first, min(span.stop, part.last + reach), call)
        lag = within_itself(sound, part.first - first, part.last - first, rate)
        if lag is not None:
            return Move(lag.seconds, None, lag.how, lag.likeness)
    else:
        late_s = max(0, span.start) / rate
        if late_s > 0.1 and source.scan.video is not None:
            return Move(late_s, None, "the sound begins after the picture", 0.7)
        head = mono(source, span.start, min(span.stop, span.start + 30 * rate), call)
        tail = mono(source, max(span.start, span.stop - 30 * rate), span.stop, call)
        lag = padded_with_silence(head, tail, rate)
        if lag is not None:
            return Move(lag.seconds, None, lag.how, lag.likeness)
    raise UserError(
        f"How far the sound of {source.name} is out of step cannot be told from it alone. Give reference (a file in "
        "step), amount (seconds that it comes late) or tempos; frame_grid and listen show both sides of a moment."
    )


def _move_figures(move: Move) -> dict[str, float]:
    figures = {"likeness": round(move.likeness, 2)}
    if move.bend is None:
        return {"late_s": round(move.lag_s, 3), **figures}
    first = move.bend.theirs / move.bend.ours
    return {"tempo_1": round(first, 3), "tempo_2": round((1 - move.bend.theirs) / (1 - move.bend.ours), 3), **figures}


def _retimed(source: SoundSource, part: Range, move: Move, output: Path, call: Call) -> PatchReport:
    from primitives._sound.retime import moved_back, unbent
    from primitives._soundwork import write_blocks

    rate, span, bend = source.facts.rate_hz, source.heard(call.check), move.bend

    def read(first: int, last: int) -> Sound:
        return source.read(first, last, call.check)

    if bend is not None:
        if (part.last - part.first) / rate > LONGEST_BEND_S:
            raise UserError(f"Tempos are undone in ranges of at most {LONGEST_BEND_S:.0f} s. Give start_s and end_s.")
        made = unbent(read, part.first, part.last, rate, bend)
        return write_blocks(source, part, lambda: iter([made]), output, call)
    lag = round(move.lag_s * rate)
    if abs(lag) >= part.last - part.first:
        raise UserError(f"The range is shorter than the lag of {move.lag_s:.3f} s. Give a longer range.")
    if not lag:
        raise UserError("Nothing was written: the sound is already in step there (0 samples late).")

    def blocks() -> Iterator[Sound]:
        return moved_back(read, part.first, part.last, span, rate, lag)

    return write_blocks(source, part, blocks, output, call)


PRIMITIVE = Primitive(
    name="restore_audio",
    title="Restore sound",
    description=(
        "Repair a range of the sound: declip, dereverb, deharsh, gain (level jump), or retime (constant offset, "
        "lagging range, drift; estimated or given). Picture is copied, sound outside stays. Gives figures, writes "
        "nothing if nothing is wrong. Next: listen before and after."
    ),
    request=RestoreAudioRequest,
    run=restore_audio,
    read_only=False,
)
