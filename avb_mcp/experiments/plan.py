"""plan.toml: which tasks, agents and arms, how often, within which limits.

    name = "typed against shell"
    suites = ["suite"]
    arms = ["shell", "typed", "typed-only"]
    repetitions = 3

    [[agents]]
    harness = "claude_code"
    model = "claude-opus-4-7"
    keys = ["ANTHROPIC_API_KEY"]

Paths are relative to the plan. A cell is one (task, agent, arm, repetition); the plan says which cells are
expected, whatever has been run.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from avb_mcp.experiments.arms import ArmSpec, parse_arms
from avb_mcp.tasks.spec import Entry, load_suite
from harness_configs.registry import HARNESSES
from primitives._base import UserError

COMMAND = "command"
"""A program of the user's as an agent."""
POLICIES = ("oracle", "nop", "vandal", "autopilot")
"""Agents without a model; they speak to the server themselves."""
SCRIPTED = "scripted:"
"""A model of this form is played by the loopback model, so that a real harness runs without a key."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class Network(StrEnum):
    OPEN = "open"
    """The agent reaches what the machine reaches."""
    LOOPBACK = "loopback"
    """The agent reaches the model and nothing else."""
    NONE = "none"


class Isolation(StrEnum):
    AUTO = "auto"
    """bubblewrap where it works, none where it does not; the record says which."""
    BUBBLEWRAP = "bubblewrap"
    NONE = "none"


class AgentSpec(_Model):
    """Who does the task."""

    harness: str
    """A harness (claude_code, codex_cli, gemini_cli, opencode, openclaw), `command`, or an agent without a model
    (oracle, nop, vandal, autopilot)."""
    model: str = ""
    """The model's name as the harness takes it, or scripted:<policy>."""
    command: tuple[str, ...] = ()
    """For `command`: the program and its arguments; `{prompt}` and `{workspace}` are replaced."""
    sees: tuple[Path, ...] = ()
    """For `command`: files and folders that the program needs besides the system's, such as its own installation."""
    base_url: str = ""
    """A model server in place of the provider's own: scheme, host and port."""
    keys: tuple[str, ...] = ()
    """Names of environment variables that are passed on. Values are never recorded."""

    @property
    def is_policy(self) -> bool:
        return self.harness in POLICIES

    @property
    def is_scripted(self) -> bool:
        return self.model.startswith(SCRIPTED)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        known = (*HARNESSES, COMMAND, *POLICIES)
        if self.harness not in known:
            raise ValueError(f"there is no harness {self.harness!r}; known are {', '.join(known)}")
        if (self.harness == COMMAND) != bool(self.command):
            raise ValueError(f"harness {self.harness!r}: `command` belongs to the harness {COMMAND!r}, and there alone")
        if self.sees and self.harness != COMMAND:
            raise ValueError(f"harness {self.harness!r}: `sees` belongs to the harness {COMMAND!r}, and there alone")
        if self.harness in HARNESSES and not self.model:
            raise ValueError(f"harness {self.harness!r} needs a model, or {SCRIPTED}<policy>")
        if self.is_policy and self.model:
            raise ValueError(f"{self.harness!r} is an agent without a model; leave `model` out")
        return self


class Limits(_Model):
    """Of one cell; the defaults are the paper's, the last three ours."""

    time_s: float = Field(default=1800.0, gt=0)
    turns: int = Field(default=200, gt=0)
    memory_gb: float = Field(default=8.0, gt=0)
    cpu_s: float = Field(default=7200.0, gt=0)
    processes: int = Field(default=512, gt=0)
    disk_gb: float = Field(default=20.0, gt=0)


class Budget(_Model):
    """Of the whole run: when one is spent, no further cell is started."""

    time_s: float | None = Field(default=None, gt=0)
    usd: float | None = Field(default=None, gt=0)
    turns: int | None = Field(default=None, gt=0)


class Retries(_Model):
    """How often a cell is tried again, by what went wrong."""

    rate_limit: int = Field(default=5, ge=0)
    crash: int = Field(default=1, ge=0)
    timeout: int = Field(default=0, ge=0)
    infra: int = Field(default=2, ge=0)
    backoff_s: float = Field(default=20.0, ge=0)
    """Before the first repetition; doubled for each further one."""


class Plan(_Model):
    """The whole of plan.toml."""

    name: str = Field(min_length=1)
    suites: tuple[Path, ...] = Field(min_length=1)
    tasks: tuple[str, ...] = ("*",)
    """Task ids to take; `*` stands for anything."""
    agents: tuple[AgentSpec, ...] = Field(min_length=1)
    arms: tuple[ArmSpec, ...]
    repetitions: int = Field(default=3, ge=1)
    limits: Limits = Limits()
    budget: Budget = Budget()
    retries: Retries = Retries()
    isolation: Isolation = Isolation.AUTO
    network: Network = Network.OPEN
    workers: int = Field(default=0, ge=0)
    """Cells at a time; 0: one for each two cores."""
    prices: Path | None = None
    """A list of prices in place of the shipped one."""
    engine: Literal["local", "dask"] = "local"

    @field_validator("arms", mode="before")
    @classmethod
    def _parse_arms(cls, value: object) -> object:
        if isinstance(value, list) and all(isinstance(item, str) for item in value) and value:
            try:
                return parse_arms(value)
            except UserError as error:
                raise ValueError(str(error)) from error
        if isinstance(value, tuple) or (isinstance(value, list) and value):
            return value  # from a saved plan
        raise ValueError('give a list of arms, such as ["shell", "typed"]')

    @model_validator(mode="after")
    def _agents_once(self) -> Self:
        names = [agent_name(agent) for agent in self.agents]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"the agent {twice[0]!r} is listed twice")
        return self


class Cell(_Model):
    """One task under one agent in one arm, once."""

    suite: str
    task_id: str
    task_digest: str
    family: str
    sources: tuple[str, ...]
    agent: AgentSpec
    arm: ArmSpec
    repetition: int

    @property
    def id(self) -> str:
        """Readable, a plain file name, and the same for the same cell of the same task content."""
        who = [self.task_id, agent_name(self.agent), self.arm.name, f"r{self.repetition}"]
        readable = "--".join(re.sub(r"[^A-Za-z0-9._-]+", "_", part) for part in who)
        identity = json.dumps([self.suite, self.task_digest, *who])
        return f"{readable[:150]}--{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def agent_name(agent: AgentSpec) -> str:
    if agent.harness == COMMAND:
        return f"{COMMAND}:{Path(agent.command[0]).name}" + (f"/{agent.model}" if agent.model else "")
    return f"{agent.harness}/{agent.model}" if agent.model else agent.harness


def load_plan(path: Path) -> Plan:
    """plan.toml; what is wrong with it is one sentence."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        plan = Plan.model_validate(document)
    except FileNotFoundError:
        raise UserError(f"There is no plan {path}.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        raise UserError(f"{path}: {_sentence(error)}") from error
    base = path.resolve().parent
    update: dict[str, object] = {
        "suites": tuple(base / suite for suite in plan.suites),
        "agents": tuple(
            agent.model_copy(update={"sees": tuple(base / p for p in agent.sees)}) for agent in plan.agents
        ),
    }
    if plan.prices is not None:
        update["prices"] = base / plan.prices
    return plan.model_copy(update=update)


def expected_cells(plan: Plan) -> list[Cell]:
    """Every cell of the plan, repetition by repetition, so that an early stop leaves a balanced part."""
    entries = [(suite, entry) for folder in plan.suites for suite, entry in _entries(folder, plan.tasks)]
    if not entries:
        raise UserError(f"No task of the suites matches {', '.join(plan.tasks)}.")
    return [
        Cell(
            suite=suite,
            task_id=entry.id,
            task_digest=entry.digest,
            family=entry.family,
            sources=tuple(entry.sources),
            agent=agent,
            arm=arm,
            repetition=repetition,
        )
        for repetition in range(1, plan.repetitions + 1)
        for suite, entry in entries
        for agent in plan.agents
        for arm in _arms_of(agent, plan.arms)
    ]


def choose(cells: Iterable[Cell], only: Sequence[str]) -> list[Cell]:
    """The cells whose task, agent, arm, family or id matches every one of the patterns."""
    chosen = list(cells)
    for pattern in only:
        chosen = [cell for cell in chosen if any(fnmatch.fnmatchcase(name, pattern) for name in _names(cell))]
        if not chosen:
            raise UserError(f"No cell matches --only {pattern}. A task, agent, arm, family or cell id is matched.")
    return chosen


def _names(cell: Cell) -> tuple[str, ...]:
    agent = cell.agent
    return (cell.id, cell.task_id, cell.family, cell.arm.name, agent_name(agent), agent.harness, agent.model)


def _arms_of(agent: AgentSpec, arms: Sequence[ArmSpec]) -> list[ArmSpec]:
    """An agent without a model knows our tools only, so that it has no cells in arms without them."""
    return [arm for arm in arms if arm.serves_tools or not agent.is_policy]


def _entries(folder: Path, patterns: Sequence[str]) -> list[tuple[str, Entry]]:
    suite = load_suite(folder)
    return [
        (suite.name, entry)
        for entry in suite.tasks
        if any(fnmatch.fnmatchcase(entry.id, pattern) for pattern in patterns)
    ]


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
