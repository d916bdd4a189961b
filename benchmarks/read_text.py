"""`read_text` on captions, clocks and scoreboards over real footage: characters, times, how often it reads, CPU.

    python benchmarks/read_text.py [--set held|development] [--first 150] [--seeds 2] [--seconds 10] [--media folder]

Needs the extra `ocr`. Every text of the truth is compared with the caption that fits best among those on screen at the
same time; characters count by edit distance, and a text that was not found counts whole; times count by frames.
Limits were set on the development clips and seeds from 0 on; held-out seeds are those from 120 on.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import av
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from avb_mcp.workspace import Workspace  # noqa: E402
from benchmarks.text_films import FONTS, FPS, KINDS, Shown, footage, write  # noqa: E402
from primitives._base import Call  # noqa: E402
from primitives.read_text import ReadTextResult, TextOnScreen  # noqa: E402
from primitives.registry import by_name  # noqa: E402

CLIPS = {
    "development": (("film/bbb_480p_30s.mp4", 2.0), ("talking_head/jwpIntro.mp4", 0.0), ("film/bikes.mp4", 0.0)),
    "held": (
        ("footage/intel_bottle-detection.mp4", 5.0),
        ("talking_head/single_face.mp4", 0.0),
        ("odd/cockatoo_yuv444_mp3.mp4", 0.0),
        ("odd/prores_like_mjpeg_diver.mov", 0.0),
        ("film/oa4_launch.webm", 0.0),
    ),
}


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def distance(a: str, b: str) -> int:
    """Edit distance."""
    row = list(range(len(b) + 1))
    for at, one in enumerate(a, start=1):
        above, row[0] = row[0], at
        for place, other in enumerate(b, start=1):
            above, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, above + (one != other))
    return row[-1]


@dataclass
class Score:
    characters: int = 0
    wrong: int = 0
    texts: int = 0
    missed: int = 0
    extra: int = 0
    off: list[int] = field(default_factory=list)
    """Frames by which beginnings and ends are off."""
    cpu_s: float = 0.0
    decode_s: float = 0.0
    notes: list[str] = field(default_factory=list)

    def add(self, truth: list[Shown], found: list[TextOnScreen]) -> None:
        unused = list(found)
        for shown in truth:
            self.texts += 1
            self.characters += len(plain(shown.text))
            near = [one for one in unused if _shared(shown, one) > 0.4 * (shown.last - shown.first)]
            best = min(near, key=lambda one: distance(plain(one.text), plain(shown.text)), default=None)
            if best is None:
                self.missed += 1
                self.wrong += len(plain(shown.text))
                self.notes.append(f"missed {shown.text!r} {shown.first}-{shown.last} {shown.font} {shown.style}")
                continue
            unused.remove(best)
            wrong = distance(plain(best.text), plain(shown.text))
            self.wrong += wrong
            off = [best.frame - shown.first, round(best.end_s * FPS) - shown.last]
            self.off += off
            if wrong or max(map(abs, off)) > 1:
                self.notes.append(f"{shown.text!r} read {best.text!r}, off by {off} {shown.font} {shown.style}")
        self.extra += len(unused)
        self.notes += [f"extra {one.text!r} {one.start_s}-{one.end_s} confidence {one.confidence}" for one in unused]

    def told(self) -> str:
        off = np.abs(self.off) if self.off else np.zeros(1)
        right = 1 - self.wrong / max(1, self.characters)
        return (
            f"{right:.1%} of {self.characters} characters, {self.texts - self.missed}/{self.texts} texts found, "
            f"{self.extra} extra; ends within a frame {np.mean(off <= 1):.1%} of {len(self.off)}, "
            f"worst {int(off.max())}; "
            f"CPU {self.cpu_s:.1f} s, decoding {self.decode_s:.1f} s: {self.cpu_s / max(self.decode_s, 1e-3):.1f} x"
        )


def _shared(shown: Shown, one: TextOnScreen) -> int:
    return min(shown.last, round(one.end_s * FPS)) - max(shown.first, one.frame)


def decode_cpu_s(path: Path) -> float:
    begun = time.process_time()
    with av.open(str(path)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        for _ in container.decode(video=0):
            pass
    return time.process_time() - begun


def read(film: Path) -> ReadTextResult:
    request = {"path": film.name, "limit": 200}
    result = by_name()["read_text"].call(request, Call(Workspace(film.parent))).result
    assert isinstance(result, ReadTextResult)
    return result


def load_models() -> None:
    """Read a film that does not count: what follows is the cost of reading."""
    with tempfile.TemporaryDirectory() as scratch:
        ground = [np.full((180, 320, 3), 90, np.uint8)] * FPS
        read(write(Path(scratch) / "film.mp4", ground, [Shown("Models", 0, FPS, (0.1, 0.1), 24, FONTS[0], "plate")]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=tuple(CLIPS), default="held")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, help="the first seed; 0 for development, 120 for held")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--media", type=Path, default=ROOT.parent / "shared" / "media")
    options = parser.parse_args()
    scores = {kind: Score() for kind in KINDS}
    first = options.first if options.first is not None else 0 if options.set == "development" else 120
    load_models()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for number, (clip, start_s) in enumerate(CLIPS[options.set]):
            ground = footage(options.media / clip, start_s, options.seconds * FPS)
            for seed in range(first, first + options.seeds):
                for kind, make in KINDS.items():
                    chance = np.random.default_rng([seed, number, list(KINDS).index(kind)])
                    truth = make(chance, len(ground), ground[0].shape[0])
                    film = write(folder / "film.mp4", ground, truth)
                    begun = time.process_time()
                    result = read(film)
                    scores[kind].cpu_s += time.process_time() - begun
                    scores[kind].decode_s += decode_cpu_s(film)
                    scores[kind].add(truth, result.captions)
                    print(f"{clip} {kind} {seed}: {result.notes[-1]}", flush=True)
                    for note in scores[kind].notes:
                        print(f"   {note}", flush=True)
                    scores[kind].notes.clear()
    for kind, score in scores.items():
        print(f"{kind}: {score.told()}")


if __name__ == "__main__":
    main()
