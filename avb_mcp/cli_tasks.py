"""The commands of a benchmark author: build, import, check, approve, reseal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

SuiteFolder = Annotated[Path, typer.Argument(help="The suite's folder.")]
Out = Annotated[Path, typer.Option("--out", help="The suite: a new folder, or one to add tasks to.")]
Licence = Annotated[
    list[str] | None, typer.Option("--licence", help="Terms of the footage: once for all sources, or once for each.")
]
Provenance = Annotated[
    list[str] | None, typer.Option("--provenance", help="Where the footage comes from: once, or once for each.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(build)


def build(
    family: Annotated[str, typer.Argument(help="repair, sequencing, assembly or repurpose.")],
    source: Annotated[list[Path], typer.Option("--source", help="A film to make tasks from; may be given again.")],
    out: Out,
    seed: Annotated[int, typer.Option(help="The same seed and sources give the same tasks.")],
    count: Annotated[int, typer.Option(help="How many tasks.")] = 1,
    prefix: Annotated[str | None, typer.Option(help="Stands before every task id.")] = None,
    licence: Licence = None,
    provenance: Provenance = None,
    kinds: Annotated[
        str | None, typer.Option(help="repair: defects to inject in turn, separated by commas. Default: all.")
    ] = None,
    scheme: Annotated[str | None, typer.Option(help="repair: scored by h1 (the paper) or v3 (the release).")] = None,
    min_s: Annotated[float | None, typer.Option(help="repair: shortest stretch of the source.")] = None,
    max_s: Annotated[float | None, typer.Option(help="repair: longest stretch of the source.")] = None,
    min_clips: Annotated[int | None, typer.Option(help="sequencing: fewest clips.")] = None,
    max_clips: Annotated[int | None, typer.Option(help="sequencing: most clips.")] = None,
    overview: Annotated[str | None, typer.Option(help="sequencing: the story in a sentence or two.")] = None,
    slots: Annotated[int | None, typer.Option(help="assembly: slots of the storyboard.")] = None,
    distractors: Annotated[int | None, typer.Option(help="assembly: wrong candidates per slot.")] = None,
    brief: Annotated[Path | None, typer.Option(help="repurpose: the creative brief.")] = None,
    rubric: Annotated[Path | None, typer.Option(help="repurpose: the rubric. Default: a starter rubric.")] = None,
) -> None:
    """Build tasks of one family from your own footage."""
    from avb_mcp.tasks.build import build_suite, make_request

    given = {
        "seed": seed,
        "count": count,
        "prefix": prefix,
        "kinds": None if kinds is None else tuple(name.strip() for name in kinds.split(",") if name.strip()),
        "scheme": scheme,
        "min_s": min_s,
        "max_s": max_s,
        "min_clips": min_clips,
        "max_clips": max_clips,
        "overview": overview,
        "slots": slots,
        "distractors": distractors,
        "brief": brief,
        "rubric": rubric,
    }
    sys.exit(build_suite(family, source, out, make_request(given), licence or (), provenance or ()))
