"""Where attempts are run: a pool of threads here, or the same function on a Dask cluster."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from avb_mcp.experiments.cell import CellJob, run_attempt, unstarted
from avb_mcp.experiments.ledger import want_no_more, wanted_by
from avb_mcp.experiments.record import CellRecord
from primitives._base import UserError

CORES_PER_CELL = 2
_WATCH_S = 1.0


@dataclass(frozen=True)
class Engine:
    """Starts attempts; each comes back as a record in its future."""

    room: Callable[[], int]
    """How many attempts can run at once, now."""
    start: Callable[[CellJob], Future[CellRecord]]
    stop: Callable[[], None]
    """End what is running; its records say `stopped`."""


@contextmanager
def local_engine(workers: int) -> Iterator[Engine]:
    """The attempts are processes already, so threads are enough to wait for them."""
    count = workers or max(1, (os.cpu_count() or 1) // CORES_PER_CELL)
    stopped = threading.Event()
    with ThreadPoolExecutor(max_workers=count, thread_name_prefix="cell") as pool:
        try:
            yield Engine(lambda: count, lambda job: pool.submit(run_attempt, job, stopped), stopped.set)
        except BaseException:
            stopped.set()
            raise


@contextmanager
def dask_engine(scheduler: str, workers: int) -> Iterator[Engine]:
    """A cluster at an address, or without one a cluster of worker processes on this machine."""
    try:
        distributed: Any = importlib.import_module("dask.distributed")  # untyped, and an extra
    except ImportError:
        raise UserError("The engine dask needs the extra: pip install 'avb-mcp[dask]'.") from None
    count = workers or max(1, (os.cpu_count() or 1) // CORES_PER_CELL)
    with (
        _cluster(distributed.LocalCluster, scheduler, count) as address,
        _client(distributed.Client, address) as client,
    ):
        executor: Executor = client.get_executor(pure=False)
        folders: set[Path] = set()

        def room() -> int:
            # Workers may come and go; with none at all, cells wait for one.
            try:
                threads: int = sum(client.nthreads().values())
            except OSError as error:
                raise UserError(
                    f"The Dask scheduler does not answer any more: {error}. The same command goes on."
                ) from error
            return min(threads, workers) if workers else threads

        def start(job: CellJob) -> Future[CellRecord]:
            folders.add(job.folder)
            return _read(executor.submit(attempt_as_text, job.model_dump_json()), job)

        def stop() -> None:
            for folder in folders:
                want_no_more(folder)

        yield Engine(room, start, stop)


def attempt_as_text(text: str) -> str:
    """One attempt between processes: text in, text out, so that versions that differ fail with a sentence.

    A worker does not end with the run that gave it the work, so it looks whether that run still wants it.
    """
    job, stop, over = CellJob.model_validate_json(text), threading.Event(), threading.Event()

    def watch() -> None:
        while not over.wait(_WATCH_S):
            if wanted_by(job.folder) != job.runner:
                stop.set()

    threading.Thread(target=watch, daemon=True).start()
    try:
        return run_attempt(job, stop).model_dump_json()
    finally:
        over.set()


@contextmanager
def _cluster(local: Callable[..., Any], scheduler: str, count: int) -> Iterator[Any]:
    if scheduler:
        yield scheduler
        return
    cluster = local(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None)
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def _client(client: Callable[..., Any], address: Any) -> Iterator[Any]:
    try:
        connected = client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(f"No Dask scheduler answers at {address}: {error}") from error
    with connected:
        yield connected


def _read(sent: Future[str], job: CellJob) -> Future[CellRecord]:
    """A future of the record instead of its text; a cell that the cluster lost is trouble of ours."""
    record: Future[CellRecord] = Future()

    def pass_on(done: Future[str]) -> None:
        if done.cancelled():
            record.cancel()
        elif error := done.exception():
            record.set_result(unstarted(job).model_copy(update={"reason": f"{type(error).__name__}: {error}"}))
        else:
            record.set_result(CellRecord.model_validate_json(done.result()))

    sent.add_done_callback(pass_on)
    return record
