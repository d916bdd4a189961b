"""The commands of a benchmark author: build, import, check, approve, reseal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from avb_mcp.harbor import cli_harbor
from primitives._base import UserError

SuiteFolder = Annotated[Path, typer.Argument(help="The suite's folder.")]
Out = Annotated[Path, typer.Option("--out", help="The suite: a new folder, or one to add tasks to.")]
Media = Annotated[Path, typer.Option("--media", help="The folder of the media; what is downloaded goes there too.")]
Tasks = Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")]
Licence = Annotated[
    list[str] | None, typer.Option("--licence", help="Terms of the footage: once for all sources, or once for each.")
]
Provenance = Annotated[
    list[str] | None, typer.Option("--provenance", help="Where the footage comes from: once, or once for each.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (build, check, approve, reseal):
        app.command()(command)
    importing = typer.Typer(no_args_is_help=True, help="Make tasks of others into a suite.")
    importing.command(name="dataset")(import_dataset)
    importing.command(name="release")(import_release)
    importing.command(name="harbor-job")(cli_harbor.import_job)
    app.add_typer(importing, name="import")


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
    cut_inside: Annotated[
        bool | None, typer.Option("--cut-inside", help="sequencing: also cut inside shots where there are too few.")
    ] = None,
    slots: Annotated[int | None, typer.Option(help="assembly: slots of the storyboard.")] = None,
    distractors: Annotated[int | None, typer.Option(help="assembly: wrong candidates per slot.")] = None,
    variables: Annotated[
        str | None, typer.Option(help="assembly: cinematic variables that distractors change. Default: all four.")
    ] = None,
    shot_list: Annotated[
        Path | None, typer.Option(help="assembly: described stretches as JSON, for the slots.")
    ] = None,
    generator: Annotated[str | None, typer.Option(help="assembly: a command that makes the distractors.")] = None,
    brief: Annotated[Path | None, typer.Option(help="repurpose: the creative brief.")] = None,
    rubric: Annotated[Path | None, typer.Option(help="repurpose: the rubric. Default: a starter rubric.")] = None,
    delivery: Annotated[Path | None, typer.Option(help="repurpose: delivery requirements as JSON.")] = None,
) -> None:
    """Build tasks of one family from your own footage."""
    from avb_mcp.tasks.build import build_suite, make_request

    given = {
        "seed": seed,
        "count": count,
        "prefix": prefix,
        "kinds": _names(kinds),
        "scheme": scheme,
        "min_s": min_s,
        "max_s": max_s,
        "min_clips": min_clips,
        "max_clips": max_clips,
        "overview": overview,
        "cut_inside": cut_inside,
        "slots": slots,
        "distractors": distractors,
        "variables": _names(variables),
        "shot_list": shot_list,
        "generator": generator,
        "brief": brief,
        "rubric": rubric,
        "delivery": delivery,
    }
    sys.exit(build_suite(family, source, out, make_request(given), licence or (), provenance or ()))


def import_dataset(
    dataset: Annotated[Path, typer.Argument(help="The public dataset: a parquet file, or the folder that holds it.")],
    media: Media,
    out: Out,
    profiles: Annotated[Path | None, typer.Option(help="Repair rows: the folder of the cells' profiles.")] = None,
    task_id: Annotated[list[int] | None, typer.Option("--task-id", help="Only this row; may be given again.")] = None,
    honesty: Annotated[
        bool, typer.Option("--honesty", help="Compare renders with the clips. Scores then differ from the paper's.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
    prefix: Annotated[str, typer.Option(help="Stands before every task id.")] = "",
    licence: Annotated[str, typer.Option(help="Terms of the footage.")] = "",
) -> None:
    """Import rows of the public dataset."""
    from avb_mcp.tasks.importers.dataset import Options
    from avb_mcp.tasks.importers.dataset import import_dataset as run

    run(dataset, media, out, Options(profiles, honesty, offline, prefix, licence), task_id or [])


def import_release(
    folder: Annotated[Path, typer.Argument(help="The release: tasks/<family>/<task>/task.toml.")],
    media: Media,
    out: Out,
    task: Tasks = None,
    prefix: Annotated[str, typer.Option(help="Stands before every task id.")] = "",
    licence: Annotated[str, typer.Option(help="Terms of the footage.")] = "",
) -> None:
    """Import the release's task folders."""
    from avb_mcp.tasks.importers.release import import_release as run

    run(folder, media, out, prefix=prefix, licence=licence, tasks=task)


def check(
    suite: Annotated[Path | None, typer.Argument(help="A suite's folder. Without it: the verifiers alone.")] = None,
    gate: Annotated[
        list[str] | None, typer.Option("--gate", help="authoring, asset, review or verifier; may be given again.")
    ] = None,
    task: Tasks = None,
    as_json: Annotated[bool, typer.Option("--json", help="The result for programs.")] = False,
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Try every known trick: on the suite's tasks, or on every verifier.")
    ] = False,
    family: Annotated[str, typer.Option(help="Without a suite: only this family of --attacks.")] = "",
    media: Annotated[
        Path | None, typer.Option(help="Without a suite: real films for --attacks instead of generated ones.")
    ] = None,
) -> None:
    """Check a suite by the four gates, or that every known trick gets its stated reward."""
    if suite is None:
        if not attacks:
            raise UserError("Nothing to check. Give a suite's folder, or --attacks.")
        from avb_mcp.attacks.table import check_attacks

        sys.exit(check_attacks(family, media))
    if family or media:
        raise UserError("--family and --media are for the verifiers alone. Leave them out, or leave the suite out.")
    from avb_mcp.tasks.check.run import as_json as json_of
    from avb_mcp.tasks.check.run import attack_tasks, check_suite, gates_named, print_table

    if attacks:
        sys.exit(attack_tasks(suite, task or []))
    checked = check_suite(suite, gates_named(gate or []), task or [])
    if as_json:
        typer.echo(json_of(checked))
    else:
        print_table(checked)
    sys.exit(0 if checked.passed else 1)


def approve(
    suite: SuiteFolder,
    by: Annotated[str, typer.Option("--by", help="Your name. Two people approve a task.")],
    task: Tasks = None,
    note: Annotated[str, typer.Option(help="What you looked at.")] = "",
) -> None:
    """Record that you have looked at tasks and stand by them as they are now."""
    from avb_mcp.tasks.check.approvals import approve as record

    new = record(suite, by, task or [], note)
    typer.echo(f"{by} approves {len(new)} tasks of {suite}." if new else f"{by} had approved these tasks already.")


def reseal(suite: SuiteFolder, task: Tasks = None) -> None:
    """Take files edited on purpose into suite.json; the changed tasks lose their approvals."""
    from avb_mcp.tasks.check.approvals import reseal as take

    changed = take(suite, task or [])
    typer.echo(f"Changed: {', '.join(changed)}. They need new approvals." if changed else "Nothing has changed.")


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())
