"""The demo's page: contact sheets, deliverables and scores, in one file that needs nothing else."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from jinja2 import Environment, PackageLoader, select_autoescape

from avb_mcp import __version__
from avb_mcp.agents._client import Reply, Tools, serve
from avb_mcp.agents.runner import WORKSPACE, Run
from avb_mcp.demo.scenery import Pixels
from avb_mcp.demo.shots import STORY
from avb_mcp.tasks.spec import BRIEF_FILE, answers_of, workspace_of
from primitives._sheet import GAP_PX
from primitives._task import Family

SHEET_WIDTH_PX, QUALITY = 1040, 80
COLUMNS, CELLS = 4, 12
SHOWN = "autopilot"
"""The agent whose work is shown."""
TITLES = {
    Family.SEQUENCING: ("Sequencing", "Put shuffled clips back in order."),
    Family.REPAIR: ("Repair", "Find what is wrong with a film, and put it right."),
    Family.ASSEMBLY: ("Assembly", "Pick the clip that fits each slot of a storyboard."),
    Family.REPURPOSE: ("Repurpose", "Cut a short version to a client's delivery sheet."),
}


@dataclass(frozen=True)
class Picture:
    caption: str
    data: str
    """JPEG in base64."""


@dataclass(frozen=True)
class Score:
    agent: str
    text: str
    share: float
    """0 to 1, for the bar."""
    elapsed_s: float
    calls: int


@dataclass(frozen=True)
class Section:
    """One task on the page."""

    title: str
    line: str
    task: str
    said: str
    """The first paragraph of the brief that is not a heading."""
    asked: list[str]
    """Delivery requirements, where the brief has them."""
    scores: list[Score]
    components: list[tuple[str, float]]
    reasons: list[str]
    shown: str
    """Whose work is shown."""
    calls: list[tuple[str, int]]
    pictures: list[Picture]


def write_page(out: Path, film: Path, suite: Path, runs: Sequence[Run]) -> Path:
    """Write index.html; look at films through the tools, as everybody does."""
    tasks = list(dict.fromkeys(run.task for run in runs))
    sections = [_section(out, suite, [run for run in runs if run.task == task]) for task in tasks]
    hero, seen = _hero(out, film)
    environment = Environment(
        loader=PackageLoader("avb_mcp.demo", "."), autoescape=select_autoescape(default=True), trim_blocks=True
    )
    text = environment.get_template("page.html.j2").render(
        story=STORY,
        hero=hero,
        seen=seen,
        agents=list(dict.fromkeys(run.agent for run in runs)),
        sections=sections,
        means=_means(runs),
        tools=runs[0].tools,
        version=__version__,
    )
    page = out / "index.html"
    page.write_text(text, encoding="utf-8")
    return page


def _means(runs: Sequence[Run]) -> dict[str, float]:
    scores: dict[str, list[float]] = {}
    for run in runs:
        scores.setdefault(run.agent, []).append(run.score or 0.0)
    return {agent: float(np.mean(values)) for agent, values in scores.items()}


def _hero(out: Path, film: Path) -> tuple[Picture, list[tuple[str, str]]]:
    """The film's own contact sheet, and what else an agent gets to see."""
    folder = out / "look"
    (folder / "materials").mkdir(parents=True, exist_ok=True)
    target = folder / "materials" / film.name
    shutil.copyfile(film, target)
    path = f"materials/{film.name}"
    with serve(folder) as tools:
        sheet = _sheet(tools, "the film, by frame_grid", path=path, count=20)
        cut = tools.call("scene_cuts", path=path).text.splitlines()
        wrong = tools.try_call("frame_grid", path=path, start_s=99).text
    shown = [
        (f"scene_cuts path={path}", "\n".join([*cut[:12], " ..."])),
        (f"frame_grid path={path} start_s=99", wrong),
    ]
    return sheet, shown


def _section(out: Path, suite: Path, runs: Sequence[Run]) -> Section:
    first, shown = runs[0], next((run for run in runs if run.agent == SHOWN), runs[-1])
    title, line = TITLES[first.family]
    brief = (workspace_of(suite, first.task) / BRIEF_FILE).read_text(encoding="utf-8")
    return Section(
        title=title,
        line=line,
        task=first.task,
        said=_said(brief),
        asked=_asked(brief),
        scores=[_score(run) for run in runs],
        components=sorted(shown.components.items()),
        reasons=shown.reasons[:3],
        shown=shown.agent,
        calls=list(shown.calls.items()),
        pictures=_pictures(out, answers_of(suite, first.task), shown),
    )


def _score(run: Run) -> Score:
    text = f"{run.score:.2f}" if run.score is not None else run.status
    return Score(run.agent, text, run.score or 0.0, run.elapsed_s, sum(run.calls.values()))


def _said(brief: str) -> str:
    """What the task says first, without headings."""
    parts = [part.strip() for part in brief.split("\n\n") if part.strip() and not part.startswith("#")]
    return " ".join(parts[0].replace("`", "").split())


def _asked(brief: str) -> list[str]:
    """The lines of a delivery sheet."""
    _, _, rest = brief.partition("## Delivery")
    return [line.removeprefix("- ") for line in rest.splitlines() if line.startswith("- ")]


def _pictures(out: Path, answers: Path, run: Run) -> list[Picture]:
    folder = out / "runs" / run.task / run.agent / WORKSPACE
    if run.error is not None or not any((folder / "outputs").iterdir()):
        return []
    with serve(folder) as tools:
        if run.family is Family.REPAIR:
            start_s, end_s = _window(answers)
            around = {"start_s": max(0.0, start_s - 0.6), "end_s": end_s + 0.6, "count": CELLS}
            return [
                _sheet(tools, "as it came, around the damage", path="materials/broken.mp4", **around),
                _sheet(tools, "the same time in the film that was handed in", path="outputs/fixed.mp4", **around),
            ]
        if run.family is Family.REPURPOSE:
            handed_in = tools.call("frame_grid", path="outputs/final.mp4", count=CELLS)
            return [_picture("the film that was handed in", _tiled(_cells(handed_in)))]
        media = [item["path"] for item in tools.call("probe").data["media"]]
        clips = sorted((path for path in media if "/clips/" in path), key=lambda path: int(Path(path).stem))
        handed_in = tools.call("frame_grid", path="outputs/solution.mp4", times_s=_places(folder))
        return [
            _clips(tools, "the clips as they came, by name", clips),
            _picture("the film that was handed in, clip by clip", _tiled(_cells(handed_in))),
        ]


def _places(folder: Path) -> list[float]:
    """The middle of every clip of a solution."""
    solution = json.loads((folder / "outputs" / "solution.json").read_text(encoding="utf-8"))
    return [round((start_s + end_s) / 2, 3) for start_s, end_s in (item["output"] for item in solution["segments"])]


def _window(answers: Path) -> tuple[float, float]:
    """Where the damage is."""
    truth = json.loads((answers / "truth.json").read_text(encoding="utf-8"))
    span = truth["window"] if truth.get("window") else truth["ranges"][0]
    return span["start_s"], span["end_s"]


def _clips(tools: Tools, caption: str, clips: Sequence[str]) -> Picture:
    """The middle frame of every clip."""
    cells: list[Pixels] = []
    for first in range(0, len(clips), COLUMNS):
        cells += _cells(tools.call("frame_grid", paths=list(clips[first : first + COLUMNS]), count=1))
    return _picture(caption, _tiled(cells))


def _cells(reply: Reply) -> list[Pixels]:
    """The cells of a sheet, with their labels."""
    sheet, data = _decoded(reply), reply.data
    columns, rows = (int(number) for number in re.findall(r"(\d+) (?:columns|rows)", data["sheet"]))
    wide, high = (sheet.shape[1] - GAP_PX) // columns, (sheet.shape[0] - GAP_PX) // rows
    places = [divmod(number, columns) for number in range(len(data["cells"]))]
    return [sheet[row * high : (row + 1) * high, column * wide : (column + 1) * wide] for row, column in places]


def _tiled(cells: Sequence[Pixels]) -> Pixels:
    """Cells in rows of four."""
    size = cells[0].shape
    alike = [cell if cell.shape == size else np.asarray(cv2.resize(cell, size[1::-1]), np.uint8) for cell in cells]
    alike += [np.full(size, 24, np.uint8)] * (-len(alike) % COLUMNS)
    return np.vstack([np.hstack(alike[at : at + COLUMNS]) for at in range(0, len(alike), COLUMNS)])


def _sheet(tools: Tools, caption: str, **arguments: object) -> Picture:
    """A contact sheet as the tool gives it, made smaller for the page."""
    return _picture(caption, _decoded(tools.call("frame_grid", **arguments)))


def _decoded(reply: Reply) -> Pixels:
    assert reply.image is not None
    return np.asarray(cv2.imdecode(np.frombuffer(reply.image, np.uint8), cv2.IMREAD_COLOR), np.uint8)


def _picture(caption: str, pixels: Pixels) -> Picture:
    scale = min(1.0, SHEET_WIDTH_PX / pixels.shape[1])
    small = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    _, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return Picture(caption, base64.b64encode(data.tobytes()).decode("ascii"))
