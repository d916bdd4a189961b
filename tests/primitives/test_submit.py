"""submit: the right files in the task's shape, every gate that needs no answer, sealed once."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import pytest

from primitives._base import Answer, UserError
from primitives._task import fill
from primitives.submit import SubmitResult
from tests.disk import room_for
from tests.media import make_film

Run = Callable[..., Answer]


def write_task(folder: Path, family: str, deliverables: list[dict[str, Any]]) -> None:
    (folder / "task.json").write_text(json.dumps({"id": "t1", "family": family, "deliverables": deliverables}))


def result(answer: Answer) -> SubmitResult:
    assert isinstance(answer.result, SubmitResult)
    return answer.result


def failures(answer: Answer) -> dict[str, list[str]]:
    return {item.name: [failure.split(":")[0] for failure in item.failed] for item in result(answer).deliverables}


@pytest.fixture
def repair(folder: Path) -> Path:
    make_film(folder / "materials/broken.mp4", frames=50, audio="aac")
    make_film(folder / "work/fixed_v2.mp4", frames=50, audio="aac", options={"crf": "20"})
    video = {"name": "fixed.mp4", "kind": "video", "spec": {"like": "materials/broken.mp4", "duration_s": 2.0}}
    write_task(folder, "repair", [video, {"name": "report.md", "kind": "report", "diagnosis": True}])
    return folder


FINDING = {"type": "frozen_scene", "start_s": 0.5, "end_s": 1.25}


def test_a_complete_repair_is_accepted_and_sealed(repair: Path, run: Run) -> None:
    answer = run("submit", files=["work/fixed_v2.mp4"], diagnosis=[FINDING], report="Removed a freeze.")
    assert result(answer).accepted
    assert (repair / "outputs/report.md").read_text() == (
        "Removed a freeze.\n\n## Diagnosis\n- type: frozen_scene\n- start: 0.500\n- end: 1.250\n"
    )
    digest = hashlib.sha256((repair / "outputs/fixed.mp4").read_bytes()).hexdigest()
    assert result(answer).sealed_sha256["fixed.mp4"] == digest
    assert json.loads((repair / ".avb/seal.json").read_text()) == result(answer).sealed_sha256


def test_a_full_disk_is_one_sentence_and_seals_nothing(repair: Path, run: Run) -> None:
    with room_for(3_000), pytest.raises(UserError, match=r"outputs/fixed.mp4 could not be written: no room left"):
        run("submit", files=["work/fixed_v2.mp4"], diagnosis=[FINDING])
    assert not (repair / "outputs/fixed.mp4").exists() and not (repair / ".avb/seal.json").exists()


def test_a_second_submit_must_say_replace(repair: Path, run: Run) -> None:
    run("submit", files=["work/fixed_v2.mp4"], diagnosis=[FINDING])
    with pytest.raises(UserError, match=r"Already submitted: fixed.mp4, report.md.*replace=true"):
        run("submit", files=["work/fixed_v2.mp4"])
    again = run("submit", diagnosis=[{**FINDING, "end_s": 1.5}], replace=True)
    assert result(again).accepted
    assert "- end: 1.500" in (repair / "outputs/report.md").read_text()


def test_what_is_missing_is_named_and_nothing_is_sealed(repair: Path, run: Run) -> None:
    answer = run("submit", report="I looked at it.")
    assert failures(answer) == {"fixed.mp4": ["exists"], "report.md": ["diagnosis"]}
    assert not result(answer).accepted
    assert not (repair / ".avb/seal.json").exists()
    assert (repair / "outputs/report.md").read_text() == "I looked at it.\n"


def remux(source: Path, destination: Path) -> None:
    with av.open(str(source)) as film, av.open(str(destination), "w") as container:
        streams = {s.index: container.add_stream_from_template(s) for s in film.streams}
        for packet in film.demux():
            if packet.size:
                packet.stream = streams[packet.stream.index]
                container.mux(packet)


@pytest.mark.parametrize("way", ["verbatim", "remuxed"])
def test_a_copy_of_the_input_is_not_a_repair(repair: Path, run: Run, way: str) -> None:
    copy = repair / "work/fixed.mp4"
    if way == "verbatim":
        copy.write_bytes((repair / "materials/broken.mp4").read_bytes())
    else:
        remux(repair / "materials/broken.mp4", copy)
    answer = run("submit", files=["work/fixed.mp4"], diagnosis=[FINDING])
    assert failures(answer)["fixed.mp4"] == ["not_a_copy"]


@pytest.mark.parametrize(
    ("changes", "gates"),
    [
        ({"size": (160, 90)}, ["size"]),
        ({"fps": 30, "frames": 60}, ["fps"]),
        ({"frames": 60}, ["duration"]),
        ({"codec": "mpeg4"}, ["video_codec"]),
        ({"audio_rate_hz": 44100}, ["audio_rate_hz"]),
        ({"audio": None}, ["audio_codec", "audio_rate_hz"]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)
def test_each_gate_of_the_format_is_checked(repair: Path, run: Run, changes: dict[str, Any], gates: list[str]) -> None:
    make_film(repair / "work/fixed.mp4", **{"frames": 50, "audio": "aac", "options": {"crf": "30"}, **changes})
    answer = run("submit", files=["work/fixed.mp4"], diagnosis=[FINDING])
    assert failures(answer)["fixed.mp4"] == gates


def test_another_container_fails_its_gate(repair: Path, run: Run) -> None:
    remux(repair / "work/fixed_v2.mp4", repair / "work/fixed.mkv")
    (repair / "work/fixed.mkv").rename(repair / "outputs/fixed.mp4")
    assert failures(run("submit", diagnosis=[FINDING]))["fixed.mp4"] == ["container"]


def test_a_file_that_does_not_decode_fails(repair: Path, run: Run) -> None:
    (repair / "outputs/fixed.mp4").write_text("not a film")
    answer = run("submit", diagnosis=[FINDING])
    assert failures(answer)["fixed.mp4"] == ["decodes"]


@pytest.fixture
def sequencing(folder: Path) -> Path:
    for number in range(1, 4):
        make_film(folder / f"materials/clips/{number}.mp4", frames=10 * number)
    write_task(folder, "sequencing", [{"name": "solution.json", "kind": "ordering", "clips": ["1", "2", "3"]}])
    return folder


def test_an_ordering_is_written_as_segments_one_after_the_other(sequencing: Path, run: Run) -> None:
    answer = run("submit", ordering=["3", "1.mp4", "materials/clips/2.mp4"])
    assert result(answer).accepted
    assert json.loads((sequencing / "outputs/solution.json").read_text()) == {
        "segments": [
            {"source": "3", "source_range": [0.0, 1.2], "output": [0.0, 1.2]},
            {"source": "1", "source_range": [0.0, 0.4], "output": [1.2, 1.6]},
            {"source": "2", "source_range": [0.0, 0.8], "output": [1.6, 2.4]},
        ]
    }


@pytest.mark.parametrize(
    ("ordering", "reason"),
    [
        (["1", "2"], "missing: 3"),
        (["1", "2", "2"], "twice: 2; missing: 3"),
        (["1", "2", "9"], "unknown: 9; missing: 3"),
    ],
)
def test_what_is_not_a_permutation_says_why(sequencing: Path, run: Run, ordering: list[str], reason: str) -> None:
    answer = run("submit", ordering=ordering)
    assert result(answer).deliverables[0].failed == [f"permutation: must name each of the 3 clips once ({reason})"]
    assert not (sequencing / "outputs/solution.json").exists()


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("{", "json"),
        ("[" * 100_000, "json"),
        ('["1", "2", "3"]', "shape"),
        ('{"segments": [{"source": "1"}]}', "shape"),
        ('{"segments": [{"source": 1, "source_range": [0, 1], "output": [0, 1]}]}', "permutation"),
    ],
    ids=["broken", "deep", "list", "no ranges", "too short"],
)
def test_a_solution_that_the_agent_wrote_itself_is_judged_too(sequencing: Path, run: Run, text: str, gate: str) -> None:
    (sequencing / "outputs/solution.json").write_text(text)
    assert failures(run("submit")) == {"solution.json": [gate]}


def test_a_right_solution_that_the_agent_wrote_itself_is_accepted(sequencing: Path, run: Run) -> None:
    rows = [{"source": n, "source_range": [0, 1], "output": [0, 1], "note": "more is fine"} for n in (2, 1, "3.mp4")]
    (sequencing / "outputs/solution.json").write_text(json.dumps({"segments": rows}))
    assert result(run("submit")).accepted


def test_picks_need_one_known_clip_per_slot(folder: Path, run: Run) -> None:
    clips = ["1.mp4", "2.mp4", "3.mp4"]
    write_task(folder, "assembly", [{"name": "solution.json", "kind": "picks", "clips": clips, "slots": 2}])
    assert failures(run("submit", picks=["1", "9", "2"])) == {"solution.json": ["slots", "clips"]}
    assert result(run("submit", picks=["2", "2.mp4"])).accepted
    segments = json.loads((folder / "outputs/solution.json").read_text())["segments"]
    assert [segment["source"] for segment in segments] == ["2.mp4", "2.mp4"]


def test_cut_ranges_take_the_shape_that_the_task_names(folder: Path, run: Run) -> None:
    shape = {"version": 1, "cuts": [{"from": "$start_s", "to": "$end_s"}]}
    write_task(folder, "repair", [{"name": "cuts.json", "kind": "cuts", "shape": shape}])
    assert failures(run("submit", cuts=[[2.0, 1.0]])) == {"cuts.json": ["ranges"]}
    assert result(run("submit", cuts=[[1.0, 2.5], [4, 5]])).accepted
    assert json.loads((folder / "outputs/cuts.json").read_text()) == {
        "version": 1,
        "cuts": [{"from": 1.0, "to": 2.5}, {"from": 4.0, "to": 5.0}],
    }


def test_a_report_can_carry_the_cut_list(folder: Path, run: Run) -> None:
    write_task(folder, "repair", [{"name": "report.md", "kind": "report", "cuts": True}])
    assert failures(run("submit", report="Cut two fillers.")) == {"report.md": ["cut_list"]}
    assert result(run("submit", report="Cut two fillers.", cuts=[[1.5, 1.75]])).accepted
    assert "```json\n[[1.5, 1.75]]\n```" in (folder / "outputs/report.md").read_text()


def test_an_argument_that_the_task_has_no_place_for_is_refused(sequencing: Path, run: Run) -> None:
    with pytest.raises(UserError, match=r"picks was given but this task has no place for it. It wants: solution.json"):
        run("submit", picks=["1"])


def test_a_folder_without_a_task_takes_any_film(folder: Path, run: Run) -> None:
    make_film(folder / "work/edit.mp4", frames=5)
    assert result(run("submit", files=["work/edit.mp4"])).accepted
    assert (folder / "outputs/edit.mp4").exists()


def test_a_file_from_outside_cannot_be_handed_in(repair: Path, run: Run) -> None:
    make_film(repair.parent / "golden.mp4", frames=50)
    (repair / "work/fixed.mp4").symlink_to(repair.parent / "golden.mp4")
    with pytest.raises(UserError, match="leads outside"):
        run("submit", files=["work/fixed.mp4"], diagnosis=[FINDING])


def test_a_shape_that_asks_for_an_unknown_value_says_what_is_known() -> None:
    with pytest.raises(ValueError, match=r"asks for \$frame, known here: \$start_s"):
        fill([{"at": "$frame"}], [{"start_s": 1.0}])
