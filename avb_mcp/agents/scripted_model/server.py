"""The listening part: routes a request to its protocol, answers it, keeps it."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from avb_mcp.agents.scripted_model import anthropic, chat, gemini, responses
from avb_mcp.agents.scripted_model.script import (
    Body,
    DeliveredImage,
    Event,
    OfferedTool,
    Script,
    Usage,
    WireProtocol,
    next_reply,
)

_COUNTED_TOKENS = 1000
_POLL_S = 0.02  # how soon closing is noticed
_PROTOCOLS: dict[str, WireProtocol] = {
    "/messages": anthropic,
    "/responses": responses,
    "/chat/completions": chat,
    ":generateContent": gemini,
    ":streamGenerateContent": gemini,
}


@dataclass(frozen=True)
class ModelRequest:
    """One request for an answer, as the harness sent it and as its protocol reads."""

    path: str
    headers: dict[str, str]
    body: Body
    offered_tools: tuple[OfferedTool, ...]
    result_count: int
    images: tuple[DeliveredImage, ...]

    @property
    def tool_names(self) -> set[str]:
        return {tool.full_name for tool in self.offered_tools}


class ScriptedModel:
    """A context manager: listens while it is open, on a port of its own choosing."""

    def __init__(self, script: Script, usage: Usage | None = None) -> None:
        self.script = script
        self.usage = usage or Usage()
        self._requests: list[ModelRequest] = []
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(_POLL_S,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def requests(self) -> list[ModelRequest]:
        """Every request for an answer so far, oldest first."""
        with self._lock:
            return list(self._requests)

    def keep(self, request: ModelRequest) -> None:
        with self._lock:
            self._requests.append(request)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler_for(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        scripted = model

    return Handler


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedModel
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Requests are kept, not printed."""

    def do_HEAD(self) -> None:
        self._send(200, "text/plain", b"")

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.endswith("/models"):
            self._send_json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        else:
            self._send_json(404, {"error": {"message": f"nothing is served at {path}"}})

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        encoding = self.headers.get("content-encoding", "identity")
        if encoding not in ("identity", "gzip"):
            self.close_connection = True
            self._send_json(415, {"error": {"message": f"content-encoding {encoding} is not understood"}})
            return
        raw = self._read_body()
        body = json.loads(gzip.decompress(raw) if encoding == "gzip" else raw)
        if path.endswith("/count_tokens"):
            self._send_json(200, {"input_tokens": _COUNTED_TOKENS})
        elif path.endswith(":countTokens"):
            self._send_json(200, {"totalTokens": _COUNTED_TOKENS})
        else:
            self._answer(path, body)

    def _answer(self, path: str, body: Body) -> None:
        protocol = next((known for end, known in _PROTOCOLS.items() if path.endswith(end)), None)
        if protocol is None:
            self._send_json(404, {"error": {"message": f"nothing is served at {path}"}})
            return
        request = ModelRequest(
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
            offered_tools=tuple(protocol.offered_tools(body)),
            result_count=protocol.result_count(body),
            images=tuple(protocol.images(body)),
        )
        self.scripted.keep(request)
        reply = next_reply(self.scripted.script, request.offered_tools, request.result_count)
        if body.get("stream") or path.endswith(":streamGenerateContent"):
            self._send_events(protocol.events(reply, body, self.scripted.usage))
        else:
            self._send_json(200, protocol.answer(reply, body, self.scripted.usage))

    def _read_body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        chunks = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # trailers
        return b"".join(chunks)

    def _send_json(self, status: int, document: Any) -> None:
        self._send(status, "application/json", json.dumps(document).encode())

    def _send_events(self, events: Iterable[Event]) -> None:
        text = "".join(_sse(event) for event in events)
        self.close_connection = True
        self._send(200, "text/event-stream", text.encode())

    def _send(self, status: int, content_type: str, payload: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(payload)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(payload)


def _sse(event: Event) -> str:
    data = event.data if isinstance(event.data, str) else json.dumps(event.data)
    return f"event: {event.name}\ndata: {data}\n\n" if event.name else f"data: {data}\n\n"
