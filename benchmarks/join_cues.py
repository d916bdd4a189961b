"""`join_scores` by what is written and said, and on films with swapped shots.

    python benchmarks/join_cues.py text|speech|swaps [--media ../shared/media] [--out folder]

text: eight silent shots of real clips that have nothing in common but a clock, a countdown or a scoreboard; ordered
with and without text. speech: read speech cut anywhere, with faded ends (so that the wave tells nothing), before black
pictures; ordered with and without speech; needs a speech model (AVB_WHISPER_MODEL). swaps: films whose shots the repair
builder has swapped, and the same films whole: are the right joins called broken?
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from avb_mcp.tasks.builders._base import BuildRequest  # noqa: E402
from avb_mcp.tasks.builders.repair import pick_stretch  # noqa: E402
from avb_mcp.tasks.defects._base import CannotPlace, broken_frames, broken_sound  # noqa: E402
from avb_mcp.tasks.defects.registry import DEFECTS  # noqa: E402
from avb_mcp.tasks.footage import open_footage, write_film  # noqa: E402
from avb_mcp.workspace import Workspace  # noqa: E402
from benchmarks.suite_repair import REELS, reel  # noqa: E402
from benchmarks.text_films import FONTS, FPS, STYLES, Shown, draw, footage  # noqa: E402
from primitives._base import Call  # noqa: E402
from primitives._media.sound_read import read_sound, sound_length_about  # noqa: E402
from primitives.join_scores import JoinScoresResult  # noqa: E402
from primitives.registry import by_name  # noqa: E402
from verifiers.video_order.scoring import score_order, true_ranks  # noqa: E402

SHOTS = (
    ("film/bbb_480p_30s.mp4", 4.0),
    ("footage/intel_bottle-detection.mp4", 8.0),
    ("talking_head/single_face.mp4", 0.0),
    ("odd/cockatoo_yuv444_mp3.mp4", 2.0),
    ("film/oa4_launch.webm", 4.0),
    ("talking_head/jwpIntro.mp4", 1.0),
    ("odd/prores_like_mjpeg_diver.mov", 3.0),
    ("film/bikes.mp4", 0.0),
)
SHOT_FRAMES = 60
SPEECH = {
    "fitted": ("speech/jfk.wav", "speech/asterisk/demo-congrats.wav", "speech/asterisk/demo-abouttotry.wav"),
    "held": (
        "speech/librispeech/libri_198-209-0000.ogg",
        "speech/librispeech/libri_3436-172162-0000.ogg",
        "speech/librispeech/libri_5703-47212-0000.ogg",
        "speech/ljspeech/LJ001-0014.wav",
        "speech/ljspeech/LJ001-0015.wav",
    ),
}
PIECES = 6
RATE_HZ = 48_000
SWAPS = ("shot_swap", "scene_swap_adjacent", "scene_swap_gapped")


def ordered(folder: Path, clips: Sequence[str], cues: Sequence[str]) -> tuple[JoinScoresResult, float]:
    begun = time.process_time()
    arguments = {"paths": list(clips), "cues": list(cues), "picture": False}
    found = by_name()["join_scores"].call(arguments, Call(Workspace(folder))).result
    assert isinstance(found, JoinScoresResult)
    return found, time.process_time() - begun


def score(found: JoinScoresResult, truth: Sequence[str]) -> float:
    return score_order(true_ranks(found.best_order, truth)).headline


def counting(kind: str, begin: int, frame: int) -> str:
    """What stands on screen in a frame of the whole film."""
    seconds = frame // FPS
    if kind == "clock":
        return f"{(begin + seconds) // 60:02d}:{(begin + seconds) % 60:02d}"
    if kind == "countdown":
        left = 599 - begin % 300 - seconds
        return f"{left // 60}:{left % 60:02d}.{9 - frame % FPS * 10 // FPS}"
    return f"HOME {frame // 150} - {frame // 210} AWAY"


def text(media: Path, out: Path) -> None:
    for kind in ("clock", "countdown", "scoreboard"):
        for seed in (200, 201):
            chance = np.random.default_rng([seed, len(kind)])
            font, style = str(chance.choice(FONTS)), str(chance.choice(STYLES))
            begin, names = int(chance.integers(0, 3000)), [f"{n:02d}.mp4" for n in chance.permutation(len(SHOTS))]
            folder = Path(tempfile.mkdtemp(dir=out))
            for shot, ((clip, start_s), name) in enumerate(zip(SHOTS, names, strict=True)):
                ground = [cv2.resize(p, (640, 360)) for p in footage(media / clip, start_s, SHOT_FRAMES)]
                drawn = []
                for number, picture in enumerate(ground):
                    words = counting(kind, begin, shot * SHOT_FRAMES + number)
                    shown = Shown(words, 0, SHOT_FRAMES, (0.05, 0.06), 30, font, style)
                    made = draw(np.asarray(picture, np.uint8), shown)
                    drawn.append(np.asarray(cv2.cvtColor(np.ascontiguousarray(made), cv2.COLOR_RGB2YUV_I420), np.uint8))
                write_film(folder / name, drawn, Fraction(FPS), None)
            without, quick_s = ordered(folder, sorted(names), ["picture"])
            found, cpu_s = ordered(folder, sorted(names), [])
            told = f"without text {score(without, names):.2f} ({quick_s:.1f} s), with {score(found, names):.2f}"
            print(f"{kind} {seed} {font or 'own'} {style}: {told} ({cpu_s:.1f} s CPU)", flush=True)


def speech(media: Path, out: Path) -> None:
    for kind, files in SPEECH.items():
        for name in files:
            path = media / name
            length_s = sound_length_about(path, name, lambda: None)
            wave = read_sound(path, name, 0.0, length_s, RATE_HZ, 1, lambda: None)
            chance = np.random.default_rng(len(name))
            cuts = np.sort(np.linspace(0, 1, PIECES + 1)[1:-1] + chance.uniform(-0.03, 0.03, PIECES - 1))
            bounds = [0, *(round(length_s * cut * 25) for cut in cuts), int(length_s * 25)]
            names = [f"{n:02d}.mp4" for n in chance.permutation(PIECES)]
            folder = Path(tempfile.mkdtemp(dir=out))
            black = np.full((135, 160), 128, np.uint8)
            black[:90] = 16
            for clip, first, last in zip(names, bounds, bounds[1:], strict=False):
                piece = _faded(wave[:, first * RATE_HZ // 25 : last * RATE_HZ // 25])
                write_film(folder / clip, [black] * (last - first), Fraction(25), np.repeat(piece, 2, axis=0))
            results = {cues: ordered(folder, sorted(names), cues) for cues in (("sound",), ("sound", "speech"))}
            (alone, _), (both, cpu_s) = results.values()
            true = [join.speech or 0.0 for join in both.joins if names.index(join.after) + 1 == names.index(join.then)]
            print(
                f"{kind} {name}: sound {score(alone, names):.2f}, sound and speech {score(both, names):.2f}, "
                f"speech at joins that are right {np.mean(true) if true else float('nan'):+.2f} ({cpu_s:.1f} s CPU)",
                flush=True,
            )


def _faded(wave: NDArray[np.float32]) -> NDArray[np.float32]:
    """25 ms of fade at either end."""
    made, ramp = wave.copy(), np.linspace(0, 1, RATE_HZ // 40, dtype=np.float32)
    made[:, : len(ramp)] *= ramp
    made[:, -len(ramp) :] *= ramp[::-1]
    return made


@dataclass(frozen=True)
class Swapped:
    path: Path
    name: str
    seams: tuple[float, ...]
    """Where parts meet that did not."""


def swapped_films(out: Path) -> Iterator[Swapped]:
    for name in REELS:
        source = out / f"{name}.mp4"
        film = open_footage(source if source.exists() else reel(name, out))
        for defect in (one for one in DEFECTS if one.name in SWAPS):
            for seed in (11, 12):
                made = _swap(film, defect, seed, out / f"{name}-{defect.name}-{seed}.mp4")
                if made is not None:
                    yield made


def _swap(film: Any, defect: Any, seed: int, path: Path) -> Swapped | None:
    rng = np.random.default_rng([seed, *defect.name.encode()])
    request = BuildRequest(seed=seed, count=1, kinds=(defect.name,), min_s=14, max_s=24)
    for _ in range(20):
        try:
            stretch = pick_stretch(film, defect.needs, request, rng)
            damage = defect.damage(stretch, defect.draw(stretch, rng))
        except CannotPlace:
            continue
        ends = np.cumsum([len(part) for part in damage.parts])[:-1]
        write_film(path, broken_frames(stretch, damage), stretch.fps, broken_sound(stretch, damage))
        return Swapped(path, path.stem, tuple(stretch.seconds(int(end)) for end in ends))
    return None


def swaps(_: Path, out: Path) -> None:
    hits = seams = false = joins = told = films = 0
    for film in swapped_films(out):
        found, cpu_s = ordered(out, [film.path.name], [])
        at = {join.then: float(join.then.split("@")[1][:-1]) for join in found.joins}
        broken = [at[join.then] for join in found.joins if join.sure == "broken"]
        right = [time_s for time_s in broken if min(abs(time_s - seam) for seam in film.seams) < 0.1]
        films, told = films + 1, told + ((found.own_order_behind or 0) >= 5)
        hits, seams = hits + len(right), seams + len(film.seams)
        false, joins = false + len(broken) - len(right), joins + len(found.joins) - len(film.seams)
        told_s = " ".join(f"{seam:.2f}" for seam in film.seams)
        print(f"{film.name}: swapped at {told_s}; broken {broken}; behind {found.own_order_behind} ({cpu_s:.1f} s)")
    print(
        f"{films} films, {told} called out of order: {hits} of {seams} wrong joins called broken, "
        f"{false} of {joins} right ones"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("text", "speech", "swaps"))
    parser.add_argument("--media", type=Path, default=ROOT.parent / "shared" / "media")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "avb-join-cues")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    {"text": text, "speech": speech, "swaps": swaps}[options.what](options.media, options.out)


if __name__ == "__main__":
    main()
