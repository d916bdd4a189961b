"""The kind about burned-in text."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from verifiers.video_repurpose.film import Film
from verifiers.video_repurpose.kinds._base import Finding, Kind, KindParams, decide, ungraded
from verifiers.video_repurpose.measures.text import TextOnScreen


class SubstringMatch(KindParams):
    substrings: tuple[str, ...] = Field(min_length=1)
    case_insensitive: bool = True
    sample_fps: float = Field(default=1.0, gt=0)
    mode: Literal["any", "all"] = "any"


def substring_match(params: SubstringMatch, film: Film) -> Finding:
    """Spaces and line breaks are ignored: readers lose them, and titles break where the design wants."""
    seen = film[TextOnScreen(params.sample_fps)]
    texts = [_comparable(text, params.case_insensitive) for text in seen.texts]
    found = [
        substring
        for substring in params.substrings
        if any(_comparable(substring, params.case_insensitive) in text for text in texts)
    ]
    passed = len(found) == len(params.substrings) if params.mode == "all" else bool(found)
    if not passed and seen.unavailable:
        return ungraded(seen.unavailable)
    named = f" ({', '.join(found[:5])})" if found else ""
    evidence = (
        f"found {len(found)} of {len(params.substrings)} wanted texts{named} "
        f"in {seen.sampled} sampled pictures, {params.mode} wanted"
    )
    return decide(passed, evidence, len(found))


def _comparable(text: str, case_insensitive: bool) -> str:
    joined = "".join(text.split())
    return joined.casefold() if case_insensitive else joined


KINDS: dict[str, Kind[Any]] = {
    "pytesseract_substring_match": Kind(
        SubstringMatch, substring_match, lambda params: (TextOnScreen(params.sample_fps),)
    ),
}
