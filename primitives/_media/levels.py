"""How large one coded picture may be: the decoder's buffer that an H.264 level promises (table A-1).

A stored picture (`pcm`) that does not fit into it cannot be decoded in time by any player that goes by the level. The
other bounds of a level, on the mean rate and on the least compression, are those of a whole stream; encoders without a
rate limit pass over them as well, and so do the few stored pictures of a splice.
"""

from __future__ import annotations

_BUFFER_KBIT = {
    9: 350,
    10: 175,
    11: 500,
    12: 1000,
    13: 2000,
    20: 2000,
    21: 4000,
    22: 4000,
    30: 10_000,
    31: 14_000,
    32: 20_000,
    40: 25_000,
    41: 62_500,
    42: 62_500,
    50: 135_000,
    51: 240_000,
    52: 240_000,
    60: 240_000,
    61: 480_000,
    62: 800_000,
}
_FIRST_HIGH_PROFILE = 100
_PCM_HEAD_BYTES = 3
"""What a stored macroblock takes besides its samples, at most."""


def picture_fits(profile_idc: int, level_idc: int, stored_bytes: int) -> bool:
    """Whether a stored 8-bit 4:2:0 picture fits into the level's buffer; a level that is not known holds anything."""
    room_kbit = _BUFFER_KBIT.get(level_idc)
    if room_kbit is None:
        return True
    room_bytes = room_kbit * (1250 if profile_idc >= _FIRST_HIGH_PROFILE else 1000) // 8
    return stored_bytes + stored_bytes // 384 * _PCM_HEAD_BYTES <= room_bytes
