"""A film small enough to make per test run: a grey level per second, so that frames differ."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

FPS = 10
WIDTH_PX, HEIGHT_PX = 192, 108


def make_film(path: Path, seconds: int = 4) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
        for index in range(seconds * FPS):
            level = 40 + 160 * (index // FPS) // max(1, seconds - 1)
            pixels = np.full((HEIGHT_PX, WIDTH_PX, 3), level, np.uint8)
            pixels[:, : 4 * (index % FPS)] = 255 - level
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
