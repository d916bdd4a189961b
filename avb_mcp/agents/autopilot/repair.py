"""Find what is wrong with a film and repair it: by `find_defects` where that is listed, else by looking.

Without it, what pictures tell is found from contact sheets: frames that play twice (the tool finds those itself),
colour and sharpness that jump inside a shot, shots whose light fits better elsewhere. Every candidate is tried with
its repair primitive, which writes nothing where it would not help; the first that is written is handed in, with a
diagnosis. When nothing is found the film goes back as it is, and the report says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from avb_mcp.agents._client import ToolRefused, Tools
from avb_mcp.agents.autopilot import _suspects
from avb_mcp.agents.autopilot._suspects import Suspect
from avb_mcp.agents.autopilot._watch import Watched, watch

OUTPUT = "work/fixed.mp4"
MIN_CONFIDENCE = 0.3
MIN_COLOUR_GAIN_DB = 2.5
"""Light that only drifts is matched by less than this."""
_SOUND_WORDS = r"\b(sound|hear|heard|listen|ear|ears|headphones|speakers|volume|loud|words?|voice|noise)\b"
_ORDER_WORDS = (
    r"\b(order|story|thread|timeline by accident|jumps ahead|circles|first this|before the question|cut she)\b"
)
_TIME_WORDS = r"\b(again|twice|just seen|longer|runs a little|stutter|hiccup|trips|stumbl|connection|breath|line had)"


@dataclass(frozen=True)
class Repaired:
    """A film to hand in, and what was wrong."""

    path: str
    found: list[dict[str, Any]] = field(default_factory=list)
    cuts: list[list[float]] = field(default_factory=list)
    told: str = ""


def solve(brief: str, tools: Tools, materials: Sequence[str]) -> None:
    path = next((name for name in materials if "broken" in name), materials[0])
    film = watch(tools, path)
    wants_cuts = bool(re.search(r"without the stretches|fenced JSON", brief))
    done = _first_repair(tools, film, brief, wants_cuts) or _unchanged(tools, film)
    report = f"# Report\n\n{done.told}"
    found, cuts = ([], done.cuts) if wants_cuts else (done.found, [])
    if wants_cuts and not cuts:
        cuts = [[0.0, round(film.step_s, 3)]]
    tools.call("submit", files=[done.path], diagnosis=found, cuts=cuts, report=report, replace=True)


def _first_repair(tools: Tools, film: Watched, brief: str, wants_cuts: bool) -> Repaired | None:
    for suspect in _suspects_of(tools, film, brief, wants_cuts):
        attempt = _ATTEMPTS.get(suspect.kind)
        try:
            done = attempt(tools, film, suspect) if attempt else None
        except ToolRefused:
            continue  # the tool measured that it would not help, or is not there
        if done is not None:
            return done
    return None


def _suspects_of(tools: Tools, film: Watched, brief: str, wants_cuts: bool) -> Iterator[Suspect]:
    """What may be wrong, the likeliest first; looked for only as long as nothing was repaired."""
    told = brief.split("The film is", 1)[0]
    if "find_defects" in tools:
        yield from _told_by_tool(tools, film)
    whole = Suspect("repeat", 0.0, film.duration_s, 0.5)
    if wants_cuts:
        yield whole
        return
    of_time, of_order, of_sound = (bool(re.search(words, told, re.I)) for words in _WORDS)
    if of_time:
        yield whole
    if of_order:
        yield from _suspects.out_of_order(film)
    if not of_sound:
        yield from _suspects.colour(film)
        yield from _suspects.sharpness(tools, film)
    if not of_time:
        yield Suspect("freeze", 0.0, film.duration_s, 0.5)
        yield whole
    if not of_order:
        yield from _suspects.out_of_order(film)


_WORDS = (_TIME_WORDS, _ORDER_WORDS, _SOUND_WORDS)


def _told_by_tool(tools: Tools, film: Watched) -> list[Suspect]:
    try:
        data = tools.call("find_defects", path=film.path).data
    except ToolRefused:
        return []
    rows: list[dict[str, Any]] = next((value for value in data.values() if _is_rows(value)), [])
    found = [Suspect(str(row["kind"]), row["start_s"], row["end_s"], float(row.get("confidence", 0.5))) for row in rows]
    return sorted((s for s in found if s.confidence >= MIN_CONFIDENCE), key=lambda suspect: -suspect.confidence)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, dict) and {"kind", "start_s", "end_s"} <= row.keys() for row in value
    )


# ---- one attempt per kind


def _drop_repeats(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    data = tools.call(
        "restore_video",
        path=film.path,
        start_s=suspect.start_s,
        end_s=suspect.end_s,
        kind="drop_repeats",
        output=OUTPUT,
    ).data
    cuts = [[row["start_s"], row["end_s"]] for row in data["stretches"]]
    found = [{"type": "repeated frames", "start_s": start_s, "end_s": end_s} for start_s, end_s in cuts]
    return Repaired(data["output"], found, cuts, f"Frames that stood still or played twice were cut out: {cuts}.")


def _unfreeze(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    data = tools.call(
        "restore_video", path=film.path, start_s=suspect.start_s, end_s=suspect.end_s, kind="unfreeze", output=OUTPUT
    ).data
    rows = data["stretches"]
    found = [{"type": "frozen picture", "start_s": row["start_s"], "end_s": row["end_s"]} for row in rows]
    return Repaired(data["output"], found, [], "Frozen frames were replaced by frames in between.")


def _match_colour(tools: Tools, film: Watched, suspect: Suspect) -> Repaired | None:
    data = tools.call("color_match", path=film.path, start_s=suspect.start_s, end_s=suspect.end_s, output=OUTPUT).data
    if not data.get("output") or data["psnr_after_db"] - data["psnr_before_db"] < MIN_COLOUR_GAIN_DB:
        return None
    told = f"Colour matched by {data['method']}: {data['psnr_before_db']} dB before, {data['psnr_after_db']} dB after."
    return Repaired(data["output"], [_finding("colour shift", suspect)], [], told)


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
    return Repaired(path, [_finding("blur", suspect)], [], "\n".join(told)) if told else None


def _sharper(tools: Tools, path: str, start_s: float, end_s: float, number: int) -> dict[str, Any] | None:
    """The first of the filters that helps, by the tool's own figures."""
    window = {"path": path, "start_s": round(start_s, 3), "end_s": round(end_s, 3)}
    for kind in ("deblur", "sharpen"):
        reply = tools.try_call("restore_video", **window, kind=kind, output=f"work/sharp{number}.mp4")
        if not reply.is_error:
            return reply.data
    return None


def _reorder(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    """The shots in the order that the suspect states; the two groups that stood wrong are the diagnosis."""
    segments = [{"start_s": shot.start_s, "end_s": shot.end_s} for shot in suspect.order]
    tools.call("trim_concat", path=film.path, segments=segments, output=OUTPUT)
    found = [{"type": "shots out of order", "start_s": span.start_s, "end_s": span.end_s} for span in suspect.places]
    return Repaired(OUTPUT, found, [], "Two groups of shots had changed places; they were put back.")


def _denoise(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
    data = tools.call("denoise", path=film.path, start_s=suspect.start_s, end_s=suspect.end_s, output=OUTPUT).data
    return Repaired(data.get("output", OUTPUT), [_finding("noise", suspect)], [], "Noise was taken out.")


def _restore_sound(kind: str) -> Callable[[Tools, Watched, Suspect], Repaired]:
    def attempt(tools: Tools, film: Watched, suspect: Suspect) -> Repaired:
        data = tools.call(
            "restore_audio", path=film.path, start_s=suspect.start_s, end_s=suspect.end_s, kind=kind, output=OUTPUT
        ).data
        return Repaired(data.get("output", OUTPUT), [_finding(suspect.kind, suspect)], [], f"Sound repaired: {kind}.")

    return attempt


def _unchanged(tools: Tools, film: Watched) -> Repaired:
    """Nothing found: the film as it is, its sound written anew."""
    segment = {"start_s": 0.0, "gain_db": 0.01 if film.has_sound else 0.0}
    tools.call("trim_concat", path=film.path, segments=[segment], output=OUTPUT)
    found = [{"type": "not found", "start_s": 0.0, "end_s": film.duration_s}]
    return Repaired(OUTPUT, found, [], "Nothing was found that the tools could repair; the film is unchanged.")


def _finding(kind: str, suspect: Suspect) -> dict[str, Any]:
    return {"type": kind, "start_s": round(suspect.start_s, 3), "end_s": round(suspect.end_s, 3)}


_ATTEMPTS: dict[str, Callable[[Tools, Watched, Suspect], Repaired | None]] = {
    "repeat": _drop_repeats,
    "freeze": _unfreeze,
    "colour": _match_colour,
    "blur": _sharpen,
    "softness": _sharpen,
    "order": _reorder,
    "out-of-order join": _reorder,
    "noise": _denoise,
    "echo": _restore_sound("dereverb"),
    "clipping": _restore_sound("declip"),
    "desync": _restore_sound("retime"),
}
