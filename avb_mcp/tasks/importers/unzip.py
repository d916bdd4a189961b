"""Unpack a zip that may be hostile: nothing outside the folder, no links, no bombs."""

from __future__ import annotations

import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from primitives._base import UserError

MAX_MEMBERS = 5000
MAX_BYTES = 64 << 30
MAX_RATIO = 200
"""Media do not shrink; a text that shrinks more than this is not worth the risk."""
RATIO_FROM_BYTES = 64 << 20
"""Small members may be as dense as they like."""
JUNK = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db"})


def require_safe(archive: Path) -> None:
    """Judge an archive without unpacking it; what is wrong is a sentence."""
    _unpack(archive, None)


def unzip(archive: Path, folder: Path) -> list[Path]:
    """The files of an archive below `folder`; one folder around everything is left out."""
    return _unpack(archive, folder)


def _unpack(archive: Path, folder: Path | None) -> list[Path]:
    try:
        with zipfile.ZipFile(archive) as zipped:
            members = list(_members(zipped, archive.name))
            if not members:
                raise UserError(f"{archive.name} is an empty archive.")
            if folder is None:
                return []
            top = _common_top([path for _, path in members])
            return [_unpacked(zipped, info, folder / path.relative_to(top), archive.name) for info, path in members]
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error) as error:
        raise UserError(f"{archive.name} cannot be unpacked: {error}.") from error


def _members(zipped: zipfile.ZipFile, name: str) -> Iterator[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """What is worth unpacking, judged before anything is written."""
    infos = [info for info in zipped.infolist() if not info.is_dir()]
    total, packed = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
    if len(infos) > MAX_MEMBERS or total > MAX_BYTES:
        raise UserError(f"{name} holds more than {MAX_MEMBERS} files or {MAX_BYTES >> 30} GiB and is not unpacked.")
    if total > RATIO_FROM_BYTES and total > MAX_RATIO * packed:
        raise UserError(f"{name} would swell from {packed} to {total} bytes and is not unpacked.")
    seen = set()
    for info in infos:
        path = PurePosixPath(info.filename)
        if JUNK & set(path.parts):
            continue
        if path.is_absolute() or ".." in path.parts or "\\" in info.filename or ":" in path.parts[0]:
            raise UserError(f"{name} holds {info.filename!a}, which leads outside. It is not unpacked.")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise UserError(f"{name} holds the link {info.filename!a}. It is not unpacked.")
        if info.flag_bits & 1:
            raise UserError(f"{name} is locked with a password. Unpack it yourself and give the folder.")
        if str(path).casefold() in seen:
            raise UserError(f"{name} holds {info.filename!a} twice. It is not unpacked.")
        seen.add(str(path).casefold())
        yield info, path


def _common_top(paths: list[PurePosixPath]) -> PurePosixPath:
    tops = {path.parts[0] for path in paths}
    return (
        PurePosixPath(tops.pop()) if len(tops) == 1 and all(len(path.parts) > 1 for path in paths) else PurePosixPath()
    )


def _unpacked(zipped: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, name: str) -> Path:
    """`zipfile` stops at the size that the archive states, and checks the sum."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipped.open(info) as reader, target.open("wb") as writer:
        shutil.copyfileobj(reader, writer, 1 << 20)
    if target.stat().st_size != info.file_size:
        raise UserError(f"{name} is damaged: {info.filename!a} is not as long as stated.")
    return target
