"""The words for what a camera does."""

from __future__ import annotations

from typing import Literal

Movement = Literal["static", "pan", "tilt", "roll", "zoom", "truck", "boom", "push", "handheld", "unclear"]
