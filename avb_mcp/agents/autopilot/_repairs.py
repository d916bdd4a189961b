"""One attempt per kind of defect, each by its repair tool, which writes nothing where it would not help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from avb_mcp.agents._client import ToolRefused, Tools
from avb_mcp.agents._delivery import Span
from avb_mcp.agents.autopilot._findings import CERTAIN
from avb_mcp.agents.autopilot._suspects import Suspect
from avb_mcp.agents.autopilot._watch import Watched

OUTPUT, SECOND_OUTPUT = "work/fixed.mp4", "work/fixed2.mp4"
MIN_COLOUR_GAIN_DB = 2.5
"""Light that only drifts is matched by less than this."""
ONE_PLACE_S = 4.0
"""Interruptions that are no further apart are one place."""
WHOLE_SHARE = 0.9
"""A window that covers this much of a film means all of it."""


@dataclass(frozen=True)
class Repaired:
    """A film to hand in, and what was wrong."""

    path: str
    found: list[dict[str, Any]] = field(default_factory=list)
    cuts: list[list[float]] = field(default_factory=list)
    told: str = ""


Attempt = Callable[[Tools, Watched, Suspect], Repaired | None]


def finding(kind: str, span: Suspect | Span) -> dict[str, Any]:
    return {"type": kind, "start_s": round(span.start_s, 3), "end_s": round(span.end_s, 3)}


def output_of(film: Watched) -> str:
    """No tool writes over the film that it reads."""
    return SECOND_OUTPUT if film.path == OUTPUT else OUTPUT


def _window(film: Watched, suspect: Suspect) -> dict[str, Any]:
    return {
        "path": film.path,
        "start_s": round(suspect.start_s, 3),
        "end_s": round(suspect.end_s, 3),
        "output": output_of(film),
    }


# ---- time


def repeats(tools: Tools, film: Watched, suspect: Suspect) -> list[Span]:
    """Frames inside a window that stand still or play twice, to the frame."""
    window = _window(film, suspect) | {"output": SECOND_OUTPUT}
    reply = tools.try_call("restore_video", **window, kind="drop_repeats")
    return [] if reply.is_error else [Span(row["start_s"], row["end_s"]) for row in reply.data["stretches"]]


def cut_out(tools: Tools, film: Watched, spans: Sequence[Span], kind: str) -> Repaired:
    """The film without these stretches."""
    cuts = [[round(span.start_s, 3), round(span.end_s, 3)] for span in spans]
    output = output_of(film)
    tools.call("trim_concat", path=film.path, drop=cuts, output=output)
    found = [finding(kind, place) for place in merged(spans, ONE_PLACE_S)]
    return Repaired(output, found, cuts, f"Cut out ({kind}): {cuts}.")


def merged(spans: Sequence[Span], apart_s: float = 0.0) -> list[Span]:
    """Stretches in order of time, those that overlap or are no further apart than that as one."""
    places: list[Span] = []
    for span in sorted(spans, key=lambda one: one.start_s):
        if places and span.start_s - places[-1].end_s <= apart_s:
            places[-1] = Span(places[-1].start_s, max(span.end_s, places[-1].end_s))
        else:
            places.append(span)
    return places


def without_stops(tools: Tools, film: Watched, rows: Sequence[Suspect]) -> Repaired:
    """Several interruptions, cut out together."""
    spans = [span for row in rows for span in repeats(tools, film, row) or [Span(row.start_s, row.end_s)]]
    return cut_out(tools, film, merged(spans), "repeated frames")


def _drop_repeats(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    data = tools.call("restore_video", **_window(film, suspect), kind="drop_repeats").data
    spans = [Span(row["start_s"], row["end_s"]) for row in data["stretches"]]
    cuts = [[span.start_s, span.end_s] for span in spans]
    found = [finding("repeated frames", place) for place in merged(spans, ONE_PLACE_S)]
    return Repaired(data["output"], found, cuts, f"Frames that stood still or played twice were cut out: {cuts}.")


def _unfreeze(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    data = tools.call("restore_video", **_window(film, suspect), kind="unfreeze").data
    found = [finding("frozen picture", Span(row["start_s"], row["end_s"])) for row in data["stretches"]]
    return Repaired(data["output"], found, [], "Frozen frames were replaced by frames in between.")


def _still(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    """Frames that stand still: put in, or in place of others, as the finding tells."""
    told = suspect.next[1].get("kind") if suspect.next else "unfreeze"
    if told != "drop_repeats":
        return _unfreeze(tools, film, suspect)
    return (_twice if suspect.confidence >= CERTAIN else _drop_repeats)(tools, film, suspect)


def _twice(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    """What plays twice; where the tool is not sure of the frames, the window itself is cut out."""
    try:
        return _drop_repeats(tools, film, suspect)
    except ToolRefused:
        if suspect.next is None:
            raise
        return cut_out(tools, film, [Span(suspect.start_s, suspect.end_s)], "repeated frames")


def _blank(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    return cut_out(tools, film, [Span(suspect.start_s, suspect.end_s)], "black frames")


# ---- order


def _reorder(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    """The shots in the order that the suspect states; the two groups that stood wrong are the diagnosis."""
    segments = [{"start_s": shot.start_s, "end_s": shot.end_s} for shot in suspect.order]
    output = output_of(film)
    tools.call("trim_concat", path=film.path, segments=segments, output=output)
    found = [finding("shots out of order", span) for span in suspect.places]
    return Repaired(output, found, [], "Two groups of shots had changed places; they were put back.")


def _move(tools: Tools, film: Watched, suspect: Suspect) -> Repaired | None:
    """A stretch goes to where it continues what is there; it and what it had pushed away are the diagnosis."""
    to_s = suspect.evidence.get("belongs_at_s")
    if to_s is None:
        return _trade(tools, film, suspect)
    if suspect.start_s < to_s < suspect.end_s:
        return None
    here, there = Span(suspect.start_s, suspect.end_s), Span(suspect.end_s, to_s)
    if to_s <= suspect.start_s:
        here, there = Span(to_s, suspect.start_s), Span(suspect.start_s, suspect.end_s)
    order = [Span(0.0, here.start_s), there, here, Span(there.end_s, film.duration_s)]
    step_s = 0.5 / film.fps
    kept = [span for span in order if span.length_s > step_s]
    return _reorder(tools, film, Suspect("order", here.start_s, there.end_s, 1.0, kept, [here, there]))


def _trade(tools: Tools, film: Watched, suspect: Suspect) -> Repaired | None:
    """Two stretches go into each other's place."""
    start_s, end_s = (suspect.evidence.get(f"trades_places_{word}_s") for word in ("with", "until"))
    if start_s is None or end_s is None:
        return None
    pair = sorted((Span(suspect.start_s, suspect.end_s), Span(start_s, end_s)), key=lambda span: span.start_s)
    here, there = pair
    between = Span(here.end_s, there.start_s)
    order = [Span(0.0, here.start_s), there, between, here, Span(there.end_s, film.duration_s)]
    kept = [span for span in order if span.length_s > 0.5 / film.fps]
    return _reorder(tools, film, Suspect("order", here.start_s, there.end_s, 1.0, kept, pair))


# ---- picture


def _match_colour(tools: Tools, film: Watched, suspect: Suspect) -> Repaired | None:
    data = tools.call("color_match", **_window(film, suspect)).data
    if not data.get("output") or data["psnr_after_db"] - data["psnr_before_db"] < MIN_COLOUR_GAIN_DB:
        return None
    told = f"Colour matched by {data['method']}: {data['psnr_before_db']} dB before, {data['psnr_after_db']} dB after."
    return Repaired(data["output"], [finding("colour shift", suspect)], [], told)


def _sharpen(tools: Tools, film: Watched, suspect: Suspect) -> Repaired | None:
    """Shot by shot: a filter is learned from the sharp part of the same shot."""
    path, told = film.path, []
    for number, shot in enumerate(film.shots):
        start_s, end_s = max(shot.start_s, suspect.start_s), min(shot.end_s, suspect.end_s)
        if end_s - start_s < 2 / film.fps:
            continue
        better = _sharper(tools, path, start_s, end_s, number)
        if better is not None:
            path = better["output"]
            told.append(f"{start_s:.2f} to {end_s:.2f} s: {better['method']}, {better['before']} to {better['after']}.")
    return Repaired(path, [finding("blur", suspect)], [], "\n".join(told)) if told else None


def _sharper(tools: Tools, path: str, start_s: float, end_s: float, number: int) -> dict[str, Any] | None:
    """The first of the filters that helps, by the tool's own figures."""
    window = {"path": path, "start_s": round(start_s, 3), "end_s": round(end_s, 3)}
    for kind in ("deblur", "sharpen"):
        reply = tools.try_call("restore_video", **window, kind=kind, output=f"work/sharp{number}.mp4")
        if not reply.is_error:
            return reply.data
    return None


# ---- sound


def _denoise(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    data = tools.call("denoise", **_window(film, suspect)).data
    return Repaired(data["output"], [finding("noise", suspect)], [], f"Noise was taken out: {data['method']}.")


def _restore_sound(kind: str, named: str) -> Attempt:
    def attempt(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
        data = tools.call("restore_audio", **_window(film, suspect), kind=kind).data
        told = f"Sound repaired ({kind}): {data['method']}, {data['figures']}."
        return Repaired(data["output"], [finding(named, suspect)], [], told)

    return attempt


def _declip(tools: Tools, film: Watched, _: Suspect) -> Repaired:
    """Sound at its ceiling; the tool looks for it by itself."""
    data = tools.call("restore_audio", path=film.path, kind="declip", output=output_of(film)).data
    told = f"Sound repaired (declip): {data['method']}, {data['figures']}."
    return Repaired(data["output"], [finding("clipping", Span(data["start_s"], data["end_s"]))], [], told)


def _retime(tools: Tools, film: Watched, suspect: Suspect) -> Repaired | None:
    """Sound out of step, for a while or all along."""
    window = _window(film, suspect)
    if suspect.end_s - suspect.start_s >= WHOLE_SHARE * film.duration_s:
        window = {"path": film.path, "output": output_of(film)}
    reply = tools.try_call("restore_audio", **window, kind="retime")
    if reply.is_error and (late_s := suspect.evidence.get("sound_late_s")):
        # What the sound alone does not tell the one tool, the other has seen, to a hundredth of a second.
        reply = tools.try_call("restore_audio", **window, kind="retime", amount=late_s)
    if reply.is_error:
        return None
    data = reply.data
    told = f"Sound put back into step: {data['method']}, {data['figures']}."
    return Repaired(data["output"], [finding("sound out of sync", suspect)], [], told)


ATTEMPTS: dict[str, Attempt] = {
    "freeze": _still,
    "repeat": _twice,
    "black": _blank,
    "order": _reorder,
    "out_of_order": _move,
    "colour": _match_colour,
    "blur": _sharpen,
    "softness": _sharpen,
    "noise": _denoise,
    "echo": _restore_sound("dereverb", "room echo"),
    "clipping": _restore_sound("declip", "clipping"),
    "clipping somewhere": _declip,
    "level": _restore_sound("gain", "jump of level"),
    "desync": _retime,
}
"""By the kinds of `find_defects`, and two of our own. Nothing brings back sound that dropped out."""
