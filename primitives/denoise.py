"""denoise: take background noise out of a range of the sound, or grain out of a range of the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Primitive, RangeRequest, Result, UserError

if TYPE_CHECKING:
    from primitives._media.sound_source import SoundSource
    from primitives._soundwork import Mono, Range

LEAST_REMOVED_DB = -45.0
"""What a method takes away, against the sound: below this there was no noise."""
CONTEXT_S = 1.0
JUDGED_S, JUDGED_BESIDE_S = 5.0, 2.0
"""Seconds of the range, and on each side of it, by which it is judged: the network must run over them too."""


class DenoiseRequest(RangeRequest):
    path: str
    """The film or sound file, such as materials/a.mp4."""
    target: Literal["audio", "video"] = "audio"
    """audio: background noise; video: grain."""
    start_s: float | None = Field(default=None, ge=0)
    """Start of the noisy range in seconds (included). Without both ends: found by itself (audio), all (video)."""
    end_s: float | None = Field(default=None, gt=0)
    """End of that range (not included)."""
    strength: float | None = Field(default=None, gt=0, le=1)
    """1 removes all that can be told from noise, less blends with the original. Default: chosen by measuring."""
    mode: Literal["auto", "speech", "music"] = "auto"
    """music is gentle and steady; auto listens to the film beside the range."""
    noise_start_s: float | None = Field(default=None, ge=0)
    """Start of a stretch with the noise alone, as a profile (mode music, or without the network)."""
    noise_end_s: float | None = Field(default=None, gt=0)
    """End of that stretch (not included)."""
    output: str | None = None
    """The file to write, below work/ or outputs/. Default: work/<name>_denoise.<ext>."""

    @model_validator(mode="after")
    def _ranges(self) -> DenoiseRequest:
        if (self.noise_start_s is None) != (self.noise_end_s is None):
            raise ValueError("noise_start_s and noise_end_s go together. Give both, or neither.")
        if self.target == "video" and (self.mode != "auto" or self.noise_start_s is not None):
            raise ValueError("mode and noise_start_s go with target audio only.")
        return self


class DenoiseResult(Result):
    output: str
    target: str
    method: str
    start_s: float
    end_s: float
    range_found: bool
    """The range was not given but found."""
    figures: dict[str, float]
    sound: str
    frames_copied: int | None
    frames_encoded: int | None
    notes: list[str]


def denoise(request: DenoiseRequest, call: Call) -> Answer:
    return _picture(request, call) if request.target == "video" else _sound(request, call)


def _sound(request: DenoiseRequest, call: Call) -> Answer:
    from primitives._media.sound_source import open_sound
    from primitives._sound.common import rms_db
    from primitives._sound.noise import figures, plan_noise, remove_noise
    from primitives._soundwork import asked, beside, default_output, found, how_written, sample_of, write_range

    source = open_sound(call.input(request.path), request.path, call.check)
    given = request.start_s is not None or request.end_s is not None
    asked_part = asked(source, request.start_s, request.end_s, call)
    part = asked_part if given else found(source, "noise", "noise", call)
    rate = source.facts.rate_hz
    call.progress(0, 1, "measuring the noise")
    sample = sample_of(source, part, call, JUDGED_S)
    around = beside(source, part, call, JUDGED_BESIDE_S)
    plan = plan_noise(sample, around, rate, request.mode, request.strength, _profile(request, source, call))
    clean = plan.heard if plan.heard is not None else remove_noise(sample[None], rate, plan)[0]
    removed_db = rms_db(sample - clean) - rms_db(sample)
    if removed_db < LEAST_REMOVED_DB:
        raise UserError(
            f"Nothing was written: no noise was found there (what could be removed lies {-removed_db:.0f} dB below "
            "the sound). Check the range with listen."
        )
    measured = figures(sample, clean, around, rate)
    output = call.output(request.output or default_output(source, "denoise"))
    call.media_s += (part.last - part.first) / rate
    report = write_range(source, part, lambda block: remove_noise(block, rate, plan), CONTEXT_S, output, call)
    shown = {name: value for name, value in vars(measured).items() if value is not None}
    return Answer(
        DenoiseResult(
            output=call.workspace.relative(output),
            target="audio",
            method={"deepfilter": "DeepFilterNet3", "logmmse": "log-MMSE spectral gain"}[plan.method],
            start_s=round(part.first / rate, 3),
            end_s=round(part.last / rate, 3),
            range_found=part.found,
            figures=shown,
            sound=how_written(report),
            frames_copied=None,
            frames_encoded=None,
            notes=[*plan.why, *report.notes, *source.scan.notes],
        )
    )


def _profile(request: DenoiseRequest, source: SoundSource, call: Call) -> Mono | None:
    from primitives._soundwork import asked, mono

    if request.noise_start_s is None:
        return None
    part: Range = asked(source, request.noise_start_s, request.noise_end_s, call)
    return mono(source, part.first, part.last, call)


def _picture(request: DenoiseRequest, call: Call) -> Answer:
    from primitives._media.film import open_film
    from primitives._patch import asked_frames, default_output, patch, span_s
    from primitives._restore.grain import Grain, plan_grain

    film = open_film(call.input(request.path), request.path, call.check)
    frames = asked_frames(film.timeline, request.start_s or 0.0, request.end_s, request.path)
    call.progress(0, len(frames), "measuring the grain")
    plan = plan_grain(film, frames, request.strength or 1.0, call)
    output = call.output(request.output or default_output(film, "denoise"))
    grain = Grain(film, frames, plan, call)
    report = patch(film, frames, grain.change, output, call)
    start_s, end_s = span_s(film.timeline, frames)
    call.media_s += end_s - start_s
    return Answer(
        DenoiseResult(
            output=call.workspace.relative(output),
            target="video",
            method="average along the motion over five frames",
            start_s=start_s,
            end_s=end_s,
            range_found=False,
            figures=grain.figures(),
            sound=report.sound,
            frames_copied=report.frames_copied,
            frames_encoded=report.frames_encoded,
            notes=[*plan.notes, *report.reasons, *report.notes],
        )
    )


PRIMITIVE = Primitive(
    name="denoise",
    title="Remove noise",
    description=(
        "Take background noise out of a range of the sound (speech kept, strength chosen by measuring), or grain out "
        "of a range of the picture (target=video). Outside the range nothing changes; level and sync are kept. "
        "Next: listen before and after, or frame_grid."
    ),
    request=DenoiseRequest,
    run=denoise,
    read_only=False,
)
