"""Arrays worked out from a file, kept beside it for whoever asks next."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives._base import Call


def load_arrays(store: Path, names: Sequence[str], length: int | None = None) -> dict[str, NDArray[Any]] | None:
    """What a store holds; None where it is not there, damaged, or has other rows than `length`."""
    try:
        with store.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            kept = {name: archive[name] for name in names}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return kept if length is None or all(len(values) == length for values in kept.values()) else None


def keep_arrays(call: Call, store: Path, arrays: dict[str, NDArray[Any]], packed: bool = True) -> None:
    """Keep arrays, as numpy's archive whatever the store's suffix. A courtesy: a full disk must not cost the answer.

    Small ones need not be packed, which takes longer than to work them out.
    """
    save = np.savez_compressed if packed else np.savez
    with contextlib.suppress(OSError), call.workspace.atomic(store) as part, part.open("wb") as file:
        save(file, allow_pickle=False, **arrays)
