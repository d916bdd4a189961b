"""Every verifier by name: the one list. A new verifier is a folder and one line here."""

from __future__ import annotations

import importlib
from types import MappingProxyType, ModuleType

VERIFIERS = MappingProxyType(
    {
        "video_assembly": "verifiers.video_assembly.runner",
        "video_order": "verifiers.video_order.runner",
        "video_repair": "verifiers.video_repair.runner",
        "video_repair_v3": "verifiers.video_repair_v3.runner",
        "video_repurpose": "verifiers.video_repurpose.runner",
    }
)


def runner(name: str) -> ModuleType:
    """The runner module (`verify`, `main`) of the verifier `name`, imported on demand."""
    if name not in VERIFIERS:
        raise KeyError(f"no verifier is called {name!r}; there are: {', '.join(sorted(VERIFIERS))}")
    return importlib.import_module(VERIFIERS[name])
