"""Asset gate: the files are those of the manifest, decode cleanly, come from somewhere, and may be used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from avb_mcp.tasks.check import leaks
from avb_mcp.tasks.check._base import Finding, GateName, Subject
from avb_mcp.tasks.spec import ANSWERS, MATERIALS, TASKS
from verifiers._media import MediaError
from verifiers.video_repurpose.film import watch
from verifiers.video_repurpose.measures.decode import DecodeFaults

GATE = GateName.ASSET


def check(subject: Subject) -> Iterator[Finding]:
    for sentence in (*_manifest(subject), *_materials(subject), *_sources(subject), *leaks.in_task(subject)):
        yield subject.fault(GATE, sentence)
    for path in subject.media():
        for sentence in _decodes(path):
            yield subject.fault(GATE, sentence)


def check_suite(subjects: list[Subject]) -> Iterator[Finding]:
    """Folders that suite.json does not know, and what the tasks tell only together."""
    folder, suite = subjects[0].folder, subjects[0].suite
    known = {entry.id for entry in suite.tasks}
    for name in (TASKS, ANSWERS):
        for path in sorted((folder / name).iterdir() if (folder / name).is_dir() else []):
            if path.name not in known:
                yield Finding(GATE, "", f"{name}/{path.name} is not listed in suite.json")
    checked = {subject.entry.id for subject in subjects}
    yield from (finding for finding in leaks.shared_files(folder) if finding.task in checked)
    yield from leaks.over_suite(subjects)


def _manifest(subject: Subject) -> Iterator[str]:
    """suite.json against the disk, both ways."""
    listed, found = subject.entry.files, subject.hashes
    for name in sorted(listed.keys() - found.keys()):
        yield f"{name} is listed but not there"
    for name in sorted(found.keys() - listed.keys()):
        yield f"{name} is there but not listed"
    for name in sorted(listed.keys() & found.keys()):
        if listed[name] != found[name]:
            yield f"{name} is not the file that suite.json lists (after an edit on purpose: `avb-mcp reseal`)"


def _materials(subject: Subject) -> Iterator[str]:
    """task.json against materials/, both ways."""
    if subject.task is None:
        return
    prefix = f"{TASKS}/{subject.entry.id}/"
    there = {
        name.removeprefix(prefix): digest
        for name, digest in subject.hashes.items()
        if name.startswith(f"{prefix}{MATERIALS}/")
    }
    listed = {item.path: item.sha256 for item in subject.task.materials}
    if not listed:
        yield "task.json lists no materials"
    for name in sorted(listed.keys() - there.keys()):
        yield f"task.json lists the material {name}, which is not there"
    for name in sorted(there.keys() - listed.keys()):
        yield f"task.json does not list the material {name}"
    for name in sorted(listed.keys() & there.keys()):
        if listed[name] not in (None, there[name]):
            yield f"{name} is not the file that task.json lists"


def _sources(subject: Subject) -> Iterator[str]:
    if not subject.entry.sources:
        yield "no source is named, so nobody can say where the footage comes from"
    for source in subject.suite.sources:
        if source.name in subject.entry.sources:
            if not source.licence:
                yield f"the source {source.name} has no licence"
            if not source.provenance:
                yield f"the source {source.name} has no provenance"


def _decodes(path: Path) -> Iterator[str]:
    try:
        faults = watch(path, [DecodeFaults()])[DecodeFaults()]
    except MediaError as error:
        yield str(error)
        return
    yield from (f"{path.name} does not decode cleanly: {fault}" for fault in faults[:3])
