"""What a repair task says to the agent: a client's words about the symptom, then what to deliver and in which shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from primitives._task import Deliverable, Kind, MediaSpec

BROKEN, FIXED, REPORT = "materials/broken.mp4", "fixed.mp4", "report.md"

_OPENINGS = (
    "Hello, the attached film came back to us and I cannot send it out like this.",
    "Hi there, could you have a look at this one before it goes out?",
    "Good morning. This is the copy we have of a film that we need again soon.",
    "We are about to publish this, and I am not happy with it yet.",
)
_CLOSINGS = (
    "I cannot tell you more than that; please find it and put it right. Leave everything else as it is.",
    "You have better eyes and ears than I have. Please repair it and touch nothing that is fine as it is.",
    "Please set it right without changing the rest, and tell me what you found and where.",
)
_SHARED = f"""\
Deliver two files in `outputs/`:

- `{FIXED}`: the repaired film, in the format of `{BROKEN}` (container, codecs, size, frame rate, audio rate)"""
_DIAGNOSIS = """\

  ## Diagnosis
  - type: <what is wrong, in a word or two>
  - start: <HH:MM:SS.mmm>
  - end: <HH:MM:SS.mmm>
"""
_KEEPS_LENGTH = f"""\
{_SHARED}
  and of the same length, to within 0.15 s.
- `{REPORT}`: what was wrong and what you did, with a block of this form. Times are those of `{BROKEN}`.
{_DIAGNOSIS}"""
_CUTS = f"""\
{_SHARED}.
  It must be `{BROKEN}` without the stretches that you report, picture and sound, and nothing else.
- `{REPORT}`: what was wrong and what you did, with a fenced JSON list of the stretches that you took out, each
  `[start_s, end_s]` in seconds of the broken film. Both ends count when they are right to within 0.20 s. Where
  something is there twice, the second time is the one to take out. The shape, with numbers that mean nothing:

  ```json
  [[1.0, 2.5], [4.0, 4.75]]
  ```
"""
_RELEASED = f"""\
{_SHARED}
  and of the length that the film had before it was damaged.
- `{REPORT}`: what was wrong and what you did, with a block of this form for each thing that is wrong. Times are those
  of `{BROKEN}`.
{_DIAGNOSIS}
  One thing that shows in several separate places is one block with `- window_1_start:`, `- window_1_end:`,
  `- window_2_start:` and so on. Short interruptions close together are one place. Where something is there twice, the
  second time is the place. Where all of the film is affected, the place is all of it.
"""


def brief(rng: np.random.Generator, symptoms: Sequence[str], scheme: str, *, cuts: bool) -> str:
    """The whole of brief.md."""
    said = " ".join(str(rng.choice(part)) for part in (_OPENINGS, symptoms, _CLOSINGS))
    asked = _RELEASED if scheme == "v3" else _CUTS if cuts else _KEEPS_LENGTH
    return f"{said}\n\nThe film is `{BROKEN}`.\n\n{asked}"


def deliverables(scheme: str, duration_s: float, *, cuts: bool) -> list[Deliverable]:
    """What task.json asks for. A length is stated only where it is the broken film's own."""
    like = MediaSpec(like=BROKEN)
    if scheme == "h1" and not cuts:
        like = MediaSpec(like=BROKEN, duration_s=round(duration_s, 3), duration_tolerance_s=0.15)
    report = Deliverable(name=REPORT, kind=Kind.REPORT, cuts=cuts, diagnosis=not cuts)
    return [Deliverable(name=FIXED, kind=Kind.VIDEO, spec=like), report]
