"""Films with text whose words and frames are known: captions, clocks and scoreboards over real footage.

Fonts are those that Pillow finds by name (DejaVu) and the one that it brings; sizes, outlines, plates and colours vary.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Picture = NDArray[np.uint8]
FPS = 25
FONTS = (
    "DejaVuSans-Bold.ttf",
    "DejaVuSerif.ttf",
    "",
    "DejaVuSansCondensed.ttf",
    "DejaVuSansMono.ttf",
    "DejaVuSerif-Bold.ttf",
    "DejaVuSans.ttf",
)
"""By name; the empty one is Pillow's own."""
STYLES = ("outline", "plate", "shadow", "outline")
SENTENCE = """
the harbour was quiet before anyone had spoken about it and nobody knew why seven boats left early that morning with
fresh bread under canvas while a letter from London lay unread on the kitchen table
"""
WORDS = SENTENCE.split()


@dataclass(frozen=True)
class Shown:
    """A text on screen during frames `[first, last)`."""

    text: str
    first: int
    last: int
    place: tuple[float, float]
    """Left and top as shares of the picture; centred where left is negative."""
    size_px: int
    font: str
    style: str


def captions(chance: np.random.Generator, frames: int, height: int) -> list[Shown]:
    """Sentences one after another, some of two lines, some without a gap between them."""
    shown, at = [], int(chance.integers(5, 20))
    font, style = FONTS[int(chance.integers(len(FONTS)))], STYLES[int(chance.integers(len(STYLES)))]
    size = int(chance.integers(height // 20, height // 11))
    while at + 30 < frames:
        last = min(frames, at + int(chance.integers(25, 75)))
        count = int(chance.integers(2, 6))
        words = [WORDS[index] for index in chance.integers(0, len(WORDS), count)]
        text = " ".join(words).capitalize() + str(chance.choice([".", "?", "!", ""]))
        if chance.random() < 0.3:
            text += "\n" + " ".join(WORDS[index] for index in chance.integers(0, len(WORDS), 3)) + "."
        shown.append(
            Shown(text, at, last, (-1, 0.9 - 1.35 * size / height * (text.count("\n") + 1)), size, font, style)
        )
        at = last + int(chance.choice([0, 0, 8, 20]))
    return shown


def clock(chance: np.random.Generator, frames: int, height: int) -> list[Shown]:
    """A clock that counts seconds up, from anywhere."""
    now, at, shown = int(chance.integers(0, 5400)), int(chance.integers(0, FPS)), []
    font, style = FONTS[int(chance.integers(len(FONTS)))], STYLES[int(chance.integers(len(STYLES)))]
    size = int(chance.integers(height // 18, height // 10))
    bounds = [0, *range(at, frames, FPS), frames] if at else [*range(0, frames, FPS), frames]
    for number, (first, last) in enumerate(itertools.pairwise(bounds)):
        if last > first:
            text = f"{(now + number) // 60:02d}:{(now + number) % 60:02d}"
            shown.append(Shown(text, first, last, (0.05, 0.06), size, font, style))
    return shown


def scoreboard(chance: np.random.Generator, frames: int, height: int) -> list[Shown]:
    """Two teams whose goals come now and then."""
    goals, at, shown = [int(chance.integers(0, 4)), int(chance.integers(0, 4))], 0, []
    names = chance.permutation(["HOME", "AWAY", "RIVERS", "NORTH", "UNITED"])[:2]
    font, size = FONTS[int(chance.integers(len(FONTS)))], int(chance.integers(height // 18, height // 12))
    while at < frames:
        last = min(frames, at + int(chance.integers(30, 80)))
        if frames - last < 15:
            last = frames
        shown.append(
            Shown(f"{names[0]} {goals[0]} - {goals[1]} {names[1]}", at, last, (0.35, 0.05), size, font, "plate")
        )
        goals[int(chance.integers(2))] += 1
        at = last
    return shown


KINDS = {"captions": captions, "clock": clock, "scoreboard": scoreboard}


def draw(picture: Picture, shown: Shown) -> Picture:
    """An RGB picture with a text."""
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    font = _font(shown.font, shown.size_px)
    stroke = max(1, shown.size_px // 12) if shown.style == "outline" else 0
    box = pen.multiline_textbbox((0, 0), shown.text, font=font, stroke_width=stroke, align="center")
    width, height = picture.shape[1], picture.shape[0]
    left = (width - box[2]) / 2 if shown.place[0] < 0 else shown.place[0] * width
    top = shown.place[1] * height
    if shown.style == "plate":
        pad = shown.size_px // 3
        pen.rectangle(
            (left + box[0] - pad, top + box[1] - pad, left + box[2] + pad, top + box[3] + pad), fill=(18, 24, 60)
        )
    if shown.style == "shadow":
        pen.multiline_text((left + 2, top + 2), shown.text, font=font, fill=(0, 0, 0), align="center")
    colour = (255, 235, 90) if shown.style == "shadow" else (255, 255, 255)
    pen.multiline_text(
        (left, top), shown.text, font=font, fill=colour, align="center", stroke_width=stroke, stroke_fill=(0, 0, 0)
    )
    return np.asarray(image)


def _font(name: str, size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    try:
        return ImageFont.truetype(name, size_px) if name else ImageFont.load_default(size_px)
    except OSError:
        return ImageFont.load_default(size_px)


def footage(path: Path, start_s: float, count: int, width: int = 640) -> list[Picture]:
    """RGB frames of a clip; it plays back and forth where it is short."""
    found: list[Picture] = []
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            if frame.time is not None and frame.time >= start_s:
                height = round(frame.height * width / frame.width) // 2 * 2
                found.append(frame.reformat(width, height, "rgb24").to_ndarray())
            if len(found) == count:
                break
    there_and_back = found + found[-2:0:-1]
    return [there_and_back[n % len(there_and_back)] for n in range(count)]


def write(path: Path, ground: Sequence[Picture], texts: Sequence[Shown]) -> Path:
    """The footage with its texts, as H.264 at crf 21."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"crf": "21", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = ground[0].shape[1], ground[0].shape[0], "yuv420p"
        for number, picture in enumerate(ground):
            for shown in texts:
                if shown.first <= number < shown.last:
                    picture = draw(picture, shown)
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path
