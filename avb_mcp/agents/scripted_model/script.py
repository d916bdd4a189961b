"""What is played and what is seen, in words that no protocol owns.

The server keeps no conversation: the number of tool results in a request says which call of the script comes
next, so parallel or repeated requests cannot confuse it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

Body = dict[str, Any]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(_Data):
    tool: str
    """Our name (`probe`); the offered name may carry a harness's prefix (`mcp__avb__probe`)."""
    arguments: dict[str, Any] = {}


class Script(_Data):
    calls: tuple[ToolCall, ...]
    final_text: str = "All scripted calls are done."


class Usage(_Data):
    """What each answer claims to have cost; the five buckets do not overlap."""

    input_tokens: int = 1000
    cache_read_tokens: int = 3000
    cache_write_tokens: int = 200
    output_tokens: int = 44
    reasoning_tokens: int = 33

    @property
    def all_input_tokens(self) -> int:
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def all_output_tokens(self) -> int:
        return self.output_tokens + self.reasoning_tokens


class OfferedTool(_Data):
    name: str
    namespace: str = ""

    @property
    def full_name(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


class DeliveredImage(_Data):
    media_type: str
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Call:
    id: str
    tool: OfferedTool
    arguments: dict[str, Any]


Reply = Say | Call


@dataclass(frozen=True)
class Event:
    """One server-sent event."""

    data: Body | str
    name: str = ""


class WireProtocol(Protocol):
    """How one protocol says what a script needs; implemented by a module per protocol."""

    def offered_tools(self, body: Body) -> list[OfferedTool]: ...
    def result_count(self, body: Body) -> int: ...
    def images(self, body: Body) -> list[DeliveredImage]: ...
    def answer(self, reply: Reply, body: Body, usage: Usage) -> Body: ...
    def events(self, reply: Reply, body: Body, usage: Usage) -> Iterator[Event]: ...


def next_reply(script: Script, offered: Sequence[OfferedTool], result_count: int) -> Reply:
    """The script's next step; a request without tools is a side errand (a title, a summary)."""
    if not offered:
        return Say("scripted")
    if result_count >= len(script.calls):
        return Say(script.final_text)
    call = script.calls[result_count]
    found = matching_tool(call.tool, offered)
    if found is None:
        names = ", ".join(tool.full_name for tool in offered)
        return Say(f"The script wants {call.tool!r}; offered: {names}")
    return Call(id=f"call_{result_count + 1:04d}", tool=found, arguments=call.arguments)


def matching_tool(name: str, offered: Sequence[OfferedTool]) -> OfferedTool | None:
    """The offered tool of that name, or else the only one that ends in it after a prefix."""
    exact = [tool for tool in offered if tool.name == name]
    prefixed = [tool for tool in offered if tool.name.endswith(f"_{name}")]
    candidates = exact or prefixed
    return candidates[0] if len(candidates) == 1 else None


def image_from_data_url(url: str) -> list[DeliveredImage]:
    """The image in a `data:` URL; none when the URL points elsewhere."""
    head, comma, payload = url.partition(",")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        return []
    media_type = head.removeprefix("data:").removesuffix(";base64")
    return [DeliveredImage(media_type=media_type, data=base64.b64decode(payload))]


def blocks(content: Any) -> list[Body]:
    """Content that may be a string, a list of blocks or missing, as blocks."""
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
