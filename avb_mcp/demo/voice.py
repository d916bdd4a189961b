"""A spoken sentence from espeak-ng, where the user has installed `espeakng-loader` (it is under the GPL)."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

Wave = npt.NDArray[np.float64]
_TO_CALLBACK, _UTF8, _CHARACTERS = 2, 1, 1


def speak(text: str, rate_hz: int) -> Wave | None:
    """The sentence as sound, at most 1 loud; None without the package."""
    try:
        loader: Any = importlib.import_module("espeakng_loader")
        library = ctypes.CDLL(loader.get_library_path())
    except (ImportError, OSError):
        return None
    own_rate_hz = library.espeak_Initialize(_TO_CALLBACK, 0, str(loader.get_data_path()).encode(), 0)
    if own_rate_hz <= 0:
        return None
    pieces: list[npt.NDArray[np.int16]] = []

    def take(samples: Any, count: int, _events: object) -> int:
        if samples and count > 0:
            pieces.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
    hears = kind(take)  # must live until all is said
    library.espeak_SetSynthCallback(hears)
    library.espeak_SetVoiceByName(b"en")
    said = text.encode()
    library.espeak_Synth(said, ctypes.c_size_t(len(said) + 1), 0, _CHARACTERS, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    if not pieces:
        return None
    heard = np.concatenate(pieces) / 32768
    times = np.arange(round(len(heard) * rate_hz / own_rate_hz)) * own_rate_hz / rate_hz
    return np.asarray(np.interp(times, np.arange(len(heard)), heard), np.float64)
