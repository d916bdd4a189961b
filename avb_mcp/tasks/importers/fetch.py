"""Media of imported tasks: found in a folder by name, or downloaded into it."""

from __future__ import annotations

import shutil
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from primitives._base import UserError

TIMEOUT_S = 60.0
DOWNLOADS = "downloads"
Progress = Callable[[str, int, int], None]
"""What is fetched, the bytes so far, and in all (0 when unknown)."""


class Missing(Exception):
    """A file that is neither in the folder nor to be had; the sentence says why."""


def name_of(url: str) -> str:
    """The file name in a URL or path."""
    return PurePosixPath(unquote(urlsplit(url).path)).name


class Fetcher:
    """Files below a folder, and downloads into it."""

    def __init__(self, media: Path, urls: Iterable[str], *, offline: bool, progress: Progress) -> None:
        if media.exists() and not media.is_dir():
            raise UserError(f"{media} is not a folder. Give --media the folder of the downloaded media.")
        self._media = media
        self._offline = offline
        self._progress = progress
        self._ambiguous = {name for name, count in Counter(map(name_of, set(urls))).items() if count > 1}
        self._by_name: dict[str, list[Path]] = {}
        for path in sorted(media.rglob("*") if media.is_dir() else []):
            if path.is_file() and not path.name.endswith(".part"):
                self._by_name.setdefault(path.name, []).append(path)

    def get(self, url: str, hints: Sequence[str] = ()) -> Path:
        """The file of a URL. Where a name is shared, a folder on the way to it must be in the URL or the hints."""
        found = self.find(url, hints)
        return found if found is not None else self._download(url)

    def find(self, url: str, hints: Sequence[str] = ()) -> Path | None:
        name = name_of(url)
        candidates = self._by_name.get(name, [])
        if len(candidates) == 1 and name not in self._ambiguous:
            return candidates[0]
        words = {*PurePosixPath(unquote(urlsplit(url).path)).parts[:-1], *hints} - {"/"}
        shared = {path: self._shared(path, words) for path in candidates}
        best = [path for path, count in shared.items() if count and count == max(shared.values())]
        return best[0] if len(best) == 1 else None

    def _shared(self, path: Path, words: set[str]) -> int:
        return len(words & set(path.relative_to(self._media).parts[:-1]))

    def _download(self, url: str) -> Path:
        name = name_of(url)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            raise Missing(f"{name} is not below {self._media}, and {url[:80]!r} is no address to fetch it from")
        if self._offline:
            raise Missing(f"{name} is not below {self._media} (offline: nothing is fetched)")
        way = [part for part in PurePosixPath(unquote(parts.path)).parts if part not in ("/", "..", ".")]
        target = self._media.joinpath(DOWNLOADS, parts.hostname or "host", *way)
        if not target.is_file():
            self._save(url, name, target)
        return target

    def _save(self, url: str, name: str, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer, part.open("wb") as writer:
                total = int(answer.headers.get("Content-Length") or 0)
                done = 0
                while block := answer.read(1 << 20):
                    writer.write(block)
                    done += len(block)
                    self._progress(name, done, total)
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            part.unlink(missing_ok=True)
            reason = getattr(error, "reason", None) or error
            raise Missing(f"{name} is not below {self._media} and cannot be fetched: {reason}") from error
        if total and done != total:
            part.unlink()
            raise Missing(f"{name} broke off after {done} of {total} bytes")
        part.replace(target)


def copy_in(path: Path, target: Path) -> None:
    """A copy of its own, never a link."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
