"""Films by x264 with the structures that encoders use: pyramids, many references, slices, open groups."""

from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

from tests.scenery import landscape

FRAMES = 64
ENCODERS = {
    "reference B pictures": "bframes=3:ref=3:b-pyramid=normal:keyint=40",
    "strict pyramid": "bframes=7:ref=4:b-pyramid=strict:b-adapt=0:keyint=40",
    "one reference": "bframes=2:ref=1:keyint=50:weightp=0",
    "no B pictures": "bframes=0:ref=4:keyint=64",
    "weights": "bframes=3:ref=5:weightp=2:weightb=1:keyint=64",
    "CAVLC": "cabac=0:bframes=3:ref=2:keyint=40",
    "slices": "slices=4:bframes=3:ref=3:keyint=40",
    "temporal direct": "direct=temporal:bframes=3:ref=3:keyint=40",
    "no 8x8, no deblocking": "8x8dct=0:no-deblock=1:bframes=3:ref=6:keyint=64",
    "open groups": "open-gop=1:bframes=3:ref=3:keyint=16",
    "intra refresh": "intra-refresh=1:ref=3:bframes=2:keyint=30",
    "many references": "ref=16:bframes=3:keyint=64",
}


def make(path: Path, params: str, profile: str = "high", size_px: tuple[int, int] = (150, 84)) -> Path:
    """A pan over texture with something that moves on its own. The size is no multiple of a macroblock."""
    width, height = size_px
    scene = landscape(3, width_px=width + FRAMES, height_px=height)
    with av.open(str(path), "w") as container:
        options = {"x264-params": f"{params}:scenecut=0:threads=1", "profile": profile, "crf": "24"}
        video = container.add_stream("libx264", rate=25, options=options)
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        for number in range(FRAMES):
            picture = np.ascontiguousarray(scene[:, number // 2 : number // 2 + width])
            cv2.circle(picture, (10 + number * 2, 30 + number % 7), 12, (240, 30, number * 3), -1)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 25)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
    return path
