"""Every harness there is. Adding one is a folder and one line here."""

from __future__ import annotations

from collections.abc import Iterable

from harness_configs._base import Harness
from harness_configs.claude_code.adapter import HARNESS as CLAUDE_CODE
from harness_configs.codex_cli.adapter import HARNESS as CODEX_CLI
from harness_configs.gemini_cli.adapter import HARNESS as GEMINI_CLI
from harness_configs.openclaw.adapter import HARNESS as OPENCLAW
from harness_configs.opencode.adapter import HARNESS as OPENCODE


def by_name(harnesses: Iterable[Harness]) -> dict[str, Harness]:
    """The harnesses under their names, in order; a name given twice is a mistake in the list."""
    named: dict[str, Harness] = {}
    for harness in harnesses:
        if harness.name in named:
            raise ValueError(f"harness {harness.name!r} is listed twice")
        named[harness.name] = harness
    return named


HARNESSES = by_name((CLAUDE_CODE, CODEX_CLI, OPENCODE, GEMINI_CLI, OPENCLAW))


class UnknownHarnessError(ValueError):
    """A name that no adapter answers to."""


def harness_named(name: str) -> Harness:
    if name not in HARNESSES:
        raise UnknownHarnessError(f"harness {name!r} is unknown. Known: {', '.join(HARNESSES)}.")
    return HARNESSES[name]
