"""The MCP conformance suite's server scenarios over HTTP, for both spec revisions in use. Opt-in: `make test-mcp`.

The suite expects its own fixture tools, prompts and resources. What we therefore fail is listed with reasons,
check by check, in `expected-failures-<revision>.yml`; anything else that fails, and anything listed that
passes, fails the run.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conformance.outside_tools import CONFORMANCE, run_tool, served_over_http
from tests.media import make_film

pytestmark = pytest.mark.conformance

NEED_NO_FIXTURES = {
    "2025-11-25": {
        "server-initialize",
        "ping",
        "tools-list",
        "server-sse-multiple-streams",
        "server-session-lifecycle",
        "dns-rebinding-protection",
    },
    "2026-07-28": {
        "tools-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-unsupported-methods",
    },
}


@pytest.mark.parametrize("revision", NEED_NO_FIXTURES)
def test_every_scenario_passes_or_is_expected_to_fail_for_a_stated_reason(revision: str, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    make_film(workspace / "materials" / "film.mp4")
    expected = Path(__file__).with_name(f"expected-failures-{revision}.yml")

    with served_over_http(workspace) as url:
        options = ["--requirements", revision, "--expected-failures", str(expected), "-o", str(tmp_path / "results")]
        run = run_tool(CONFORMANCE, ["server", "--url", url, *options], tmp_path)

    _, _, summary = run.stdout.partition("=== SUMMARY ===")
    assert run.returncode == 0, summary[-4000:] + run.stderr[-1000:]
    assert set(re.findall(r"^✓ ([\w-]+): [1-9]\d* passed", summary, re.MULTILINE)) >= NEED_NO_FIXTURES[revision]
