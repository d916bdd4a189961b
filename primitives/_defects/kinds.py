"""The names of what can be found; nothing heavy, for it is part of a tool's schema."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal[
    "freeze",
    "repeat",
    "black",
    "colour",
    "blur",
    "softness",
    "noise",
    "echo",
    "clipping",
    "level",
    "dropout",
    "desync",
    "out_of_order",
]
KINDS: tuple[str, ...] = get_args(Kind)
PICTURE_KINDS = frozenset({"freeze", "repeat", "black", "colour", "blur", "softness", "desync", "out_of_order"})
"""Kinds that need the picture."""
SOUND_KINDS = frozenset({"noise", "echo", "clipping", "level", "dropout", "desync"})
"""Kinds that need the sound; `repeat` and `out_of_order` gain from it."""
