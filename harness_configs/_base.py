"""What a harness is to us: a pure recipe from (server, arm) to config files and a headless command.

Two kinds of file come out of a recipe. A *shared* one belongs to the user (`.mcp.json`, `config.toml`): it
gains our server and hardly anything else, so that opening the harness by hand in that folder is not
restricted. What an arm takes away from the agent lives in the headless command and in files of our own that
only this command names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

SERVER_NAME = "avb"
CALL_TIMEOUT_S = 600
STARTUP_TIMEOUT_S = 60
KEY_VARIABLE = "AVB_MODEL_KEY"
"""Carries the endpoint's key into harnesses that let a config name a variable: no key is ever in a file."""
PROMPT = "{prompt}"


class Arm(StrEnum):
    TYPED = "typed"
    """The harness's own shell and file tools, and ours."""
    TYPED_ONLY = "typed-only"
    """Our tools and nothing else, as far as the harness can be told."""
    SHELL = "shell"
    """The harness's own shell and file tools, without ours."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ServerCommand(_Data):
    """How a harness starts our server over stdio."""

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}

    def env_entry(self, key: str) -> dict[str, dict[str, str]]:
        """`{key: env}`, or nothing when there is nothing to set."""
        return {key: self.env} if self.env else {}


class Endpoint(_Data):
    """A model server to use instead of the user's own login."""

    base_url: str
    """Scheme, host and port only; each adapter appends the path that its harness expects."""
    api_key: str

    @field_validator("base_url")
    @classmethod
    def _has_no_path(cls, base_url: str) -> str:
        if not base_url.startswith(("http://", "https://")) or base_url.count("/") != 2:
            raise ValueError(f"base_url={base_url!r} must be scheme, host and port, for example http://127.0.0.1:8080")
        return base_url


class SetupRequest(_Data):
    server: ServerCommand
    arm: Arm
    workspace: PurePosixPath
    """Absolute; the headless command is run from there."""
    model: str | None = None
    endpoint: Endpoint | None = None
    max_turns: int | None = None
    """Where the harness can be told; the others are stopped by the clock alone."""

    @model_validator(mode="after")
    def _endpoint_has_a_model(self) -> Self:
        if self.endpoint is not None and self.model is None:
            raise ValueError("an endpoint serves no default model: give model, for example model='scripted'")
        return self

    @property
    def serves_tools(self) -> bool:
        return self.arm is not Arm.SHELL


class ConfigFile(_Data):
    """Keys that a JSON or TOML file must have, and keys that it must not have; all others stay."""

    scope: Literal["workspace", "home"]
    path: PurePosixPath
    format: Literal["json", "toml"]
    content: dict[str, Any] = {}
    absent: tuple[tuple[str, ...], ...] = ()
    shared: bool = True
    """False: the file is ours alone and is written whole."""

    @field_validator("path")
    @classmethod
    def _stays_below_its_scope(cls, path: PurePosixPath) -> PurePosixPath:
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"path={str(path)!r} must be relative to its scope and must not climb out of it")
        return path


class DerivedFile(_Data):
    """A JSON file made by overriding fields in what the installed harness says about itself.

    Only the harness can print the source, so making this file needs the harness installed.
    """

    path: PurePosixPath
    """Relative to the workspace."""
    source: tuple[str, ...]
    """Arguments for the harness's executable; it prints `{<list_key>: [{...}, ...]}` as JSON."""
    list_key: str
    overrides: dict[str, Any]
    """Fields to set in every object of the list."""


class Setup(_Data):
    files: tuple[ConfigFile, ...]
    command: tuple[str, ...]
    """argv of one headless run from the workspace, with `{prompt}` for the prompt."""
    environment: dict[str, str] = {}
    secrets: dict[str, str] = {}
    """Environment as well, but never shown and never written."""
    notes: tuple[str, ...] = ()
    derived: tuple[DerivedFile, ...] = ()
    folders: tuple[PurePosixPath, ...] = ()
    """Folders that the command wants to find, relative to the workspace."""


class NpmPackage(_Data):
    """A pinned npm package and the Node it needs."""

    name: str
    version: str
    executable: str
    """The name in the package's `bin` table."""
    node_at_least: tuple[int, int] | None = None
    """None: ships a native binary, so any Node that can run npm will do."""


class TokenUsage(_Data):
    """Five buckets that do not overlap."""

    input: int = 0
    """Neither read from a cache nor written to one."""
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    """What is visible."""
    reasoning: int = 0


class Step(_Data):
    """One thing that the agent did or said."""

    kind: Literal["message", "tool_call"]
    text: str = ""
    """What was said, or the result of the call, shortened."""
    tool: str = ""
    """The name as the model saw it."""
    arguments: str = ""
    failed: bool = False
    images: int = 0
    """Images in the result."""


class ReadBack(_Data):
    """What a harness's own records say about a run; None and empty where they say nothing."""

    final_message: str = ""
    usage: TokenUsage | None = None
    turns: int | None = None
    steps: tuple[Step, ...] = ()
    errors: tuple[str, ...] = ()
    offered_tools: tuple[str, ...] | None = None
    """By the names that the model saw."""


@dataclass(frozen=True)
class FinishedRun:
    """What a run left behind."""

    stdout: str
    stderr: str
    home: Path
    workspace: Path


@dataclass(frozen=True)
class Harness:
    name: str
    title: str
    package: NpmPackage
    tool_name: str
    """What the model sees for one of our tools, with `{tool}` for its name."""
    setup: Callable[[SetupRequest], Setup]
    read_back: Callable[[FinishedRun], ReadBack]

    def model_visible(self, tool: str) -> str:
        return self.tool_name.format(tool=tool)


def own_path(harness: str, arm: Arm, suffix: str) -> PurePosixPath:
    """Where a file lives that only our headless command names, relative to the workspace."""
    return PurePosixPath(".avb", "harness", f"{harness}-{arm}.{suffix}")


def server_file(
    request: SetupRequest,
    table: tuple[str, ...],
    entry: Mapping[str, Any],
    *,
    path: str,
    scope: Literal["workspace", "home"] = "workspace",
    format: Literal["json", "toml"] = "json",
    extra: Mapping[str, Any] | None = None,
) -> ConfigFile:
    """The shared file that holds our server below `table`; in the shell arm, the same file without it."""
    content: dict[str, Any] = {SERVER_NAME: dict(entry)}
    for key in reversed(table):
        content = {key: content}
    return ConfigFile(
        scope=scope,
        path=PurePosixPath(path),
        format=format,
        content={**(extra or {}), **(content if request.serves_tools else {})},
        absent=() if request.serves_tools else ((*table, SERVER_NAME),),
    )
