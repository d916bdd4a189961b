"""Films whose camera is known: real footage seen through a synthetic camera, and drawn scenes with depth.

Real: stretches of tripod footage and held frames of other clips, filmed by the camera that builds assembly tasks
(`builders/_moves`), at its speeds and at slower and faster ones, and by an unsteady hand. Drawn: layers at several
depths with subjects that cross, so that a camera which travels differs from one which turns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from avb_mcp.tasks.builders._moves import BASE_SHARE, View, seen

Picture = NDArray[np.uint8]
FPS = 25
SIZE_PX = (384, 216)


@dataclass(frozen=True)
class Film:
    """A film and what its camera does."""

    name: str
    path: Path
    movement: str
    direction: str | None


@dataclass(frozen=True)
class Stretch:
    """Seconds of a clip whose own camera stands still; a held frame where `held`."""

    clip: str
    start_s: float
    held: bool = False


TRIPOD: dict[str, tuple[tuple[str, float, float], ...]] = {
    "development": (
        ("footage/intel_bottle-detection.mp4", 0.0, 39.0),
        ("talking_head/grid_lwbsza.mpg", 0.0, 2.9),
        ("talking_head/jwpIntro.mp4", 0.0, 5.7),
        ("footage/intel_car-detection.mp4", 0.0, 30.0),
    ),
    "held": (
        ("talking_head/grid_bbaf2n.mpg", 0.0, 2.9),
        ("talking_head/grid_sbia1a.mpg", 0.0, 2.9),
        ("talking_head/movie-hello_webcam_screencast.mp4", 0.0, 8.2),
        ("vlog/balle-jbart.mp4", 0.0, 10.0),
        ("film/oa4_launch.webm", 3.2, 4.6),
        ("odd/vp9_187fps_slowmo.avi", 0.0, 1.6),
    ),
}
"""Footage of cameras that stand still, as seen by laying first and last frames over each other: clip, from, to. Cars
that fill the picture were held out at first; what they showed was mended, so they count as development now."""
STRETCHES: dict[str, tuple[Stretch, ...]] = {
    "development": (
        Stretch("footage/intel_bottle-detection.mp4", 12.0),
        Stretch("talking_head/jwpIntro.mp4", 1.0),
        Stretch("talking_head/grid_lwbsza.mpg", 0.0),
        Stretch("film/bbb_480p_30s.mp4", 6.0, held=True),
        Stretch("film/bbb_480p_30s.mp4", 20.0, held=True),
        Stretch("vlog/phone_dog_VID_20191220.mp4", 0.5, held=True),
    ),
    "held": (
        Stretch("talking_head/single_face.mp4", 0.0, held=True),
        Stretch("talking_head/grid_sbia1a.mpg", 0.0),
        Stretch("film/oa4_launch.webm", 6.0, held=True),
        Stretch("talking_head/movie-hello_webcam_screencast.mp4", 1.0),
        Stretch("film/bikes.mp4", 4.0, held=True),
        Stretch("film/nasa_13013.mp4", 9.0, held=True),
        Stretch("film/fillets_intro.mpg", 30.0, held=True),
        Stretch("odd/mp_fire2.mp4", 2.0, held=True),
        Stretch("odd/cockatoo_yuv444_mp3.mp4", 0.0, held=True),
    ),
}
Course = Callable[[float], View]
"""What is seen at a share of the film from 0 to 1."""


def views(movement: str, direction: str | None, chance: np.random.Generator, length_s: float) -> Course:
    """A camera's view over time: the assembly builder's amounts, from a third of the speed up."""
    much = float(chance.uniform(0.35, 1.0)) * (1 if chance.random() < 0.5 else -1)
    way = abs(much) * {"right": 1, "down": 1, "out": 1, "left": -1, "up": -1, "in": -1}.get(direction or "", 0)
    match movement:
        case "pan":
            return lambda at: View(centre_x=0.36 * way * (2 * at - 1))
        case "tilt":
            return lambda at: View(centre_y=0.36 * way * (2 * at - 1))
        case "zoom":
            return lambda at: View(share=BASE_SHARE * 1.5 ** (way * (at - 0.5)))
        case "roll":
            turn = abs(much) * (1 if direction == "clockwise" else -1)
            return lambda at: View(roll_deg=14 * turn * (2 * at - 1))
        case "handheld":
            return _hand(chance, length_s)
    return lambda _: View()


def _hand(chance: np.random.Generator, length_s: float) -> Course:
    """Sways and trembles: sums of sines from half a hertz to six, less the quicker they are."""
    rates_hz = np.array([0.5, 0.9, 1.7, 3.1, 5.9])
    sizes = float(chance.uniform(0.6, 1.8)) * np.array([0.02, 0.018, 0.01, 0.005, 0.0025])
    phases = chance.uniform(0, 2 * np.pi, (3, len(rates_hz)))
    factors = chance.normal(1, 0.3, (3, len(rates_hz)))

    def view(at: float) -> View:
        x, y, turn = (sizes * factors * np.sin(2 * np.pi * rates_hz * at * length_s + phases)).sum(axis=1)
        return View(centre_x=float(x), centre_y=float(y), roll_deg=float(turn) * 20)

    return view


CASES: tuple[tuple[str, str | None], ...] = (
    ("static", None),
    ("pan", "right"),
    ("pan", "left"),
    ("tilt", "up"),
    ("tilt", "down"),
    ("zoom", "in"),
    ("zoom", "out"),
    ("roll", "clockwise"),
    ("roll", "counterclockwise"),
    ("handheld", None),
)
DRAWN_CASES = (
    *CASES,
    ("truck", "right"),
    ("truck", "left"),
    ("boom", "up"),
    ("boom", "down"),
    ("push", "in"),
    ("push", "out"),
)


def real_films(media: Path, folder: Path, which: str, seeds: Sequence[int]) -> Iterator[Film]:
    """Every case over every stretch of a set."""
    for number, stretch in enumerate(STRETCHES[which]):
        pictures = read(media / stretch.clip, stretch.start_s, 1 if stretch.held else 90)
        for seed, (movement, direction) in itertools.product(seeds, CASES):
            chance = np.random.default_rng([seed, number, CASES.index((movement, direction))])
            count = int(chance.integers(38, 88))
            source = pictures * count if stretch.held else _bounced(pictures, count)
            view = views(movement, direction, chance, count / FPS)
            size = _size(pictures[0])
            frames = (seen(picture, view(n / (count - 1)), size) for n, picture in enumerate(source))
            name = f"{Path(stretch.clip).stem}@{stretch.start_s:g} {movement} {direction or ''} {seed}".replace(
                " ", "_"
            )
            yield Film(name, write(folder / f"{name}.mp4", frames), movement, direction)


def _bounced(pictures: list[Picture], count: int) -> list[Picture]:
    """As many pictures as asked for: forth, and back where there are too few."""
    there_and_back = pictures + pictures[-2:0:-1]
    return [there_and_back[n % len(there_and_back)] for n in range(count)]


def _size(picture: Picture) -> tuple[int, int]:
    height = max(round(picture.shape[0] * 2 / 3 * BASE_SHARE), 144) // 2 * 2
    return round(height * picture.shape[1] / (picture.shape[0] * 2 / 3)) // 2 * 2, height


def drawn_films(folder: Path, seeds: Sequence[int]) -> Iterator[Film]:
    for seed, (movement, direction) in itertools.product(seeds, DRAWN_CASES):
        chance = np.random.default_rng([seed, 77, DRAWN_CASES.index((movement, direction))])
        count = int(chance.integers(40, 90))
        name = f"drawn_{movement}_{direction or ''}_{seed}"
        frames = drawn(movement, direction, chance, count)
        yield Film(name, write(folder / f"{name}.mp4", frames, "bgr24"), movement, direction)


def drawn(movement: str, direction: str | None, chance: np.random.Generator, count: int) -> Iterator[Picture]:
    """Layers at depths 1 to 5, and a subject that walks across the nearest but one.

    A camera that turns moves all layers alike, up to the bend of its lens; one that travels moves each by its depth.
    """
    depths = np.array([5.0, 3.0, 1.8, 1.0])
    layers = [_layer(chance, number) for number in range(len(depths))]
    speed = float(chance.uniform(0.12, 0.45))
    sign = {"right": 1, "down": 1, "in": 1, "clockwise": 1}.get(direction or "", -1 if direction else 0)
    hand = _hand(chance, count / FPS)
    walk, stride = float(chance.uniform(-0.5, 0.0)), float(chance.uniform(0.1, 0.3))
    walker = _layer(chance, 9)[300:460, 300:360, :3].copy()
    for number in range(count):
        at = number / FPS - count / FPS / 2
        picture = np.zeros((SIZE_PX[1], SIZE_PX[0], 3), np.uint8)
        for layer, depth in zip(layers, depths, strict=True):
            x = y = turn = 0.0
            growth = 1.0
            if movement in ("pan", "truck"):
                x = sign * speed * at * (2 / depth if movement == "truck" else 1)
            elif movement in ("tilt", "boom"):
                y = sign * speed * at * (2 / depth if movement == "boom" else 1)
            elif movement == "zoom":
                growth = np.exp(0.8 * sign * speed * at)
            elif movement == "push":
                growth = depth / max(0.3, depth - 1.2 * sign * speed * at)
            elif movement == "roll":
                turn = sign * speed * at * 0.7
            elif movement == "handheld":
                view = hand(number / max(1, count - 1))
                x, y, turn = view.centre_x, view.centre_y, np.radians(view.roll_deg)
            picture = _over(picture, layer, x, y, growth, turn)
            if depth == 1.8:
                _walk(picture, walker, walk + stride * number / FPS - x)
        yield _bent(picture, movement)


def _layer(chance: np.random.Generator, number: int) -> Picture:
    """Soft patches with texture; nearer layers are things with gaps between them. BGRA, larger than the screen."""
    height, width = 3 * SIZE_PX[1], 3 * SIZE_PX[0]
    soft = cv2.resize(chance.uniform(30, 225, (9, 14, 3)).astype(np.float32), (width, height))
    grain = cv2.GaussianBlur(chance.normal(0, 70, (height, width, 1)).astype(np.float32), (0, 0), 1.6)
    colour = np.clip(soft + grain[..., None], 0, 255)
    alpha = np.full((height, width), 255, np.uint8)
    if number in (1, 2, 3):
        alpha[:] = 0
        for _ in range(26):
            x, y = int(chance.integers(0, width)), int(chance.integers(0, height))
            w, h = chance.integers(20, 70, 2)
            cv2.rectangle(alpha, (x, y), (x + int(w), y + int(h)), 255, -1)
    return np.dstack([colour.astype(np.uint8), alpha])


def _over(ground: Picture, layer: Picture, x: float, y: float, growth: float, turn: float) -> Picture:
    """A layer seen by a camera that moved right by x and down by y (heights), grew and turned clockwise."""
    width, height = SIZE_PX
    cosine, sine = growth * np.cos(-turn), growth * np.sin(-turn)
    middle = np.array([layer.shape[1] / 2, layer.shape[0] / 2])
    linear = np.array([[cosine, -sine], [sine, cosine]])
    shift = np.array([width / 2, height / 2]) - linear @ middle - np.array([x, y]) * height
    seen_layer = cv2.warpAffine(layer, np.column_stack([linear, shift]), (width, height), flags=cv2.INTER_LINEAR)
    share = seen_layer[..., 3:].astype(np.float32) / 255
    return np.asarray(ground * (1 - share) + seen_layer[..., :3] * share, np.uint8)


def _walk(picture: Picture, walker: Picture, x: float) -> None:
    left = int((x + 0.5 * SIZE_PX[0] / SIZE_PX[1]) * SIZE_PX[1])
    shown = range(max(0, left), min(SIZE_PX[0], left + walker.shape[1]))
    if len(shown):
        picture[50 : 50 + walker.shape[0], shown.start : shown.stop] = walker[:, shown.start - left : shown.stop - left]


def _bent(picture: Picture, movement: str) -> Picture:
    """What a lens of 60 degrees does to a picture of a cylinder: points near the sides move faster in a pan."""
    if movement not in ("pan", "tilt"):
        return picture
    height, width = picture.shape[:2]
    x, y = np.meshgrid(np.arange(width) - width / 2, np.arange(height) - height / 2)
    along, across = (x, y) if movement == "pan" else (y, x)
    focal = width / 2 / np.tan(np.radians(30))
    angle = np.arctan2(along, focal)
    source = (focal * angle, across * np.cos(angle))
    map_x, map_y = source if movement == "pan" else source[::-1]
    return np.asarray(
        cv2.remap(
            picture, (map_x + width / 2).astype(np.float32), (map_y + height / 2).astype(np.float32), cv2.INTER_LINEAR
        )
    )


def read(path: Path, start_s: float, count: int) -> list[Picture]:
    """Planar YUV 4:2:0 frames of a clip, at most 720 pixels wide."""
    found: list[Picture] = []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        origin_s = float((stream.start_time or 0) * (stream.time_base or 0))
        for frame in container.decode(stream):
            if frame.time is not None and frame.time >= start_s + origin_s:
                width = min(frame.width, 720) // 2 * 2
                height = round(frame.height * width / frame.width) // 2 * 2
                found.append(frame.reformat(width, height, "yuv420p").to_ndarray())
            if len(found) == count:
                break
    return found


def write(path: Path, frames: Iterator[Picture], pixel_format: str = "yuv420p") -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"crf": "21", "preset": "veryfast"})
        stream.pix_fmt = "yuv420p"
        for number, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format=pixel_format)
            if number == 0:
                stream.width, stream.height = frame.width, frame.height
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path
