"""Where attempts are run: a pool of threads here, or the same function on a Dask cluster."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from avb_mcp.experiments.cell import CellJob, run_attempt
from avb_mcp.experiments.record import CellRecord
from primitives._base import UserError

CORES_PER_CELL = 2


@dataclass(frozen=True)
class Engine:
    """Starts attempts; each comes back as a record in its future."""

    workers: int
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
            yield Engine(count, lambda job: pool.submit(run_attempt, job, stopped), stopped.set)
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
        distributed.Client(address, set_as_default=False) as client,
    ):
        threads = sum(client.nthreads().values()) or count
        executor: Executor = client.get_executor(pure=False, retries=3)
        running: list[Future[str]] = []

        def start(job: CellJob) -> Future[CellRecord]:
            sent: Future[str] = executor.submit(attempt_as_text, job.model_dump_json())
            running.append(sent)
            return _read(sent)

        def stop() -> None:
            for future in running:
                future.cancel()

        yield Engine(threads, start, stop)


def attempt_as_text(job: str) -> str:
    """One attempt between processes: text in, text out, so that versions that differ fail with a sentence."""
    return run_attempt(CellJob.model_validate_json(job)).model_dump_json()


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


def _read(sent: Future[str]) -> Future[CellRecord]:
    """A future of the record instead of its text."""
    record: Future[CellRecord] = Future()

    def pass_on(done: Future[str]) -> None:
        if done.cancelled():
            record.cancel()
        elif error := done.exception():
            record.set_exception(error)
        else:
            record.set_result(CellRecord.model_validate_json(done.result()))

    sent.add_done_callback(pass_on)
    return record
