"""`make demo`: a small film, a real server, a real client, and the contact sheet that came back.

The film is drawn here: four scenes with camera moves, a clock in the picture and a tone per scene, so the
demo needs no network and no footage.
"""

from __future__ import annotations

import base64
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import anyio
import av
import cv2
import mcp_types as types
import numpy as np
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.text import Text

FPS = 25
WIDTH_PX, HEIGHT_PX = 640, 360
SCENE_S = 3
RATE_HZ = 48_000
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Scene:
    """A drawn scene: sky and ground, a subject, a camera move, and the tone that plays."""

    title: str
    sky_bgr: tuple[int, int, int]
    ground_bgr: tuple[int, int, int]
    pan: float
    zoom: float
    tone_hz: float


SCENES = (
    Scene("harbour", (196, 148, 92), (120, 84, 40), pan=1.0, zoom=0.0, tone_hz=220.0),
    Scene("meadow", (226, 190, 140), (70, 150, 88), pan=0.0, zoom=0.5, tone_hz=277.2),
    Scene("desert", (150, 190, 236), (96, 158, 206), pan=-1.0, zoom=0.0, tone_hz=329.6),
    Scene("night", (64, 36, 24), (40, 40, 36), pan=0.4, zoom=-0.3, tone_hz=440.0),
)


def run_demo(out: Path) -> None:
    """The whole demo; prints what an agent would see."""
    console = Console(highlight=False, soft_wrap=True)
    film = out / "materials" / "film.mp4"
    film.parent.mkdir(parents=True, exist_ok=True)
    make_film(film)
    console.print(f"made      {film} ({len(SCENES)} scenes, {len(SCENES) * SCENE_S} s)")
    anyio.run(_talk, out, console)


async def _talk(out: Path, console: Console) -> None:
    """Start the server as a harness would, list the tools, call them."""
    command = StdioServerParameters(command=sys.executable, args=["-m", "avb_mcp", "serve", "--workspace", str(out)])
    console.print(f"serving   avb-mcp serve --workspace {out}")
    async with Client(command) as client:
        listed = (await client.list_tools()).tools
        console.print(f"tools     {', '.join(tool.name for tool in listed)}")
        await _show(client, console, out, "probe", {"path": "materials/film.mp4"})
        sheet = await _show(client, console, out, "frame_grid", {"path": "materials/film.mp4", "count": 12})
        edge = {"path": "materials/film.mp4", "start_s": 2.84, "end_s": 3.16, "all_frames": True}
        await _show(client, console, out, "frame_grid", edge, name="cut")
        await _show(client, console, out, "frame_grid", {"path": "materials/film.mp4", "start_s": 99})
    if sheet is not None and console.is_terminal:
        console.print(_blocks(sheet, min(console.width, 120)))


async def _show(
    client: Client, console: Console, out: Path, tool: str, arguments: dict[str, object], name: str = "sheet"
) -> Path | None:
    """One call, as the agent sees it."""
    words = " ".join(f"{key}={value}" for key, value in arguments.items())
    console.print(f"\n[bold]> {tool} {words}[/bold]")
    result = await client.call_tool(tool, arguments)
    picture: Path | None = None
    for block in result.content:
        if isinstance(block, types.TextContent):
            lines = block.text.splitlines()
            shown = lines if len(lines) <= 12 else [*lines[:11], f" ... {len(lines) - 11} more lines"]
            console.print("\n".join(shown), markup=False)
        elif isinstance(block, types.ImageContent):
            picture = out / f"{name}.jpg"
            picture.write_bytes(base64.b64decode(block.data))
            console.print(f"[image/jpeg, {picture.stat().st_size // 1000} kB] saved as {picture}", markup=False)
    return picture


def make_film(path: Path) -> None:
    """Draw, play and encode the film."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=FPS, options={"crf": "20", "preset": "veryfast", "g": "50"})
        video.width, video.height, video.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
        audio = container.add_stream("aac", rate=RATE_HZ, layout="mono")
        frames = len(SCENES) * SCENE_S * FPS
        for number in track(range(frames), description="drawing a film", transient=True, console=Console(stderr=True)):
            picture = av.VideoFrame.from_ndarray(draw(number), format="bgr24")
            picture.pts, picture.time_base = number, Fraction(1, FPS)
            container.mux(video.encode(picture))
            container.mux(audio.encode(_tone(number)))
        container.mux(video.encode(None))
        container.mux(audio.encode(None))


def draw(number: int) -> Pixels:
    """One frame: a landscape under a moving camera, and a clock."""
    scene = SCENES[number // (SCENE_S * FPS)]
    share = number % (SCENE_S * FPS) / (SCENE_S * FPS)
    world = np.empty((HEIGHT_PX * 2, WIDTH_PX * 2, 3), dtype=np.uint8)
    world[:HEIGHT_PX], world[HEIGHT_PX:] = scene.sky_bgr, scene.ground_bgr
    rng = np.random.default_rng(SCENES.index(scene))
    for x, size in zip(rng.integers(0, WIDTH_PX * 2, 14).tolist(), rng.integers(14, 60, 14).tolist(), strict=True):
        shade = tuple(int(channel * 0.6) for channel in scene.ground_bgr)
        cv2.circle(world, (x, HEIGHT_PX - size // 3), size, shade, -1, cv2.LINE_AA)
        cv2.circle(world, (x, HEIGHT_PX + 40 + size * 3), size // 2, shade, -1, cv2.LINE_AA)
    cv2.circle(world, (int(WIDTH_PX * (0.7 + 0.6 * share)), HEIGHT_PX - 20), 26, (60, 70, 230), -1, cv2.LINE_AA)
    scale = 1.25 - scene.zoom * share
    centre_x = WIDTH_PX + scene.pan * (share - 0.5) * WIDTH_PX * 0.6
    left, top = centre_x - WIDTH_PX * scale / 2, HEIGHT_PX - HEIGHT_PX * scale / 2
    matrix = np.array([[scale, 0, left], [0, scale, top]], dtype=np.float32)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    view = np.asarray(cv2.warpAffine(world, matrix, (WIDTH_PX, HEIGHT_PX), flags=flags), dtype=np.uint8)
    clock = f"{scene.title}  {number / FPS:05.2f} s"
    cv2.putText(view, clock, (16, HEIGHT_PX - 18), (255, 255, 255), cv2.FontFace("sans"), 22, 500)
    return view


def _tone(number: int) -> av.AudioFrame:
    """The sound that belongs to one frame."""
    scene = SCENES[number // (SCENE_S * FPS)]
    samples = RATE_HZ // FPS
    time_s = (number * samples + np.arange(samples)) / RATE_HZ
    wave = 0.2 * np.sin(2 * np.pi * scene.tone_hz * time_s) * (0.6 + 0.4 * np.sin(2 * np.pi * 2 * time_s))
    frame = av.AudioFrame.from_ndarray(wave[None].astype(np.float32), format="fltp", layout="mono")
    frame.sample_rate, frame.pts, frame.time_base = RATE_HZ, number * samples, Fraction(1, RATE_HZ)
    return frame


def _blocks(path: Path, columns: int) -> Text:
    """The sheet in a terminal: two pixels per character."""
    picture = cv2.imread(str(path))
    assert picture is not None
    rows = int(columns * picture.shape[0] / picture.shape[1] / 2) * 2
    small = cv2.resize(picture, (columns, rows), interpolation=cv2.INTER_AREA)[:, :, ::-1]
    text = Text()
    for upper, lower in zip(small[::2], small[1::2], strict=True):
        for above, below in zip(upper.tolist(), lower.tolist(), strict=True):
            text.append("▀", style=f"rgb({above[0]},{above[1]},{above[2]}) on rgb({below[0]},{below[1]},{below[2]})")
        text.append("\n")
    return text
