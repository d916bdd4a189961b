"""Films and music that come with Debian packages, for `find_defects.py --set new`: fetched, not kept with the project.

    python benchmarks/more_media.py [FOLDER]

Needs `apt-get` and `dpkg-deb`. The folder is then given as AVB_MORE_MEDIA (default: more_media in the system's
temporary folder).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = {
    "opencv-doc": ("Megamind.avi", "tree.avi", "vtest.avi"),
    "openboard-common": ("wannaworktogether.mp4",),
    "python-kivy-examples": ("cityCC0.mpg",),
    "node-opencv": ("motion.mov",),
    "planetblupi-common": ("play103.mkv", "play105.mkv", "history2.mkv"),
    "linphone-common": ("dont_wait_too_long.mkv",),
}
MORE_MEDIA = Path(os.environ.get("AVB_MORE_MEDIA", Path(tempfile.gettempdir()) / "more_media"))


def fetch(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["apt-get", "download", "--quiet", *FILES], cwd=scratch, check=True)
        for package in Path(scratch).glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", package, scratch], check=True)
        for name in (name for names in FILES.values() for name in names):
            shutil.copy(next(Path(scratch).rglob(name)), folder / name)


if __name__ == "__main__":
    fetch(Path(sys.argv[1]) if len(sys.argv) > 1 else MORE_MEDIA)
