"""`avb-mcp export harbor`: a suite's tasks as Harbor tasks.

    <out>/
      README.md  typed.mcp.json  typed.md        how to run them; what the typed arm adds
      tasks/<task>/
        task.toml  instruction.md
        environment/  Dockerfile, this package as a wheel, workspace/ as an agent gets it
        tests/        test.sh, answers/: copied in for the verifier alone
        solution/     solve.sh, answers/: copied in for the oracle alone

The verifier runs in an environment of its own, into which nothing but outputs/ comes from the agent's. A verdict
without a score writes no reward, so that trouble of ours is never a zero.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit

from avb_mcp.experiments.arms import ArmSpec, parse_arm
from avb_mcp.experiments.staging import tools_sentence
from avb_mcp.harbor.wheel import write_wheel
from avb_mcp.tasks.spec import BRIEF_FILE, Entry, Suite, answers_of, load_suite, load_task, workspace_of
from harness_configs._base import SERVER_NAME
from primitives._base import UserError

SCHEMA_VERSION = "1.4"
WORKSPACE = "/workspace"
PROGRAMS = "/opt/avb-mcp/bin"
"""Where an image has this package; not on the PATH, so that the shell arm is not given our tools."""
FACTS_FILE = "task-facts.json"
"""Beside a reward: which task of which suite it is for."""
VERDICT_FILE = "verdict.json"
SCORE_TIMEOUT_S = 1800.0
BUILD_TIMEOUT_S = 1800.0
DEFAULT_TIME_S = 1800.0
CPUS, MEMORY_MB, STORAGE_MB = 2, 8192, 20480
MCP_FILE, SENTENCE_FILE = "typed.mcp.json", "typed.md"

DOCKERFILE = """\
FROM python:3.12-slim-bookworm
RUN apt-get update \\
 && apt-get install -y --no-install-recommends bash ca-certificates curl ffmpeg git procps \\
 && rm -rf /var/lib/apt/lists/*
COPY {wheel} /tmp/
RUN python -m venv /opt/avb-mcp \\
 && /opt/avb-mcp/bin/pip install --no-cache-dir "/tmp/{wheel}[verify,denoise]" \\
 && rm /tmp/{wheel}
COPY workspace/ /workspace/
RUN mkdir -p /workspace/work /workspace/outputs
WORKDIR /workspace
"""
TEST = """\
#!/bin/bash
# One number to reward.json; the whole verdict and which task it is beside it.
cp /tests/{facts} /logs/verifier/{facts}
{programs}/avb-mcp score {workspace} --answers /tests/answers \\
  --out /logs/verifier/{verdict} --reward /logs/verifier/reward.json
exit 0
"""
SOLVE = """\
#!/bin/bash
# The oracle: reads the answers and hands in what they say.
exec {programs}/python -m avb_mcp.experiments.policy oracle --workspace {workspace} --brief "" \\
  --answers /solution/answers
"""
README = """\
# {suite} as Harbor tasks

    harbor run -p tasks -a claude-code -m anthropic/claude-opus-4-7    # the shell arm
    harbor run -p tasks -a claude-code -m anthropic/claude-opus-4-7 \\
      --mcp-config typed.mcp.json --extra-instruction-path typed.md    # the typed arm
    avb-mcp import harbor-job jobs/<job> --out runs/<name>             # its trials into a ledger
    avb-mcp report runs/<name>

Without containers, for the oracle and nop: `-e avb_mcp.harbor.local:LocalEnvironment`.
"""


def export_harbor(suite_folder: Path, out: Path, tasks: Sequence[str] = ()) -> list[Path]:
    """Write the tasks, all or those asked for; their folders."""
    suite = load_suite(suite_folder)
    unknown = sorted(set(tasks) - {entry.id for entry in suite.tasks})
    if unknown:
        known = ", ".join(entry.id for entry in suite.tasks)
        raise UserError(f"{suite_folder} has no task {unknown[0]}. Its tasks are {known}.")
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out} is not empty. Give --out a new folder.")
    if out.resolve().is_relative_to(suite_folder.resolve()):
        raise UserError(f"{out} lies inside the suite. Give --out a folder elsewhere.")
    (out / "tasks").mkdir(parents=True, exist_ok=True)
    wheel = write_wheel(out)
    chosen = [entry for entry in suite.tasks if not tasks or entry.id in tasks]
    folders = [_write_task(suite_folder, suite, entry, out / "tasks" / entry.id, wheel) for entry in chosen]
    wheel.unlink()
    arm = parse_arm("typed")
    (out / MCP_FILE).write_text(json.dumps(mcp_config(arm), indent=2) + "\n", encoding="utf-8")
    (out / SENTENCE_FILE).write_text(tools_sentence(arm) + "\n", encoding="utf-8")
    (out / "README.md").write_text(README.format(suite=suite.name), encoding="utf-8")
    return folders


def mcp_config(arm: ArmSpec) -> dict[str, Any]:
    """Our server as Harbor's `--mcp-config` takes it."""
    arguments = ["serve", "--workspace", WORKSPACE, *arm.server_arguments]
    return {"mcpServers": {SERVER_NAME: {"command": f"{PROGRAMS}/avb-mcp", "args": arguments}}}


def _write_task(suite_folder: Path, suite: Suite, entry: Entry, folder: Path, wheel: Path) -> Path:
    source, answers = workspace_of(suite_folder, entry.id), answers_of(suite_folder, entry.id)
    environment, tests, solution = (folder / name for name in ("environment", "tests", "solution"))
    ignored = shutil.ignore_patterns("outputs", "output", "work", ".avb")
    shutil.copytree(source, environment / "workspace", ignore=ignored)
    _share(wheel, environment / wheel.name)
    (environment / "Dockerfile").write_text(DOCKERFILE.format(wheel=wheel.name), encoding="utf-8")
    shutil.copytree(answers, tests / "answers")
    shutil.copytree(tests / "answers", solution / "answers", copy_function=_share)
    words = {"programs": PROGRAMS, "workspace": WORKSPACE, "facts": FACTS_FILE, "verdict": VERDICT_FILE}
    for path, text in ((tests / "test.sh", TEST), (solution / "solve.sh", SOLVE)):
        path.write_text(text.format(**words), encoding="utf-8")
        path.chmod(0o755)
    facts = facts_of(suite, entry)
    (tests / FACTS_FILE).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    limits = load_task(source).limits
    time_s = DEFAULT_TIME_S if limits is None or limits.time_s is None else limits.time_s
    (folder / "task.toml").write_text(tomlkit.dumps(task_document(facts, time_s)), encoding="utf-8")
    shutil.copyfile(source / BRIEF_FILE, folder / "instruction.md")
    return folder


def _share(source: str | Path, target: str | Path) -> None:
    """The same file under another name, or a copy where the file system has no such thing."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def facts_of(suite: Suite, entry: Entry) -> dict[str, Any]:
    """What tells a task's cells from any other's."""
    return {
        "suite": suite.name,
        "task_id": entry.id,
        "task_digest": entry.digest,
        "family": entry.family.value,
        "sources": list(entry.sources),
    }


def task_document(facts: dict[str, Any], time_s: float) -> dict[str, Any]:
    """The whole of task.toml. Pure."""
    organisation = "".join(c if c.isalnum() or c in "-_" else "-" for c in facts["suite"]).strip("-_") or "suite"
    return {
        "schema_version": SCHEMA_VERSION,
        "artifacts": [f"{WORKSPACE}/outputs", {"source": f"{WORKSPACE}/.avb", "exclude": ["cache"]}],
        "task": {
            "name": f"{organisation}/{facts['task_id']}",
            "description": f"A {facts['family']} task for video agents",
            "keywords": ["video", facts["family"]],
        },
        "metadata": {"avb": facts},
        "agent": {"timeout_sec": time_s},
        "verifier": {"timeout_sec": SCORE_TIMEOUT_S, "environment_mode": "separate"},
        "environment": {
            "build_timeout_sec": BUILD_TIMEOUT_S,
            "workdir": WORKSPACE,
            "cpus": CPUS,
            "memory_mb": MEMORY_MB,
            "storage_mb": STORAGE_MB,
        },
    }
