"""What could tell an agent the answer besides the film: files, links, tags, names, sizes, lengths."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from avb_mcp.tasks.answers import ANSWER_FILE
from avb_mcp.tasks.check._base import MEDIA_SUFFIXES, Finding, GateName, Subject
from avb_mcp.tasks.spec import ANSWERS, MATERIALS, TASKS
from verifiers._container import open_media
from verifiers._json import AnswerError, load_answer_model
from verifiers._media import MediaError, media_info
from verifiers.video_assembly.schema import AssemblyReference
from verifiers.video_order.schema import OrderReference

PLAIN_TAGS = frozenset(
    {"major_brand", "minor_version", "compatible_brands", "handler_name", "vendor_id", "language", "encoder"}
    | {"duration"}
)
"""What containers write of themselves. An encoder's name tells nothing where all files carry the same."""
MIN_TASKS = 5
PERMUTATIONS = 2000
P_VALUE = 0.01
PLAIN_FILES = frozenset({"task.json", "brief.md"})
Floats = npt.NDArray[np.float64]


# ---- in one task


def in_task(subject: Subject) -> Iterator[str]:
    yield from _links(subject)
    yield from _strangers(subject)
    yield from _copies(subject)
    yield from _tags(subject)


def _links(subject: Subject) -> Iterator[str]:
    for name, path in subject.files.items():
        if path.is_symlink():
            yield f"{name} is a link"


def _strangers(subject: Subject) -> Iterator[str]:
    """A fresh workspace holds the task, the brief and the materials, and nothing else."""
    for path in sorted(subject.workspace.iterdir() if subject.workspace.is_dir() else []):
        if path.name not in PLAIN_FILES | {MATERIALS}:
            yield f"the workspace holds {path.name}, which is neither the task nor a material"


def _copies(subject: Subject) -> Iterator[str]:
    """A secret of the answers that lies among the materials under any name."""
    secret = {
        subject.hashes[name]: path.relative_to(subject.answers).as_posix()
        for name, path in subject.files.items()
        if path.is_relative_to(subject.answers) and _is_secret(path.relative_to(subject.answers))
    }
    for name, path in subject.files.items():
        if path.is_relative_to(subject.workspace) and subject.hashes[name] in secret:
            yield f"{name} is a copy of the answers' {secret[subject.hashes[name]]}"


def _is_secret(path: Path) -> bool:
    """The clips of an order and the broken film of a repair are given to the agent as well."""
    return path.parts[0] != "clips" and path.stem != "broken" and path.name != ANSWER_FILE


def _tags(subject: Subject) -> Iterator[str]:
    encoders = set()
    for path in sorted(subject.media()):
        if not path.is_relative_to(subject.workspace):
            continue
        try:
            tags = _tags_of(path)
        except MediaError:
            continue  # a finding of the decode check
        encoders.add(tags.get("encoder", ""))
        telling = sorted(tags.keys() - PLAIN_TAGS)
        if telling:
            yield f"{path.name} carries the tag {telling[0]}={tags[telling[0]][:60]!r}"
    if len(encoders) > 1:
        yield f"the materials name different encoders: {', '.join(sorted(name or 'none' for name in encoders))}"


def _tags_of(path: Path) -> dict[str, str]:
    with open_media(path) as container:
        tags = dict(container.metadata)
        for stream in container.streams:
            tags |= stream.metadata
    return {name.lower(): value for name, value in tags.items()}


# ---- over the suite


@dataclass(frozen=True)
class Ranked:
    """The clips of one task: what can be read off each, and its place in the truth."""

    features: Mapping[str, Floats]
    truth: Floats


def shared_files(folder: Path) -> Iterator[Finding]:
    """Files of any workspace that are, on disk, files of any answers."""
    secret = {_inode(path): path for path in _regular(folder / ANSWERS)}
    for path in _regular(folder / TASKS):
        if (same := secret.get(_inode(path))) is not None:
            way = path.relative_to(folder)
            sentence = f"{way.as_posix()} is the same file on disk as {same.relative_to(folder).as_posix()}"
            yield Finding(GateName.ASSET, way.parts[1], sentence)


def _inode(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _regular(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def over_suite(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Does anything that can be read off the files go with the truth?"""
    for verifier, what in (("video_order", "the true order"), ("video_assembly", "the right picks")):
        chosen = [s for s in subjects if s.answer is not None and s.answer.verifier == verifier]
        if not chosen:
            continue
        if len(chosen) < MIN_TASKS:
            few = f"{len(chosen)} tasks are too few to tell whether names, sizes or lengths go with {what}"
            yield Finding(GateName.ASSET, "", f"{few}; {MIN_TASKS} are needed", fails=False)
            continue
        tasks = [ranked for subject in chosen if (ranked := _ranked(subject)) is not None]
        for feature, p in telling_features(tasks).items():
            sentence = f"the {feature} of the clips goes with {what} over {len(tasks)} tasks (p = {p:.4f})"
            yield Finding(GateName.ASSET, "", sentence)


def telling_features(tasks: Sequence[Ranked]) -> dict[str, float]:
    """Features that go with the truth more than shuffling explains, with their p-values. Pure and repeatable."""
    if not tasks:
        return {}
    names = list(tasks[0].features)
    rng = np.random.default_rng(0)
    found = {}
    for name in names:
        ranks = [_centred_ranks(task.features[name]) for task in tasks]
        truths = [_centred_ranks(task.truth) for task in tasks]
        seen = _agreement(ranks, truths)
        shuffled = [_agreement(ranks, [rng.permutation(truth) for truth in truths]) for _ in range(PERMUTATIONS)]
        p = (1 + sum(value >= seen - 1e-12 for value in shuffled)) / (1 + PERMUTATIONS)
        if p < P_VALUE / len(names):
            found[name] = p
    return found


def _agreement(ranks: Sequence[Floats], truths: Sequence[Floats]) -> float:
    """The mean rank correlation over tasks, whichever its sign."""
    return abs(float(np.mean([float(a @ b) for a, b in zip(ranks, truths, strict=True)])))


def _centred_ranks(values: Floats) -> Floats:
    """Ranks (ties share theirs), centred and of unit length; zeros where all are equal."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    for _, group in itertools.groupby(enumerate(order), key=lambda pair: values[pair[1]]):
        places, members = zip(*group, strict=True)
        ranks[list(members)] = np.mean(places)
    centred = ranks - ranks.mean()
    length = float(np.linalg.norm(centred))
    return np.asarray(centred / length if length else centred, np.float64)


def _ranked(subject: Subject) -> Ranked | None:
    """None where the task is not whole; other findings say so."""
    assert subject.answer is not None
    reference = subject.answers / subject.answer.reference["reference"]
    films = {
        path.stem: path
        for path in sorted((subject.workspace / MATERIALS).rglob("*"))
        if path.suffix.lower() in MEDIA_SUFFIXES
    }
    try:
        if subject.answer.verifier == "video_order":
            order = load_answer_model(reference, OrderReference).correct_order
            place = {name: float(number) for number, name in enumerate(order)}
        else:
            right = load_answer_model(reference, AssemblyReference).correct_assembly_in_slot_order
            place = {name: float(name in right) for name in films}
        paths = [films[name] for name in place]
        lengths_s = np.array([media_info(path).duration_s or 0.0 for path in paths])
    except (AnswerError, KeyError, MediaError):
        return None
    sizes = np.array([float(path.stat().st_size) for path in paths])
    names = sorted(place, key=lambda name: (len(name), name))
    features = {
        "name": np.array([float(names.index(name)) for name in place]),
        "size": sizes,
        "length": lengths_s,
        "bit rate": sizes / np.maximum(lengths_s, 1e-3),
    }
    return Ranked(features, np.array(list(place.values())))
