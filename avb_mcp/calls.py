"""Run primitives as jobs: the one code path behind the MCP server and the command line.

A call runs in a thread of its own. Whoever asked waits for at most the call budget; a job that takes longer
goes on, and the same call made again picks it up. Cancelling stops the job at its next step.
"""

from __future__ import annotations

import json
import os
import threading
import traceback
from dataclasses import dataclass
from typing import Any

from avb_mcp.cache import Cache, call_key
from avb_mcp.workspace import Workspace
from primitives._base import Call, Cancelled, Jpeg, Primitive, UserError
from primitives._schema import parse
from primitives._text import as_text

DEFAULT_CALL_BUDGET_S = 45.0


@dataclass(frozen=True)
class Outcome:
    """How a call ended. `status` is the trace's word for it."""

    status: str
    text: str
    image: Jpeg | None = None
    media_s: float = 0.0
    cache_hit: bool = False
    crash: str | None = None
    """The traceback of a defect of ours, for the log; callers never see it."""

    @property
    def is_error(self) -> bool:
        return self.status not in {"ok", "running"}


class Job:
    """One running call."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.stop = threading.Event()
        self.finished = threading.Event()
        self.done, self.total, self.message = 0.0, 0.0, "starting"
        self.outcome: Outcome | None = None
        self.waiting = 0

    def report(self, done: float, total: float, message: str) -> None:
        self.done, self.total, self.message = done, total, message

    def still_running(self, tool: str) -> Outcome:
        """What to tell a caller whose budget is used up."""
        share = f"{self.done / self.total:.0%}" if self.total else "some"
        progress = {
            "status": "running",
            "job": self.key[:8],
            "done": f"{share} ({self.message})",
            "next": f"Call {tool} again with the same arguments to get the result; nothing is lost or done twice.",
        }
        return Outcome("running", json.dumps(progress, indent=1))


class Caller:
    """Starts, joins and stops jobs for one workspace."""

    def __init__(self, workspace: Workspace, primitives: tuple[Primitive[Any], ...]) -> None:
        self.workspace = workspace
        self.primitives = {primitive.name: primitive for primitive in primitives}
        self._cache = Cache(workspace)
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(os.cpu_count() or 1)

    def start(self, tool: str, arguments: dict[str, Any]) -> Job:
        """The job for a call: a new one, or the one that the same call started before."""
        key = call_key(tool, json.dumps(arguments, sort_keys=True, default=str))
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and job.finished.is_set() and self.primitives[tool].read_only:
                job = None  # nobody collected it; the cache has it, and knows whether the files have changed since
            if job is None:
                job = self._jobs[key] = Job(key)
                thread = threading.Thread(
                    target=self._work, args=(job, self.primitives[tool], arguments), name=tool, daemon=True
                )
                thread.start()
            job.waiting += 1
            return job

    def leave(self, job: Job, cancelled: bool = False) -> None:
        """The caller stops waiting. The last one to cancel stops the work; a collected result is forgotten."""
        with self._lock:
            job.waiting -= 1
            if cancelled and job.waiting == 0:
                job.stop.set()
            if job.waiting == 0 and (job.finished.is_set() or job.stop.is_set()):
                self._jobs.pop(job.key, None)

    def shut_down(self) -> None:
        """Stop everything at its next step."""
        with self._lock:
            for job in self._jobs.values():
                job.stop.set()

    def _work(self, job: Job, primitive: Primitive[Any], arguments: dict[str, Any]) -> None:
        with self._slots:
            try:
                job.outcome = self._answer(job, primitive, arguments)
            except UserError as error:
                job.outcome = Outcome("error", str(error))
            except Cancelled:
                job.outcome = Outcome("cancelled", "Cancelled.")
            except Exception:  # noqa: BLE001 - the top of a thread: a defect of ours must not end the server
                text = f"{primitive.name} failed because of a defect in avb-mcp, not in your call. Try other arguments."
                job.outcome = Outcome("crash", text, crash=traceback.format_exc())
            finally:
                job.finished.set()

    def _answer(self, job: Job, primitive: Primitive[Any], arguments: dict[str, Any]) -> Outcome:
        request = parse(primitive.request, arguments)
        key = call_key(primitive.name, request.model_dump_json())
        if primitive.read_only and (kept := self._cache.find(key)):
            entry, image = kept
            return Outcome("ok", entry.text, image, entry.media_s, cache_hit=True)
        call = Call(self.workspace, on_progress=job.report, stop=job.stop)
        answer = primitive.run(request, call)
        text = as_text(answer.result)
        if primitive.read_only:
            self._cache.keep(key, call.read, text, call.media_s, answer.image)
        return Outcome("ok", text, answer.image, call.media_s)
