"""Write an edit: copy what need not be touched, encode the rest to match, keep picture and sound together.

`render` is what primitives call. A film whose timeline stays as it is keeps its sound bit for bit; otherwise
the sound is cut to the sample and encoded once over the whole edit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias

import av
import av.error
from av.container import OutputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from primitives._base import Call, UserError
from primitives._edit import OutputSpec, Piece, RenderReport
from primitives._edit_plan import Layout, keeps_times, lay_out
from primitives._media import smart
from primitives._media.encode import Target, choose_target, set_picture, video_options
from primitives._media.film import Film, SoundFacts, copyable, open_film, sound_facts
from primitives._media.packets import PacketIndex
from primitives._media.pictures import pictures
from primitives._media.sound_write import add_copied_sound, add_encoded_sound, sound_unchanged
from primitives._writing import room_needed

SMART_CONTAINERS = frozenset({"mp4", "mov", "matroska"})
AnyPacket: TypeAlias = "Packet[Any]"


def render(pieces: Sequence[Piece], output: Path, spec: OutputSpec, call: Call) -> RenderReport:
    """Write the pieces one after another to `output`; nothing is left behind when it fails or is cancelled."""
    names = {piece.path: piece.name for piece in pieces}
    opened = {path: open_film(path, name, call.check) for path, name in names.items()}
    films = [opened[piece.path] for piece in pieces]
    target = choose_target(films, list(_sounds(pieces, films)), spec, output.suffix)
    indexes, reasons = _copyable(pieces, films, spec, target, call.check)
    first = indexes.get(0)
    if first is not None:
        target = replace(target, time_base=films[0].timeline.time_base)
    layout = lay_out(pieces, [film.timeline for film in films], target.grid_fps, target.time_base)
    plan = smart.plan_smart(layout, films, indexes, first, target, call.check) if first is not None else None
    job = _Job(pieces, films, target, layout, call)
    name = call.workspace.relative(output)
    with _write_errors(name, target), call.workspace.atomic(output) as part:
        sound = job.write(part, plan)
    copied = plan.frames_copied if plan else 0
    total = len(layout.ticks)
    if plan and copied < total:
        reasons = [*reasons, *_edge_reasons(pieces, plan)]
    return RenderReport(
        frames=total,
        frames_copied=copied,
        frames_encoded=total - copied,
        mode="smart" if copied else "encoded",
        reasons=tuple(dict.fromkeys(reasons)),
        sound=sound,
        placed=layout.placed,
        duration=layout.placed[-1].start + layout.placed[-1].length,
        notes=(*_notes(opened.values()), *(plan.notes if plan else ())),
    )


def _sounds(pieces: Sequence[Piece], films: Sequence[Film]) -> Iterator[SoundFacts]:
    """What is heard: the films' own sound first, then what plays instead."""
    heard = [film.sound for film in films]
    heard += [sound_facts(p.sound.instead, p.sound.instead_name) for p in pieces if p.sound.instead is not None]
    yield from (sound for sound in heard if sound is not None)


def _copyable(
    pieces: Sequence[Piece], films: Sequence[Film], spec: OutputSpec, target: Target, check: Callable[[], None]
) -> tuple[dict[int, PacketIndex], list[str]]:
    """The pieces whose packets may be copied into the target; and why others may not."""
    if not spec.keeps_picture:
        return {}, ["the output was asked to differ from the input, so that every frame is encoded"]
    if target.picture.codec != films[0].picture.codec:
        codecs = f"{films[0].picture.codec} is not written into {target.container}, {target.picture.codec} is"
        return {}, [f"{codecs}, so that every frame is encoded"]
    if target.container not in SMART_CONTAINERS and films[0].picture.codec == "h264":
        return {}, [f"copying is done into mp4, mov and mkv only, not {target.container}"]
    if not target.picture.same_samples(films[0].picture):
        return {}, [f"{films[0].picture.pixel_format} cannot be encoded as it is, so that every frame is encoded anew"]
    found = {film.path: copyable(film, check) for film in set(films)}
    indexes, reasons = {}, [reason for reason in found.values() if isinstance(reason, str)]
    for number, (piece, film) in enumerate(zip(pieces, films, strict=True)):
        index = found[film.path]
        if isinstance(index, str):
            continue
        if not film.picture.same_samples(films[0].picture):
            reasons.append(f"{film.name} differs from {films[0].name} in size, pixels, colour or rotation")
        elif not keeps_times(piece, film.timeline, target.grid_fps) and piece.speed == 1:
            reasons.append(f"{film.name} has another frame rate than {films[0].name}")
        else:
            indexes[number] = index
    return indexes, reasons


def _edge_reasons(pieces: Sequence[Piece], plan: smart.SmartPlan) -> Iterator[str]:
    if plan.encodes_unchanged:
        yield "groups of pictures that a cut splits are encoded up to the next IDR picture"
    if plan.beyond_level:
        yield "stored without loss their pictures would be larger than the film's H.264 level allows"
    if any(piece.change is not None for piece in pieces):
        yield "changed frames are encoded"
    if any(piece.speed != 1 for piece in pieces):
        yield "frames at another speed are encoded"
    if any(piece.join.kind != "cut" for piece in pieces):
        yield "frames of a cross-fade or dip are encoded"


def _notes(films: Iterable[Film]) -> Iterator[str]:
    for film in films:
        yield from (f"{film.name}: {note}" for note in film.scan.notes)
        if film.other_streams:
            yield f"{film.name}: {film.other_streams} other streams (subtitles, data, more sound) were left out"


class _Job:
    """One file being written."""

    def __init__(
        self, pieces: Sequence[Piece], films: Sequence[Film], target: Target, layout: Layout, call: Call
    ) -> None:
        self.pieces, self.films, self.target, self.layout, self.call = pieces, films, target, layout, call

    def write(self, path: Path, plan: smart.SmartPlan | None) -> Literal["copied", "encoded", "none"]:
        """Write everything; how the sound was made."""
        how: Literal["copied", "encoded", "none"] = "none"
        with _opened(path, self.target.container) as container:
            video = self._smart(container, plan) if plan else self._plain(container)
            audio: Iterator[AnyPacket] = iter(())
            if sound_unchanged(self.pieces, self.films, self.target):
                how, audio = "copied", add_copied_sound(container, self.films[0], self.call.check)
            elif self.target.sound is not None:
                how, audio = "encoded", self._encoded_sound(container, self.target.sound)
            self._mux(container, video, audio)
        return how

    def _smart(self, container: OutputContainer, plan: smart.SmartPlan) -> Iterator[AnyPacket]:
        stream = smart.add_stream(container, plan, self.films[0], self.target)

        def packets() -> Iterator[AnyPacket]:
            for packet in smart.packets(plan, self.layout, self.pieces, self.films, self.target, self.call.check):
                packet.stream = stream
                yield packet

        return packets()

    def _plain(self, container: OutputContainer) -> Iterator[AnyPacket]:
        target = self.target
        os.environ.setdefault("SVT_LOG", "1")  # the AV1 encoder otherwise tells its life on stderr
        stream = container.add_stream(target.encoder, rate=target.frame_rate, options=video_options(target))
        assert isinstance(stream, VideoStream)
        set_picture(stream.codec_context, target)
        stream.codec_context.time_base = target.time_base
        if target.encoder == "libx265" and target.container in {"mp4", "mov"}:
            stream.codec_context.codec_tag = "hvc1"
        if target.picture.rotation_deg:
            stream.set_display_rotation(target.picture.rotation_deg)

        def packets() -> Iterator[AnyPacket]:
            for tick, frame in pictures(self.layout.spans, self.pieces, self.films, target.picture, self.call.check):
                frame.pts, frame.time_base = tick, target.time_base
                yield from stream.encode(frame)
            yield from stream.encode(None)

        return packets()

    def _encoded_sound(self, container: OutputContainer, sound: SoundFacts) -> Iterator[AnyPacket]:
        return add_encoded_sound(container, self.pieces, self.films, self.layout, sound, self.call.check)

    def _mux(self, container: OutputContainer, video: Iterator[AnyPacket], audio: Iterator[AnyPacket]) -> None:
        """Interleave by decoding time, and tell how far it is."""
        total = len(self.layout.ticks)
        heard = next(audio, None)
        for done, packet in enumerate(video, 1):
            while heard is not None and _time(heard) <= _time(packet):
                container.mux(heard)
                heard = next(audio, None)
            container.mux(packet)
            self.call.progress(done, total, f"frame {done} of {total}")
        while heard is not None:
            self.call.check()
            container.mux(heard)
            heard = next(audio, None)


@contextmanager
def _opened(path: Path, container_format: str) -> Iterator[OutputContainer]:
    """The file to write. When writing stops early, it is emptied before it is closed.

    Closing finishes an MP4 in a second pass over all that was written, which nobody waits for after a cancel.
    """
    options = {"movflags": "+faststart"} if container_format in {"mp4", "mov"} else {}
    container = av.open(str(path), "w", format=container_format, container_options=options)
    try:
        yield container
    except BaseException:
        if path.exists():
            os.truncate(path, 0)
        with suppress(av.error.FFmpegError):
            container.close()
        raise
    container.close()


def _time(packet: AnyPacket) -> Fraction:
    return (packet.dts or 0) * packet.time_base


@contextmanager
def _write_errors(name: str, target: Target) -> Iterator[None]:
    """What goes wrong while writing, as sentences."""
    try:
        with room_needed(name):
            yield
    except OSError:
        raise
    except (av.error.FFmpegError, ValueError) as error:
        codecs = target.picture.codec + (f" and {target.sound.codec}" if target.sound else "")
        why = error.strerror if isinstance(error, av.error.FFmpegError) else str(error)
        raise UserError(
            f"{name} could not be written as {codecs} in {target.container} ({why}). Use h264 and aac in .mp4."
        ) from error
