"""What the edit tools write, played in Chromium: every frame sought and read, then the film played to its end.

    python benchmarks/in_browser.py [--chromium chromium]

Two films: ten segments joined by `trim_concat`, and a film with one second repaired by `color_match` (pictures at the
seams stored losslessly, the rest copied). Each frame carries its number, which a page reads off a canvas.
"""

from __future__ import annotations

import argparse
import http.server
import json
import subprocess
import sys
import tempfile
import threading
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives.registry import by_name
from tests.edits import numbers
from tests.media import BITS
from tests.scenery import grade, landscape

FPS, FRAMES, WIDTH, HEIGHT = 25, 500, 640, 360
SPOILT = range(240, 265)
TIMEOUT_S = 240
PAGE = """<!doctype html><video id="film" muted src="film.mp4"></video><script>
const film = document.getElementById("film"), count = COUNT, fps = FPS, bits = BITS
const canvas = new OffscreenCanvas(WIDTH, HEIGHT), pen = canvas.getContext("2d", {willReadFrequently: true})
const once = name => new Promise(done => film.addEventListener(name, done, {once: true}))
const tell = said => fetch("/told", {method: "POST", body: JSON.stringify(said)})
film.addEventListener("error", () => tell({error: film.error.message, numbers: []}))
const read = () => {
  pen.drawImage(film, 0, 0)
  const row = pen.getImageData(0, canvas.height * 7 / 8, canvas.width, 1).data
  const at = bit => Math.floor((bit + 0.5) * canvas.width / bits)
  let number = 0
  for (let bit = 0; bit < bits; bit++) number = number * 2 + (row[at(bit) * 4 + 1] > 128 ? 1 : 0)
  return number
}
film.addEventListener("loadeddata", async () => {
  const numbers = []
  for (let place = 0; place < count; place++) {
    const sought = once("seeked"), painted = new Promise(done => film.requestVideoFrameCallback(done))
    film.currentTime = (place + 0.5) / fps
    await sought
    await painted
    numbers.push(read())
  }
  const back = once("seeked")
  film.currentTime = 0
  await back
  film.playbackRate = 4
  const ended = once("ended")
  await film.play()
  await ended
  const quality = film.getVideoPlaybackQuality()
  tell({numbers, played_s: film.currentTime, duration_s: film.duration, error: film.error && film.error.message,
        corrupted: quality.corruptedVideoFrames ?? 0})
}, {once: true})
</script>"""


def make_film(path: Path, spoilt: range) -> Path:
    """A moving landscape with numbers in its lower quarter; some frames off in colour, their numbers left alone."""
    scene = landscape(4, width_px=WIDTH + 2 * FRAMES, height_px=HEIGHT)
    spoil = grade("contract")
    with av.open(str(path), "w") as container:
        options = {"g": "50", "bf": "3", "preset": "veryfast", "crf": "20"}
        video = container.add_stream("libx264", rate=FPS, options=options)
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        sound = container.add_stream("aac", rate=48_000, layout="mono")
        for number in range(FRAMES):
            picture = np.ascontiguousarray(scene[:HEIGHT, 2 * number : 2 * number + WIDTH])
            if number in spoilt:
                picture = np.asarray(spoil(picture), np.uint8)
            for bit in range(BITS):
                left, right = bit * WIDTH // BITS, (bit + 1) * WIDTH // BITS
                colour = (235,) * 3 if number >> (BITS - 1 - bit) & 1 else (20,) * 3
                cv2.rectangle(picture, (left, HEIGHT * 3 // 4), (right - 1, HEIGHT), colour, -1)
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        wave = np.random.default_rng(1).normal(0, 0.05, (1, FRAMES * 48_000 // FPS)).astype(np.float32)
        for at in range(0, wave.shape[1], 1024):
            chunk = av.AudioFrame.from_ndarray(np.ascontiguousarray(wave[:, at : at + 1024]), "fltp", "mono")
            chunk.sample_rate, chunk.time_base, chunk.pts = 48_000, Fraction(1, 48_000), at
            container.mux(sound.encode(chunk))
        container.mux(sound.encode(None))
    return path


def edited(folder: Path, tool: str, arguments: dict[str, Any], output: Path) -> dict[str, Any]:
    result = by_name()[tool].call({"path": "film.mp4", "output": "work/edit.mp4", **arguments}, Call(Workspace(folder)))
    (folder / "work/edit.mp4").rename(output)
    return result.result.model_dump(mode="json")


class Desk(http.server.SimpleHTTPRequestHandler):
    """Serves the page and the film, takes what the page tells."""

    def __init__(self, told: list[dict[str, Any]], done: threading.Event, *rest: Any, **named: Any) -> None:
        self._told, self._done = told, done
        super().__init__(*rest, **named)

    def do_POST(self) -> None:
        self._told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()
        self._done.set()

    def do_GET(self) -> None:
        """Whole files, and parts of them: a browser seeks only where a server gives parts."""
        wanted, span = Path(self.directory) / self.path.strip("/"), self.headers.get("Range")
        if span is None or not wanted.is_file():
            super().do_GET()
            return
        data = wanted.read_bytes()
        first, _, last = span.removeprefix("bytes=").partition("-")
        start, stop = int(first), min(int(last or len(data) - 1), len(data) - 1)
        self.send_response(206)
        self.send_header("Content-Type", "video/mp4")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Range", f"bytes {start}-{stop}/{len(data)}")
        self.send_header("Content-Length", str(stop - start + 1))
        self.end_headers()
        self.wfile.write(data[start : stop + 1])

    def log_message(self, *_: Any) -> None:
        pass


def played(folder: Path, count: int, chromium: str) -> dict[str, Any]:
    """What the page saw."""
    page = PAGE
    for word, value in (("COUNT", count), ("FPS", FPS), ("BITS", BITS), ("WIDTH", WIDTH), ("HEIGHT", HEIGHT)):
        page = page.replace(word, str(value))
    (folder / "page.html").write_text(page, encoding="utf-8")
    told: list[dict[str, Any]] = []
    done = threading.Event()
    desk = partial(Desk, told, done, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), desk) as server, tempfile.TemporaryDirectory() as profile:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/page.html"
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--autoplay-policy=no-user-gesture-required"]
        browser = subprocess.Popen(
            [chromium, *flags, "--remote-debugging-port=0", f"--user-data-dir={profile}", address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            if not done.wait(TIMEOUT_S):
                raise SystemExit(f"The page told nothing within {TIMEOUT_S} s.")
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()
    return told[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default="chromium")
    options = parser.parse_args()
    segments = [{"start_s": start / FPS, "end_s": (start + 31) / FPS} for start in range(7, 440, 45)]
    work: dict[str, tuple[range, dict[str, Any]]] = {
        "trim_concat": (range(0), {"segments": segments}),
        "color_match": (SPOILT, {"start_s": SPOILT.start / FPS, "end_s": SPOILT.stop / FPS}),
    }
    for tool, (spoilt, arguments) in work.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder, shown = Path(scratch) / "task", Path(scratch) / "shown"
            (folder / "work").mkdir(parents=True)
            shown.mkdir()
            make_film(folder / "film.mp4", spoilt)
            result = edited(folder, tool, arguments, shown / "film.mp4")
            wanted = numbers(shown / "film.mp4")
            told = played(shown, len(wanted), options.chromium)
            right = sum(a == b for a, b in zip(told["numbers"], wanted, strict=False))
            print(
                f"{tool}: {right} of {len(wanted)} frames right when sought; played to {told.get('played_s')} of "
                f"{told.get('duration_s')} s, corrupted {told.get('corrupted')}, error {told['error']}; "
                f"copied {result['frames_copied']}, encoded {result['frames_encoded']}",
                flush=True,
            )


if __name__ == "__main__":
    main()
