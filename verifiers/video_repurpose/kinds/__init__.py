"""Every check kind that a rubric may name, under the names of the dataset.

What runs behind a name is this project's own: libav for the ffprobe and ffmpeg kinds, `verifiers/_shots.py`
for scenedetect, `verifiers/_loudness.py` for librosa, `verifiers/_ocr.py` for pytesseract.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifiers.video_repurpose.kinds import header, picture, sound, text
from verifiers.video_repurpose.kinds._base import Kind


def _merged(*groups: Mapping[str, Kind[Any]]) -> dict[str, Kind[Any]]:
    kinds: dict[str, Kind[Any]] = {}
    for group in groups:
        twice = kinds.keys() & group.keys()
        if twice:
            raise ValueError(f"check kinds registered twice: {', '.join(sorted(twice))}")
        kinds.update(group)
    return kinds


KINDS = _merged(header.KINDS, picture.KINDS, sound.KINDS, text.KINDS)
