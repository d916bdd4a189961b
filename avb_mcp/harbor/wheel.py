"""This package as a wheel, as it runs now: an image needs it, and it may not be on any index."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import importlib.util
import zipfile
from collections.abc import Iterator
from pathlib import Path

from primitives._base import UserError

NAME = "avb-mcp"
PACKAGES = ("avb_mcp", "primitives", "verifiers", "harness_configs")
_WHEEL = "Wheel-Version: 1.0\nGenerator: avb-mcp\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Of every file inside: the same package gives the same bytes."""


def write_wheel(folder: Path) -> Path:
    """Write the wheel into a folder; its path."""
    try:
        installed = importlib.metadata.distribution(NAME)
    except importlib.metadata.PackageNotFoundError:
        raise UserError(f"{NAME} is not installed, so its requirements are not known. Run pip install first.") from None
    stem = f"{NAME.replace('-', '_')}-{installed.version}"
    about = f"{stem}.dist-info"
    contents = dict(_files())
    contents[f"{about}/METADATA"] = (installed.read_text("METADATA") or "").encode()
    contents[f"{about}/entry_points.txt"] = (installed.read_text("entry_points.txt") or "").encode()
    contents[f"{about}/WHEEL"] = _WHEEL.encode()
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in contents.items()]
    contents[f"{about}/RECORD"] = ("".join(lines) + f"{about}/RECORD,,\n").encode()
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)
    return path


def _files() -> Iterator[tuple[str, bytes]]:
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise UserError(f"The package {package} is not installed as a folder.")
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"{package}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
