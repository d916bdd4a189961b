"""An honest re-encode: what a careful export (x264 crf 18, AAC 128k) leaves of a file.

Only used when anchors are measured, never when a submission is scored.
"""

from __future__ import annotations

from pathlib import Path

import av
import av.container
import av.stream

from verifiers._media import open_media

CRF, PRESET, AUDIO_BIT_RATE_BPS = "18", "veryfast", 128_000
_ONE_THREAD = "1"  # the same bits on every machine


def honest_reencode(source: Path, target: Path) -> None:
    """Write `source` to the mp4 file `target`, picture and sound each encoded once more."""
    with open_media(source) as reader, av.open(str(target), "w", format="mp4") as writer:
        encoders: dict[int, av.VideoStream | av.AudioStream] = {}
        if reader.streams.video:
            encoders[reader.streams.video[0].index] = _video_encoder(reader.streams.video[0], writer)
        if reader.streams.audio:
            encoders[reader.streams.audio[0].index] = _audio_encoder(reader.streams.audio[0], writer)
        for packet in reader.demux([reader.streams[index] for index in encoders]):
            encoder = encoders[packet.stream.index]
            for frame in packet.decode():
                if isinstance(frame, av.VideoFrame) and isinstance(encoder, av.VideoStream):
                    frame.pict_type = 0  # let the encoder choose, rather than keep the source's types
                    writer.mux(encoder.encode(frame))
                elif isinstance(frame, av.AudioFrame) and isinstance(encoder, av.AudioStream):
                    writer.mux(encoder.encode(frame))
        for encoder in encoders.values():
            writer.mux(encoder.encode(None))


def _video_encoder(source: av.VideoStream, writer: av.container.OutputContainer) -> av.VideoStream:
    options = {"crf": CRF, "preset": PRESET, "threads": _ONE_THREAD}
    encoder = writer.add_stream("libx264", rate=source.average_rate, options=options)
    encoder.width, encoder.height, encoder.pix_fmt = source.width, source.height, "yuv420p"
    return encoder


def _audio_encoder(source: av.AudioStream, writer: av.container.OutputContainer) -> av.AudioStream:
    encoder = writer.add_stream("aac", rate=source.rate, layout=source.layout.name)
    encoder.bit_rate = AUDIO_BIT_RATE_BPS * max(1, source.channels // 2)  # 128k is a rate for stereo
    return encoder
