"""Signs: does the weight fit what the criterion says?

A positive weight is earned when the item passes, a negative one is deducted when it *fails*. So a violation
("contains a watermark") fits neither: it would be rewarded, or punished when absent. And a plain wish ("has a
clear arc") under a negative weight earns nothing when met, which is seldom meant; a penalty is safest worded
as a guard ("no watermark", "never exceeds 60 s"). Wording decides, so this errs towards silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifiers.video_repurpose.lints._base import Finding, error, warning
from verifiers.video_repurpose.schema import LlmItem, RubricItem

_GUARD = re.compile(
    r"\b(no|not|none|never|nothing|nobody|neither|without|free (?:of|from)|avoid(?:s|ed|ing)?|absent|absence|"
    r"exclud(?:e|es|ed|ing)|at most|at least|no more than|exceed(?:s|ing)?|within|between|must|only|fewer|"
    r"less than|under|limit(?:s|ed)?|cannot|(?:does|do|is|are|can)(?: ?not|n't))\b",
    re.IGNORECASE,
)
_TECHNICAL_FAULT = re.compile(
    r"\b(watermark\w*|unintelligible|illegible|out[- ]of[- ]sync|off[- ]brief|glitch\w*|visual artifacts?|"
    r"compression artifacts?|stutter\w*|audio clipping|clipped audio|unwatchable|corrupted)\b",
    re.IGNORECASE,
)
"""Faults of the deliverable that are no part of any story."""
_ANY_FAULT = re.compile(
    _TECHNICAL_FAULT.pattern + r"|\b(violat\w*|incoherent|wrong|incorrect\w*|fabricat\w*|hallucinat\w*|"
    r"invent(?:s|ed)|distort(?:s|ed|ion)|jarring|abrupt\w*|missing|lacks?|fails? to|omits?|spoil(?:s|ers?)|"
    r"corrupt|hard to follow|confusing|too (?:long|short|loud|quiet|dark|bright))\b",
    re.IGNORECASE,
)
"""Words that a story may contain as well, so they only count under a negative weight."""


def polarity(items: tuple[RubricItem, ...]) -> Iterator[Finding]:
    for item in items:
        text = item.criterion or (item.prompt if isinstance(item, LlmItem) else "")
        if not text.strip() or item.weight == 0 or _GUARD.search(text):
            continue
        fault = (_TECHNICAL_FAULT if item.weight > 0 else _ANY_FAULT).search(text)
        if fault:
            yield _on_fault(item, fault.group())
        elif item.weight < 0:
            yield warning(
                "polarity",
                item.id,
                f"weight {item.weight:g} stands on something desirable: meeting it earns nothing, failing it "
                "costs; make the weight positive, or word it as what must not happen",
            )


def _on_fault(item: RubricItem, word: str) -> Finding:
    effect = "it is rewarded" if item.weight > 0 else "its absence is punished (penalties count failed items)"
    return error(
        "polarity",
        item.id,
        f"the criterion describes a fault ({word!r}) and weighs {item.weight:g}: {effect}",
    )
