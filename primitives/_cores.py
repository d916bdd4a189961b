"""How many processor cores this process may use."""

from __future__ import annotations

import os
import sys


def core_count() -> int:
    """Those that it is held to, where a container or its user did so, and not all of the machine's."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
