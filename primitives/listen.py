"""listen: a sound as one picture with a time axis, and in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Primitive, RangeRequest, Result, UserError

if TYPE_CHECKING:
    from primitives._hearing.draw import Shown
    from primitives._hearing.measure import Sound
    from primitives._speech.vad import Span

MAX_CLIPS = 6
MAX_RANGES = 40
SHORTEST_SILENCE_S, SHORTEST_SILENCE_LONG_S = 0.3, 1.0
SPEECH_GAP_S = 0.3


class ListenRequest(RangeRequest):
    path: str | None = None
    """The film or sound, such as materials/a.mp4."""
    paths: list[str] = Field(default=[], max_length=MAX_CLIPS)
    """Instead of path: up to 6 files, one below the other on one scale."""
    start_s: float | None = Field(default=None, ge=0)
    """Start of the range in seconds (included), in each file. Default 0."""
    end_s: float | None = Field(default=None, gt=0)
    """End of the range in seconds (not included). Default: the end."""

    @model_validator(mode="after")
    def _one_form(self) -> ListenRequest:
        if bool(self.path) == bool(self.paths):
            raise ValueError("Give either path (one file) or paths (several files).")
        return self


class ClipSound(Result):
    path: str
    start_s: float
    end_s: float
    sample_rate_hz: int
    channels: int
    loudness_lufs: float | None
    true_peak_dbtp: float | None
    noise_floor_dbfs: float | None
    dc_offset: float | None
    speech_s: float | None
    """How long somebody speaks."""
    speech: list[list[float]]
    """Ranges [start_s, end_s] in which somebody speaks."""
    silence_s: float
    silences: list[list[float]]
    clipped: list[list[float]]
    """Ranges in which the wave is cut off at the top."""
    notes: list[str]


class ListenResult(Result):
    picture: str
    clips: list[ClipSound]


def listen(request: ListenRequest, call: Call) -> Answer:
    from primitives._hearing.draw import draw

    names = request.paths or [request.path or ""]
    shown, clips = [], []
    for name in names:
        one, clip = _hear(name, request, call, MAX_RANGES // len(names))
        shown.append(one)
        clips.append(clip)
    image = draw(shown)
    legend = (
        f"{image.width_px}x{image.height_px} px, from the top: wave (red: clipped), mel spectrogram, lane (green "
        "speech, blue silence, grey other sound), loudness, time in seconds"
    )
    return Answer(ListenResult(picture=legend, clips=clips), image)


def _hear(name: str, request: ListenRequest, call: Call, most_ranges: int) -> tuple[Shown, ClipSound]:
    from primitives._hearing import figures
    from primitives._hearing.draw import Shown
    from primitives._hearing.measure import measure
    from primitives._media.sound_read import sound_length_about
    from primitives._speech.vad import joined

    path = call.input(name)
    start_s = request.start_s or 0.0
    about_s = sound_length_about(path, name, call.check)
    if start_s >= about_s:
        raise UserError(
            f"start_s={start_s} is past the end of the sound of {name} ({about_s:.3f} s). "
            f"Use 0 <= start_s < {about_s:.3f}."
        )
    end_s = request.end_s if request.end_s is not None and request.end_s < about_s else None
    length_s = (end_s or about_s) - start_s
    sound = measure(
        path, name, start_s, end_s, length_s, call.check, lambda at_s: call.progress(at_s, length_s, f"heard {name}")
    )
    if sound.high.size == 0:
        raise UserError(
            f"Nothing of the sound of {name} decodes there: the file is damaged. Try another range or file."
        )
    call.media_s += sound.length_s
    speech = None if sound.sampled else _speech(call, name, sound, about_s)
    silences = figures.silences(sound, SHORTEST_SILENCE_LONG_S if sound.sampled else SHORTEST_SILENCE_S)
    if speech is not None:
        silences = [span for span in silences if not any(span.overlaps(one) for one in speech)]
    clip = _clip(name, sound, joined(speech, SPEECH_GAP_S) if speech is not None else None, silences, most_ranges)
    return Shown(sound, _title(clip), speech, silences, figures.clipped(sound)), clip


def _speech(call: Call, name: str, sound: Sound, length_s: float) -> list[Span]:
    """Where somebody speaks, by the speech detector; kept for later calls and for transcribe."""
    from primitives._media.scan import scan
    from primitives._speech.store import Ears

    path = call.input(name)
    found = scan(path, name, call.check).sound
    ears = Ears(call, path, name, float(found.end) if found else length_s)
    return ears.hear(sound.start_s, sound.end_s).speech


def _clip(name: str, sound: Sound, speech: list[Span] | None, silences: list[Span], most_ranges: int) -> ClipSound:
    from primitives._hearing import figures
    from primitives._hearing.bands import decibels

    cut = figures.clipped(sound)
    notes = []
    if sound.sampled:
        notes.append(
            "long range: loudness from a twelfth of the sound; for speech use transcribe with speech_only=true"
        )
    if sound.peak == 0:
        notes.append("digital silence: every sample is 0")
    kinds = (("speech", speech or []), ("silences", silences), ("clipped", cut))
    notes += [f"{kind}: the {most_ranges} longest of {len(all_)}" for kind, all_ in kinds if len(all_) > most_ranges]
    return ClipSound(
        path=name,
        start_s=round(sound.start_s, 3),
        end_s=round(sound.end_s, 3),
        sample_rate_hz=sound.rate_hz,
        channels=sound.channels,
        loudness_lufs=figures.loudness_lufs(sound),
        true_peak_dbtp=round(float(decibels(sound.true_peak**2)), 1) if sound.true_peak > 0 else None,
        noise_floor_dbfs=figures.noise_floor_dbfs(sound),
        dc_offset=round(sound.dc, 3) if abs(sound.dc) >= 0.005 else None,
        speech_s=round(sum(span.length_s for span in speech), 2) if speech is not None else None,
        speech=_ranges(speech or [], most_ranges),
        silence_s=round(sum(span.length_s for span in silences), 2),
        silences=_ranges(silences, most_ranges),
        clipped=_ranges(cut, most_ranges),
        notes=notes,
    )


def _ranges(spans: list[Span], most: int) -> list[list[float]]:
    """The longest spans, in order of time."""
    longest = sorted(spans, key=lambda span: -span.length_s)[:most]
    return [[round(s.start_s, 2), round(s.end_s, 2)] for s in sorted(longest, key=lambda span: span.start_s)]


def _title(clip: ClipSound) -> str:
    figures = [
        f"{clip.path}  {clip.start_s:g}-{clip.end_s:g} s",
        f"{clip.loudness_lufs} LUFS" if clip.loudness_lufs is not None else "no loudness",
        f"peak {clip.true_peak_dbtp} dBTP" if clip.true_peak_dbtp is not None else "no signal",
        f"floor {clip.noise_floor_dbfs} dBFS" if clip.noise_floor_dbfs is not None else "",
        f"{len(clip.clipped)} clipped" if clip.clipped else "",
    ]
    return "   ".join(part for part in figures if part)


PRIMITIVE = Primitive(
    name="listen",
    title="Listen to sound",
    description=(
        "See a sound: one picture with waveform, mel spectrogram, speech and silence lane, loudness, clipping and a "
        "time axis, of one file, a range, or up to 6 files stacked; with loudness, true peak, noise floor, speech and "
        "silence ranges. Next: a shorter range, or transcribe."
    ),
    request=ListenRequest,
    run=listen,
    read_only=True,
    returns_image=True,
)
