"""A socket file that leads to the model's address: the only thing that an agent without a network can reach."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from avb_mcp.experiments.inside import pour_both

MODEL_PORT = 8399
"""Where an agent finds the model on its own loopback."""


@contextmanager
def leading_to(base_url: str, path: Path) -> Iterator[Path]:
    """Listen on `path` for as long as the block lasts, and pass everything on to the model."""
    parts = urlsplit(base_url)
    address = (parts.hostname or "127.0.0.1", parts.port or (443 if parts.scheme == "https" else 80))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    threading.Thread(target=_accept, args=(listener, address), daemon=True).start()
    try:
        yield path
    finally:
        # Closing alone does not wake a thread that waits in accept.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        path.unlink(missing_ok=True)


def _accept(listener: socket.socket, address: tuple[str, int]) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            try:
                pour_both(client, socket.create_connection(address))
            except OSError:
                client.close()
