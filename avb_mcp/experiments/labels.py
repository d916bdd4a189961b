"""Why a cell failed, by rule: each label names its evidence, and where it can, the paper's reason.

The paper's four: long-context loss, temporal reasoning, modality misalignment, hallucinated grounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from avb_mcp.experiments.checks import trace_lines
from avb_mcp.experiments.record import CellRecord, Label, Outcome
from avb_mcp.trace import TRACE_FILE
from harness_configs._base import ReadBack, Step

LONG_CONTEXT, TEMPORAL = "long-context loss", "temporal reasoning"
MODALITY, HALLUCINATED = "modality misalignment", "hallucinated grounding"
FAILED_BELOW = 0.5
"""A cell with a score below this has failed (ours)."""
LOOP_LENGTH = 3
_CLAIMS = ("rendered", "fixed", "saved", "created", "exported", "submitted", "complete", "done")
_AUDIO_TOOLS = frozenset({"listen", "transcribe", "denoise", "restore_audio"})
_SEEING_TOOLS = frozenset(
    {"frame_grid", "scene_cuts", "color_match", "find_defects", "restore_video", "read_text", "camera_motion"}
)
_SEEING_WORDS = ("ffmpeg", "cv2", "PIL", "imageio", ".png", ".jpg", "view_image", "read")


@dataclass(frozen=True)
class Facts:
    """What the rules look at."""

    record: CellRecord
    steps: tuple[Step, ...]
    called: dict[str, int]
    images_seen: int
    errors: list[tuple[str, str]]
    """Tool and sentence of each failed call of ours, in order."""

    @property
    def reasons(self) -> str:
        return "; ".join(self.record.verdict.get("reasons", []))

    @property
    def components(self) -> dict[str, float]:
        components: dict[str, float] = self.record.verdict.get("components", {})
        return components


Rule = Callable[[Facts], Iterator[Label]]


def labels_of(record: CellRecord, workspace: Path, read: ReadBack) -> tuple[Label, ...]:
    """The labels of a failed cell; none for one that did well or was not the agent's to fail."""
    if record.score is None or record.score >= FAILED_BELOW:
        return ()
    calls = list(trace_lines(workspace / ".avb" / TRACE_FILE))
    errors = [(str(c.get("tool")), str(c.get("error"))) for c in calls if c.get("status") == "error"]
    called: dict[str, int] = {}
    for call in calls:
        called[str(call.get("tool"))] = called.get(str(call.get("tool")), 0) + 1
    images = sum(bool(call.get("image_bytes")) for call in calls) + sum(step.images for step in read.steps)
    facts = Facts(record, read.steps, called, images, errors)
    return tuple(label for rule in RULES for label in rule(facts))


def _budget_exhausted(facts: Facts) -> Iterator[Label]:
    stopped = facts.record.outcome in (Outcome.TIMEOUT, Outcome.LIMIT) or facts.record.reason == "the turns were up"
    if stopped and not _media(facts.record):
        evidence = f"{facts.record.reason}; outputs/ held {sorted(facts.record.deliverables) or 'nothing'}"
        yield Label(name="budget exhausted before render", paper_reason=LONG_CONTEXT, evidence=evidence)


def _nothing_delivered(facts: Facts) -> Iterator[Label]:
    if facts.record.deliverables:
        return
    claim = facts.record.final_message.lower()
    words = [word for word in _CLAIMS if word in claim]
    if words:
        evidence = f"the last message says {words[0]!r}, outputs/ is empty"
        yield Label(name="claimed but not rendered", paper_reason=HALLUCINATED, evidence=evidence)
    else:
        yield Label(name="nothing delivered", evidence="outputs/ is empty")


def _invalid_deliverable(facts: Facts) -> Iterator[Label]:
    if facts.record.deliverables and facts.record.verdict.get("status") in ("invalid", "missing"):
        yield Label(name="invalid deliverable", evidence=facts.reasons or "the verifier refused it")


def _wrong_window(facts: Facts) -> Iterator[Label]:
    if not facts.record.deliverables:
        return
    found = {name: value for name, value in facts.components.items() if "local" in name or name == "matched"}
    for name, value in found.items():
        if value < FAILED_BELOW:
            evidence = f"{name} is {value:.2f}"
            yield Label(name="wrong window", paper_reason=TEMPORAL, evidence=evidence)


def _wrong_order(facts: Facts) -> Iterator[Label]:
    ordered = facts.record.cell.family == "sequencing" and facts.record.deliverables
    if ordered and facts.components.get("adj_score", 1.0) < FAILED_BELOW:
        evidence = f"adj_score is {facts.components['adj_score']:.2f}"
        yield Label(name="wrong order", paper_reason=TEMPORAL, evidence=evidence)


def _no_pixel_seen(facts: Facts) -> Iterator[Label]:
    if facts.images_seen == 0 and not facts.called.keys() & _SEEING_TOOLS and not _shell_looked(facts.steps):
        yield Label(
            name="no pixel ever seen", paper_reason=HALLUCINATED, evidence="no call returned or measured a picture"
        )


def _modality_untouched(facts: Facts) -> Iterator[Label]:
    """A task whose defect is in the sound, and nothing that hears was called."""
    verifier = facts.record.verdict.get("details", {})
    kind = str(verifier.get("kind", ""))
    audio = kind in ("background_noise", "room_echo", "clipping", "filler_words", "wrong_sentences")
    if audio and facts.called and not facts.called.keys() & _AUDIO_TOOLS:
        evidence = f"the defect is {kind}, the calls were {', '.join(sorted(facts.called))}"
        yield Label(name="modality untouched", paper_reason=MODALITY, evidence=evidence)


def _error_loop(facts: Facts) -> Iterator[Label]:
    run: list[tuple[str, str]] = []
    for error in facts.errors:
        run = [*run, error] if run and run[-1] == error else [error]
        if len(run) == LOOP_LENGTH:
            evidence = f"{error[0]} failed {LOOP_LENGTH} times in the same way: {error[1][:200]}"
            yield Label(name="tool error loop", evidence=evidence)
            return


def _shell_looked(steps: tuple[Step, ...]) -> bool:
    return any(word in step.arguments for step in steps if step.kind == "tool_call" for word in _SEEING_WORDS)


def _media(record: CellRecord) -> list[str]:
    return [name for name in record.deliverables if name.endswith((".mp4", ".mov", ".mkv", ".wav"))]


RULES: tuple[Rule, ...] = (
    _budget_exhausted,
    _nothing_delivered,
    _invalid_deliverable,
    _wrong_window,
    _wrong_order,
    _modality_untouched,
    _no_pixel_seen,
    _error_loop,
)
