"""Decode ahead in a thread: libav releases the interpreter lock, so decoding and scoring run side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, Queue
from threading import Event, Thread
from typing import TypeVar

Item = TypeVar("Item")

AHEAD = 8


class _End:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


@contextmanager
def prefetched(items: Iterator[Item]) -> Iterator[Iterator[Item]]:
    """`items`, produced up to `AHEAD` in advance in a thread that ends with the block."""
    queue: Queue[Item | _End] = Queue(AHEAD)
    stop = Event()

    def produce() -> None:
        end = _End()
        try:
            for item in items:
                queue.put(item)
                if stop.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - raised again in the consuming thread
            end = _End(error)
        queue.put(end)

    def consume() -> Iterator[Item]:
        while not isinstance(item := queue.get(), _End):
            yield item
        if item.error is not None:
            raise item.error

    worker = Thread(target=produce, daemon=True)
    worker.start()
    try:
        yield consume()
    finally:
        stop.set()
        while worker.is_alive():
            _discard(queue)
            worker.join(timeout=0.01)


def _discard(queue: Queue[Item]) -> None:
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return
