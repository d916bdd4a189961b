"""Every check kind that a rubric may name, under the names of the dataset.

What runs behind a name is this project's own: libav for the ffprobe and ffmpeg kinds, `verifiers/_shots.py`
for scenedetect, `verifiers/_loudness.py` for librosa, `verifiers/_ocr.py` for pytesseract.

Where the contract's words and the benchmark's own code part, the words win:
- a freeze that lasts to the end counts (ffmpeg's log never closes it, so a still film went unnoticed);
- of a black or frozen run that reaches into the excluded end, the part before the cutoff counts;
- a film without a cut is one shot (there it had none, and failed);
- brightness is measured (there the figure was looked for where ffmpeg does not print it);
- silence includes what the audio stream leaves out of the film: a late start, a gap, an early end;
- loudness is libav's ebur128 meter; loudnorm's own reading of short clips is up to 0.5 LU lower;
- text is matched without regard to spaces and line breaks, within one picture;
- what cannot run (an unknown kind, unusable params, a missing reader) is ungraded, not failed.
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
