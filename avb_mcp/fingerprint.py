"""What a file is known by while it stays the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

_SAMPLE_BYTES = 64 * 1024
_SAMPLES = 8


def fingerprint(path: Path) -> str:
    """Size, time of change and samples of the content: a film of many gigabytes in milliseconds."""
    status = path.stat()
    digest = hashlib.sha256(f"{status.st_size} {status.st_mtime_ns}".encode())
    with path.open("rb") as file:
        for number in range(_SAMPLES):
            file.seek(max(0, status.st_size - _SAMPLE_BYTES) * number // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()
