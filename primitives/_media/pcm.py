"""Pictures coded without any loss: each macroblock carries its samples as they are (I_PCM), which all profiles know.

They are large (1.5 bytes a pixel), and let the coded pictures after them be copied: those find in them, sample for
sample, what they lean on.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primitives._media.slices import IDR_SLICE, PictureSet, Sequence, escaped

_I_SLICES, _I_PCM_CODE = 7, "000011010"
_PICTURE_ID = 77
"""Tells an IDR picture from one next to it; encoders count 0, 1, 0, 1..."""
_START_RANGE = 510
_MB_TYPE_START = ((20, -15), (2, 54), (3, 74))
"""How the contexts of mb_type begin in I slices (table 9-12)."""
# Of table 9-44 the column for the range that the coder has at the start of every macroblock here, and table 9-45.
_LPS_RANGE = (
    "240 227 216 205 195 185 175 166 158 150 142 135 128 122 116 110 104 99 94 89 85 80 76 72 69 65 62 59 56 53 50 48 "
    "45 43 41 39 37 35 33 31 30 28 27 25 24 23 22 21 20 19 18 17 16 15 14 14 13 12 12 11 11 10 9 2"
)
_AFTER_LPS = (
    "0 0 1 2 2 4 4 5 6 7 8 9 9 11 11 12 13 13 15 15 16 16 18 18 19 19 21 21 22 22 23 24 24 25 26 26 27 27 28 29 29 30 "
    "30 30 31 32 32 33 33 33 34 34 35 35 35 36 36 36 37 37 37 38 38 63"
)


@dataclass(frozen=True)
class Head:
    """The numbers of a picture to write."""

    idr: bool
    reference: bool
    set_id: int
    frame_num: int
    poc_lsb: int
    unmarked: tuple[int, ...]
    """Distances of pictures that cease to be references."""


def pcm_picture(planes: list[NDArray[np.uint8]], head: Head, sequence: Sequence, pps: PictureSet) -> bytes:
    """A NAL unit that holds the planes (whole macroblocks, 4:2:0, 8 bits)."""
    start = _slice_header(head, sequence, pps)
    blocks = _macroblocks(planes, sequence)
    body = _with_cabac(start, blocks, sequence, pps) if pps.cabac else _with_cavlc(start, blocks)
    return escaped(bytes([(head.reference << 5) | (IDR_SLICE if head.idr else 1)]) + body)


def _slice_header(head: Head, sequence: Sequence, pps: PictureSet) -> str:
    bits = _ue(0) + _ue(_I_SLICES) + _ue(head.set_id) + _u(head.frame_num, sequence.frame_num_bits)
    bits += _ue(_PICTURE_ID) if head.idr else ""
    if sequence.poc_type == 0:
        bits += _u(head.poc_lsb, sequence.poc_bits) + (_ue(0) if pps.poc_present else "")
    bits += _ue(0) if pps.redundant_count else ""
    if head.idr:
        bits += "00"
    elif head.reference:
        gone = "".join(_ue(1) + _ue(distance - 1) for distance in head.unmarked)
        bits += "1" + gone + _ue(0) if gone else "0"
    return bits + _ue(0) + (_ue(1) if pps.deblocking_control else "")


def _macroblocks(planes: list[NDArray[np.uint8]], sequence: Sequence) -> list[bytes]:
    rows, columns = sequence.height_mbs, sequence.width_mbs
    parts = []
    for plane, size in zip(planes, (16, 8, 8), strict=True):
        tiles = plane.reshape(rows, size, columns, size).swapaxes(1, 2)
        parts.append(tiles.reshape(rows * columns, size * size))
    samples = np.ascontiguousarray(np.concatenate(parts, axis=1))
    return [row.tobytes() for row in samples]


def _with_cavlc(start: str, blocks: list[bytes]) -> bytes:
    before, between = _bytes(start + _I_PCM_CODE, "0"), _bytes(_I_PCM_CODE, "0")
    return before + between.join(blocks) + b"\x80"


def _with_cabac(start: str, blocks: list[bytes], sequence: Sequence, pps: PictureSet) -> bytes:
    contexts = [_first_state(m, n, pps.first_qp) for m, n in _MB_TYPE_START]
    made = [_bytes(start, "1")]
    for number, block in enumerate(blocks):
        context = (number % sequence.width_mbs > 0) + (number >= sequence.width_mbs)
        code, contexts[context] = _is_pcm(contexts[context], first=number == 0)
        made += [code, block]
    end = _Coder()
    end.ends(True)
    return b"".join(made) + _bytes(end.bits, "0")


def _first_state(m: int, n: int, qp: int) -> tuple[int, int]:
    """State and more probable value of a context (9.3.1.1)."""
    start = min(max(((m * min(max(qp, 0), 51)) >> 4) + n, 1), 126)
    return (63 - start, 0) if start <= 63 else (start - 64, 1)


@functools.cache
def _is_pcm(context: tuple[int, int], first: bool) -> tuple[bytes, tuple[int, int]]:
    """Arithmetic code of `the slice goes on; the macroblock is not of 4x4 prediction; it is I_PCM`."""
    coder = _Coder()
    if not first:
        coder.ends(False)
    after = coder.one(context)
    coder.ends(True)
    return _bytes(coder.bits, "0"), after


class _Coder:
    """The arithmetic encoder from a fresh start (9.3.4)."""

    def __init__(self) -> None:
        self.bits = ""
        self._low, self._range, self._first, self._outstanding = 0, _START_RANGE, True, 0

    def one(self, context: tuple[int, int]) -> tuple[int, int]:
        """Code a 1 while the range is still that of the start; the context after it."""
        state, likely = context
        lps = int(_LPS_RANGE.split()[state])
        self._range -= lps
        if likely:
            self._renorm()
            return min(state + 1, 62), 1
        self._low, self._range = self._low + self._range, lps
        self._renorm()
        return int(_AFTER_LPS.split()[state]), int(state == 0)

    def ends(self, yes: bool) -> None:
        """Code whether arithmetic coding ends here; if so, write what is left."""
        self._range -= 2
        if yes:
            self._low, self._range = self._low + self._range, 2
        self._renorm()
        if yes:
            self._put(self._low >> 9 & 1)
            self.bits += _u(self._low >> 7 & 3 | 1, 2)

    def _renorm(self) -> None:
        while self._range < 256:
            if self._low < 256:
                self._put(0)
            elif self._low >= 512:
                self._low -= 512
                self._put(1)
            else:
                self._low -= 256
                self._outstanding += 1
            self._range, self._low = self._range << 1, self._low << 1

    def _put(self, bit: int) -> None:
        if not self._first:
            self.bits += str(bit)
        self._first = False
        self.bits += str(1 - bit) * self._outstanding
        self._outstanding = 0


def _u(value: int, count: int) -> str:
    return f"{value:0{count}b}" if count else ""


def _ue(value: int) -> str:
    code = f"{value + 1:b}"
    return "0" * (len(code) - 1) + code


def _bytes(bits: str, fill: str) -> bytes:
    bits += fill * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big") if bits else b""
