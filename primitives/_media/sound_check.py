"""Whether sound that was written back is the old sound but for its new packets: by packets, and by ear at their ends.

Packets are compared bit for bit. Decoded samples alone cannot tell: an AAC decoder makes up noise (where the encoder
left only its level) from a chain of random numbers that goes on from all it decoded before, so that the very same
packets come out a little different behind any change, and even in one file when it is played from another place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np

from primitives._media.sound_packets import wanted_packets
from primitives._media.sound_source import SoundSource, open_sound
from primitives._media.source import audio_stream, open_media

MEETS_DB = 18.0
"""How far below the sound the difference must lie where new packets meet old ones."""
_NEAR_SILENCE = 10 ** (-75 / 10)


def flaw(source: SoundSource, part: Path, packets: range, samples: range, check: Callable[[], None]) -> str | None:
    """What is wrong with a file that has new sound packets, or new PCM samples; None where all is well."""
    written = open_sound(part, source.name, check)
    if (written.first, written.last) != (source.first, source.last):
        return "the container moved the sound"
    old, new = _payloads(source.path, source.name, check), _payloads(part, source.name, check)
    size = source.bytes_per_sample
    if size:
        changed = range((samples.start - source.first) * size, (samples.stop - source.first) * size)
        return None if _same_bytes(old, new, changed) else "the container changed samples outside the range"
    if any(a != b for number, (a, b) in enumerate(zip_longest(old, new)) if number not in packets):
        return "the container changed packets outside the range"
    if not _meets(source, written, packets, check):
        return "new and old packets did not meet well"
    return None


def _same_bytes(old: Iterator[bytes], new: Iterator[bytes], but: range) -> bool:
    """Whether two rows of bytes are the same outside a range, however they are cut into packets."""
    at, ours, theirs = 0, b"", b""
    while True:
        ours, theirs = ours or next(old, b""), theirs or next(new, b"")
        count = min(len(ours), len(theirs))
        if not count:
            return not ours and not theirs
        begin, end = max(0, min(count, but.start - at)), max(0, min(count, but.stop - at))
        if ours[:begin] != theirs[:begin] or ours[max(begin, end) : count] != theirs[max(begin, end) : count]:
            return False
        at, ours, theirs = at + count, ours[count:], theirs[count:]


def _payloads(path: Path, name: str, check: Callable[[], None]) -> Iterator[bytes]:
    with open_media(path, name) as container:
        stream = audio_stream(container)
        for packet in wanted_packets(container, [stream.index]) if stream is not None else ():
            check()
            yield bytes(packet)


def _meets(source: SoundSource, written: SoundSource, packets: range, check: Callable[[], None]) -> bool:
    """Whether both sound alike where new packets meet old ones."""
    size = source.frame_size

    def error(begin: int, count: int) -> float:
        old, new = (one.read(begin, begin + count, check).astype(np.float64) for one in (source, written))
        return float(np.mean((new - old) ** 2) / (np.mean(old**2) + _NEAR_SILENCE))

    allowed = 10 ** (-MEETS_DB / 10)
    head, tail = int(source.places[packets.start]), int(source.places[packets.stop])
    made_up = error(tail + 2 * size, 4 * size)  # by what copied packets further on differ: noise of the decoder's own
    return error(head - size, 2 * size) <= allowed and error(tail, 2 * size) <= max(allowed, 4 * made_up)
