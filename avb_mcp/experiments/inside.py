"""The first process of an agent: sets limits on itself, opens the way to the model if there is one, starts the agent.

    python -m avb_mcp.experiments.inside --cpu 7200 --file-size 20000000000 --processes 512 \
        [--model-socket /path --model-port 8399] -- program argument ...

With its network cut off, an agent reaches the model through a relay: a port on its own loopback that leads to a
socket file outside. Nothing else is behind that port.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

_CHUNK_BYTES = 65536
_PR_SET_PDEATHSIG = 1
_NICE = 5
"""Whoever watches must get a turn, also when an agent starts more processes than there is time for."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpu", type=int, required=True)
    parser.add_argument("--file-size", type=int, required=True)
    parser.add_argument("--processes", type=int, required=True)
    parser.add_argument("--model-socket", default="")
    parser.add_argument("--model-port", type=int, default=0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    _die_with_parent()
    _limit(resource.RLIMIT_CPU, given.cpu)
    _limit(resource.RLIMIT_FSIZE, given.file_size)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NPROC, given.processes)
    os.nice(_NICE)
    if not given.model_socket:
        return _become(command)
    _relay(given.model_socket, given.model_port)
    with subprocess.Popen(command) as agent:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda received, _frame: agent.send_signal(received))
        code = agent.wait()
    return code if code >= 0 else 128 - code


def _die_with_parent() -> None:
    """Where nobody else sees to it: a runner that is killed must not leave its agents behind."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _become(command: list[str]) -> int:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"avb-mcp: {command[0]} cannot be started: {error.strerror}\n")
        return 127


def _limit(what: int, amount: int) -> None:
    """No more than what is allowed already; a limit that the system refuses is left to the watcher outside."""
    _, hard = resource.getrlimit(what)
    limit = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (limit, limit))


def _relay(path: str, port: int) -> None:
    listener = socket.create_server(("127.0.0.1", port))

    def accept() -> None:
        while True:
            client, _ = listener.accept()
            model = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                model.connect(path)
            except OSError:
                client.close()
                continue
            pour_both(client, model)

    threading.Thread(target=accept, daemon=True).start()


def pour_both(a: socket.socket, b: socket.socket) -> None:
    """Pass on what either side says, in the background, until both have stopped; then close them."""
    threading.Thread(target=_exchange, args=(a, b), daemon=True).start()


def _exchange(a: socket.socket, b: socket.socket) -> None:
    with a, b:
        back = threading.Thread(target=_pour, args=(b, a), daemon=True)
        back.start()
        _pour(a, b)
        back.join()


def _pour(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_CHUNK_BYTES):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main())
