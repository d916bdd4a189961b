"""What a primitive is: a request model, a result model, a function, and how it may be advertised.

A primitive is called as `run(request, call) -> Answer`. `Call` is everything it may touch: the task folder
through its path rules, progress, and cancellation. Failures the caller can fix are `UserError`s, one
sentence each; anything else propagates.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

if TYPE_CHECKING:
    from primitives._task import Task


class UserError(Exception):
    """Something the caller can fix: says what was given, what is allowed and what to do next."""


class Cancelled(Exception):
    """The caller no longer wants the answer. Never shown to anyone."""


class Request(BaseModel):
    """Arguments of a primitive. Field docstrings become the tool's schema; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


class RangeRequest(Request):
    """Arguments with ranges of time, each a `start_s` and an `end_s` of the same prefix: none ends before it begins."""

    @model_validator(mode="after")
    def _forward(self) -> Self:
        for name in (name for name in type(self).model_fields if name.endswith("end_s")):
            first = name.removesuffix("end_s") + "start_s"
            start, end = getattr(self, first, None), getattr(self, name)
            if start is not None and end is not None and end <= start:
                raise ValueError(f"{name}={end} must be greater than {first}={start}.")
        return self


class Result(BaseModel):
    """What a primitive found, as small typed values that read well as JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


RequestT = TypeVar("RequestT", bound=Request)


class Workspace(Protocol):
    """The task folder as a primitive sees it (implemented by `avb_mcp.workspace`)."""

    @property
    def task(self) -> Task | None: ...
    def readable(self, path: str) -> Path: ...
    def writable(self, path: str) -> Path: ...
    def atomic(self, destination: Path) -> AbstractContextManager[Path]: ...
    def relative(self, path: Path) -> str: ...
    def media(self) -> list[Path]: ...
    def derived(self, source: Path, kind: str) -> Path: ...
    def sealed(self) -> dict[str, str] | None: ...
    def seal(self, digests: dict[str, str]) -> None: ...
    def unseal(self) -> None: ...


def _no_progress(done: float, total: float, message: str) -> None:
    """Nobody is watching."""


@dataclass
class Call:
    """One call of one primitive: its folder, its listener, its stop sign, and what it touched."""

    workspace: Workspace
    on_progress: Callable[[float, float, str], None] = _no_progress
    stop: threading.Event = field(default_factory=threading.Event)
    read: set[Path] = field(default_factory=set)
    media_s: float = 0.0
    """Seconds of media that the call covered, for the trace."""

    def input(self, path: str) -> Path:
        """The file behind a path that the caller may read; remembered, so that no output lands on it."""
        resolved = self.workspace.readable(path)
        self.read.add(resolved)
        return resolved

    def output(self, path: str) -> Path:
        """Where the caller may write; refused when this call reads the same file."""
        destination = self.workspace.writable(path)
        if destination in self.read:
            raise UserError(f"{path} is an input of this call and is never overwritten. Give another name in work/.")
        return destination

    def progress(self, done: float, total: float, message: str) -> None:
        """Report how far the work is, and stop here if nobody wants it any more."""
        if self.stop.is_set():
            raise Cancelled
        self.on_progress(done, total, message)

    def check(self) -> None:
        """Stop here if nobody wants the answer any more."""
        if self.stop.is_set():
            raise Cancelled


@dataclass(frozen=True)
class Jpeg:
    """The one picture of an answer."""

    data: bytes
    width_px: int
    height_px: int


@dataclass(frozen=True)
class Answer:
    """What a call returns: a typed result and at most one picture."""

    result: Result
    image: Jpeg | None = None


@dataclass(frozen=True)
class Primitive(Generic[RequestT]):
    """One entry of the registry; everything the server and the command line need to know."""

    name: str
    title: str
    description: str
    request: type[RequestT]
    run: Callable[[RequestT, Call], Answer]
    read_only: bool
    destructive: bool = False
    returns_image: bool = False

    def __post_init__(self) -> None:
        if len(self.description) > 300:
            raise ValueError(f"{self.name}: description has {len(self.description)} characters, at most 300")

    def call(self, arguments: dict[str, Any], call: Call) -> Answer:
        """Validate the arguments as a caller sent them, then run."""
        from primitives._schema import parse

        return self.run(parse(self.request, arguments), call)
