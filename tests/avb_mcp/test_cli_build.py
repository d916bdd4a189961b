"""`avb-mcp build`: what a suite's author types, and what comes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from avb_mcp.cli_tasks import build
from avb_mcp.tasks.build import build_suite, make_request
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders.registry import BUILDERS, COMMON
from avb_mcp.tasks.spec import load_suite
from primitives._base import UserError
from primitives._task import Family
from tests.media import make_film, make_sound

SMALL = (96, 64)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_film(tmp_path_factory.mktemp("film") / "film.mp4", frames=100, size=SMALL, audio="aac")


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "avb_mcp", "build", *map(str, words)]


def avb(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*words), capture_output=True, text=True, env=os.environ | {"COLUMNS": "160"})


CUT = ("--cut-inside", "--min-clips", 4, "--max-clips", 4)


def test_a_suite_is_built_and_the_same_words_give_the_same_digest(tmp_path: Path, film: Path) -> None:
    words = ("sequencing", "--source", film, "--seed", 5, "--licence", "CC0", "--provenance", "drawn", *CUT)
    run = avb(*words, "--out", tmp_path / "one")
    assert run.returncode == 0, run.stderr
    assert f"1 tasks in {tmp_path / 'one'}." in run.stderr
    assert run.stdout == ""
    suite = load_suite(tmp_path / "one")
    assert [(source.name, source.licence, source.provenance) for source in suite.sources] == [
        ("film.mp4", "CC0", "drawn")
    ]
    request = make_request({"seed": 5, "count": 1, "cut_inside": True, "min_clips": 4, "max_clips": 4})
    assert build_suite("sequencing", [film], tmp_path / "two", request) == 0
    assert load_suite(tmp_path / "two").tasks == suite.tasks


def test_a_second_build_adds_to_the_suite(tmp_path: Path, film: Path) -> None:
    for seed in (1, 2):
        request = make_request({"seed": seed, "count": 1, "cut_inside": True, "min_clips": 4, "max_clips": 4})
        assert build_suite("sequencing", [film], tmp_path / "s", request) == 0
    assert len(load_suite(tmp_path / "s").tasks) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("cooking",), "There is no family 'cooking' to build. Use repair, sequencing, assembly, repurpose."),
        (("repair", "--slots", 3), "--slots has no use for repair tasks"),
        (("repair", "--count", 0), "--count: Input should be greater than or equal to 1, not 0."),
        (("repair", "--scheme", "h2"), "--scheme: Input should be"),
        (("repair", "--licence", "a", "--licence", "b"), "--licence is given 2 times for 1 sources"),
    ],
)
def test_a_mistake_in_the_words_is_a_sentence_and_nothing_is_written(
    tmp_path: Path, film: Path, words: tuple[object, ...], sentence: str
) -> None:
    run = avb(*words, "--source", film, "--out", tmp_path / "s", "--seed", 1)
    assert (run.returncode, sentence in run.stderr) == (2, True), run.stderr
    assert list(tmp_path.iterdir()) == []


def test_two_sources_of_one_name_are_refused(tmp_path: Path, film: Path) -> None:
    twin = tmp_path / "film.mp4"
    twin.write_bytes(film.read_bytes())
    with pytest.raises(UserError, match=r"Two sources are called film\.mp4"):
        build_suite("sequencing", [film, twin], tmp_path / "s", make_request({"seed": 1, "count": 1}))


@pytest.mark.parametrize("family", list(Family))
def test_a_source_that_cannot_serve_is_a_sentence_for_every_family(tmp_path: Path, family: Family) -> None:
    (tmp_path / "in").mkdir()
    bad = {
        "missing.mp4": None,
        "text.mp4": b"this is not a film",
        "sound.wav": make_sound(tmp_path / "in" / "sound.wav").read_bytes(),
    }
    for name, content in bad.items():
        path = tmp_path / "in" / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(UserError, match=r"\w+ .*\."):
            build_suite(family, [path], tmp_path / "s", make_request({"seed": 1, "count": 1}))
        assert [left.name for left in tmp_path.iterdir()] == ["in"]


def test_ctrl_c_keeps_the_finished_tasks_says_so_and_the_same_command_goes_on(tmp_path: Path) -> None:
    film = make_film(tmp_path / "long.mp4", frames=300, size=(320, 180))
    words = ("sequencing", "--source", film, "--out", tmp_path / "s", "--seed", 1, "--count", 8, *CUT)
    with subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True) as running:
        finished = tmp_path / ".s.building" / "entries"
        while running.poll() is None and not any(finished.glob("*.json")):
            with suppress(subprocess.TimeoutExpired):
                running.wait(0.02)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130, said
    assert "Interrupted. The finished tasks are kept: the same command goes on." in said
    assert not (tmp_path / "s").exists()
    run = avb(*words)
    assert run.returncode == 0, run.stderr
    assert "(an interrupted build was finished)" in run.stderr
    assert len(load_suite(tmp_path / "s").tasks) == 8


def test_every_field_of_a_request_has_an_option_and_a_reader() -> None:
    fields = set(BuildRequest.model_fields)
    assert fields <= set(signature(build).parameters)
    assert fields == COMMON.union(*(known.options for known in BUILDERS.values()))


def test_every_family_has_a_builder() -> None:
    assert set(BUILDERS) == set(Family)
    for known in BUILDERS.values():
        assert list(signature(import_module(known.module).plan).parameters) == ["footage", "request"]
