"""Smart rendering of H.264: whole groups of pictures copied bit for bit, the rest encoded to match.

The stream's parameter sets come first: the films' own, and the encoder's under an id that none of them uses.
Where films give one id different meanings, each group brings its own sets along (`avc3`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from av.container import OutputContainer
from av.packet import Packet
from av.stream import Stream
from av.video.stream import VideoStream

from primitives._edit import Piece
from primitives._edit_plan import (
    Copied,
    CopyRun,
    Encoded,
    Layout,
    Span,
    copied_delay,
    copy_runs,
    encoded_delay,
    merge_spans,
    plan_blocks,
)
from primitives._media import h264
from primitives._media.encode import ENCODER_REORDER, Target, matching_encoder
from primitives._media.film import Film
from primitives._media.packets import PacketIndex, PacketReader, packet_reader
from primitives._media.pictures import pictures
from primitives._media.source import open_media, video_stream
from primitives._media.splicing import Spliced, beyond_level, plan_spliced, spliced_packets, unchanged_apart

MAX_PARAMETER_ID = 31
UNCHANGED_CRF = 4
"""For frames that should look like copies but cannot be spliced in."""
Block = Copied | Spliced | Encoded


@dataclass(frozen=True, eq=False)
class SmartPlan:
    """What is copied, what is encoded, and the parameter sets that both need."""

    blocks: list[Block]
    indexes: dict[int, PacketIndex]
    """The packets of each piece that may be copied."""
    first: PacketIndex
    parameter_id: int
    encoder_sets: h264.ParameterSets
    all_sets: h264.ParameterSets
    """Those of the films and of the encoder; of clashing ones the first."""
    in_band: bool
    """Some clash, so that each group brings its own."""
    reorders: bool
    delay: int

    @property
    def frames_copied(self) -> int:
        """Frames that go over bit for bit."""
        return sum(len(block.span.frames) for block in self.blocks if not isinstance(block, Encoded))

    @property
    def encodes_unchanged(self) -> bool:
        """Whether frames of a film are encoded although they stay as they are."""
        return any(span.straight for block in self.blocks if isinstance(block, Encoded) for span in block.spans)

    @property
    def beyond_level(self) -> bool:
        """Whether some of them are because storing them without loss takes more than the level allows."""
        unchanged = [block.spans[0].piece for block in self.blocks if isinstance(block, Encoded) and block.unchanged]
        return any(beyond_level(self.indexes[piece]) for piece in unchanged if piece in self.indexes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the caller may wonder about."""
        spliced = [block for block in self.blocks if isinstance(block, Spliced)]
        count, size = sum(block.pcm_frames for block in spliced), sum(block.pcm_bytes for block in spliced)
        if not count:
            return ()
        return (f"{count} unchanged frames beside a cut or change are stored without loss ({size / 1e6:.1f} MB)",)


def plan_smart(
    layout: Layout,
    films: Sequence[Film],
    indexes: dict[int, PacketIndex],
    first: PacketIndex,
    target: Target,
    check: Callable[[], None],
) -> SmartPlan:
    """Decide block by block. `indexes` holds the pieces whose films may be copied, `first` the film to match."""
    spans = merge_spans(layout.spans, [film.path for film in films])
    blocks: list[Block] = [*plan_blocks(spans, [_runs(span, indexes.get(span.piece)) for span in spans])]
    if target.quality == "best":
        blocks = _without_loss(blocks, films, indexes, check)
    films_sets, in_band = first.sets, False
    for index in indexes.values():
        in_band = in_band or index.sets.clashes_with(films_sets)
        films_sets = films_sets.with_sets(index.sets)
    used = films_sets.sps.keys() | films_sets.pps.keys()
    parameter_id = next(number for number in range(MAX_PARAMETER_ID, -1, -1) if number not in used)
    reorders = bool(np.any(np.diff(first.shown) < 0))
    encoder = matching_encoder(target, first.facts, parameter_id, reorders)
    encoder.open()
    encoder_sets = h264.parameter_sets(list(h264.split(encoder.extradata or b"", 0)))
    delay = encoded_delay(layout.ticks, ENCODER_REORDER if reorders else 0)
    for block in blocks:
        if isinstance(block, Copied):
            delay = max(delay, copied_delay(indexes[block.span.piece].shown, block.run, block.span.ticks))
        elif isinstance(block, Spliced):
            delay = max(delay, block.delay)
    sets = films_sets.with_sets(encoder_sets) if any(isinstance(block, Encoded) for block in blocks) else films_sets
    return SmartPlan(blocks, indexes, first, parameter_id, encoder_sets, sets, in_band, reorders, delay)


def _without_loss(
    blocks: list[Block], films: Sequence[Film], indexes: dict[int, PacketIndex], check: Callable[[], None]
) -> list[Block]:
    """Unchanged frames that cannot be copied as they stand are spliced in where that can be done."""
    made: list[Block] = []
    for block in blocks:
        for part in unchanged_apart(block) if isinstance(block, Encoded) else [block]:
            piece = part.spans[0].piece if isinstance(part, Encoded) else None
            if isinstance(part, Encoded) and part.unchanged and piece in indexes:
                film, index = films[piece], indexes[piece]
                with packet_reader(film.path, film.name, index, film.timeline) as reader:
                    made.append(plan_spliced(part.spans[0], index, reader, check) or part)
            else:
                made.append(part)
    return made


def _runs(span: Span, index: PacketIndex | None) -> list[CopyRun]:
    if index is None or not span.straight:
        return []
    starts = np.flatnonzero(index.idr & (index.shown >= 0))
    return copy_runs(index.shown, starts, int(span.frames[0]), int(span.frames[-1]) + 1)


def add_stream(container: OutputContainer, plan: SmartPlan, film: Film, target: Target) -> VideoStream:
    """The written file's video stream, described like the first film's."""
    with open_media(film.path, film.name) as source:
        template = video_stream(source, film.name)
        assert template is not None
        stream = container.add_stream_from_template(template)
    stream.time_base = target.time_base
    stream.codec_context.extradata = h264.build_avcc(plan.all_sets)
    if target.container in {"mp4", "mov"}:
        stream.codec_context.codec_tag = "avc3" if plan.in_band and target.container == "mp4" else "avc1"
    if target.picture.rotation_deg:
        stream.set_display_rotation(target.picture.rotation_deg)
    return stream


def packets(
    plan: SmartPlan,
    layout: Layout,
    pieces: Sequence[Piece],
    films: Sequence[Film],
    target: Target,
    check: Callable[[], None],
) -> Iterator[Packet[Stream]]:
    """The packets of the written film, in decoding order, with timestamps."""
    ticks = layout.ticks
    ends = np.append(ticks[1:], layout.end_tick)
    number = 0
    with ExitStack() as stack:
        readers: dict[object, PacketReader] = {}
        for block in plan.blocks:
            if isinstance(block, Encoded):
                made = _encoded(block, plan, pieces, films, target, check)
            else:
                film, index = films[block.span.piece], plan.indexes[block.span.piece]
                if film.path not in readers:
                    opened = packet_reader(film.path, film.name, index, film.timeline)
                    readers[film.path] = stack.enter_context(opened)
                sets = index.sets.in_band() if plan.in_band else b""
                if isinstance(block, Copied):
                    made = _copied(block, index, readers[film.path], sets)
                else:
                    made = spliced_packets(block, film, readers[film.path], sets, check)
            for tick, is_key, payload in made:
                check()
                packet = Packet(payload)
                packet.time_base, packet.is_keyframe = target.time_base, is_key
                packet.pts, packet.dts = tick, int(ticks[number]) - plan.delay
                packet.duration = int(ends[number] - ticks[number])
                yield packet
                number += 1


def _copied(block: Copied, index: PacketIndex, reader: PacketReader, sets: bytes) -> Iterator[tuple[int, bool, bytes]]:
    run = block.run
    for number, payload in enumerate(reader.run(run.first_packet, run.last_packet), run.first_packet):
        is_idr = bool(index.idr[number])
        tick = int(block.span.ticks[index.shown[number] - run.first_frame])
        yield tick, is_idr, sets + payload if is_idr else payload


def _encoded(
    block: Encoded,
    plan: SmartPlan,
    pieces: Sequence[Piece],
    films: Sequence[Film],
    target: Target,
    check: Callable[[], None],
) -> Iterator[tuple[int, bool, bytes]]:
    crf = UNCHANGED_CRF if block.unchanged else None
    encoder = matching_encoder(target, plan.first.facts, plan.parameter_id, plan.reorders, crf)
    sets = plan.encoder_sets.in_band() if plan.in_band else b""
    ticks: list[int] = []
    for tick, frame in pictures(block.spans, pieces, films, target.picture, check):
        frame.pts, frame.time_base = len(ticks), Fraction(encoder.time_base)
        ticks.append(tick)
        yield from _taken(encoder.encode(frame), ticks, sets)
    yield from _taken(encoder.encode(None), ticks, sets)


def _taken(made: list[Packet[Stream]], ticks: list[int], sets: bytes) -> Iterator[tuple[int, bool, bytes]]:
    for packet in made:
        assert packet.pts is not None
        nals = [nal for nal in h264.split(bytes(packet), 0) if h264.nal_type(nal) not in (h264.SPS, h264.PPS)]
        payload = h264.length_prefixed(nals)
        yield ticks[packet.pts], packet.is_keyframe, sets + payload if packet.is_keyframe else payload
