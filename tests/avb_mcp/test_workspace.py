"""The path rules: what a model may read and write, and everything it may not."""

import os
import socket
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from avb_mcp.workspace import Workspace
from primitives._base import Call, UserError

HOSTILE = {
    "parent": "../secret.mp4",
    "parent inside": "materials/../materials/a.mp4",
    "absolute": "/etc/passwd",
    "absolute behind the alias": "/workspace/../etc/passwd",
    "look-alike of the alias": "/workspaces/a.mp4",
    "device": "/dev/zero",
    "process memory": "/proc/self/environ",
    "home": "~/a.mp4",
    "url": "http://127.0.0.1/a.mp4",
    "upper case url": "HTTPS://127.0.0.1/a.mp4",
    "file url": "file:///etc/passwd",
    "concat protocol": "concat:materials/a.mp4|materials/a.mp4",
    "subfile protocol": "subfile,,start,0,end,9,,:materials/a.mp4",
    "data protocol": "data:text/plain,hello",
    "crypto protocol": "crypto:materials/a.mp4",
    "pipe": "pipe:0",
    "backslash": "materials\\a.mp4",
    "null byte": "materials/a.mp4\x00.png",
    "newline": "materials/a\n.mp4",
    "right-to-left override": "materials/\u202e4pm.a",
    "lone surrogate": "materials/\ud800.mp4",
    "empty": "",
    "blank": "   ",
    "long name": "materials/" + "a" * 300 + ".mp4",
    "long path": "a/" * 2000 + "a.mp4",
    "private": ".avb/trace.jsonl",
    "private in another case": ".AVB/trace.jsonl",
    "link to outside": "materials/link.mp4",
    "folder link to outside": "materials/folder/secret.mp4",
    "link to the private folder": "materials/trace",
    "loop of links": "materials/loop.mp4",
    "folder": "materials",
    "root": ".",
    "pipe file": "materials/fifo.mp4",
    "socket": "materials/socket.mp4",
    "not there": "materials/b.mp4",
}


@pytest.fixture
def hostile(folder: Path) -> Path:
    """A folder set up with every trap of the table."""
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.mp4").write_bytes(b"secret")
    (folder.parent / "secret.mp4").write_bytes(b"secret")
    (folder / ".avb").mkdir()
    (folder / ".avb/trace.jsonl").write_text("{}")
    materials = folder / "materials"
    (materials / "a.mp4").write_bytes(b"x")
    (materials / "link.mp4").symlink_to(outside / "secret.mp4")
    (materials / "folder").symlink_to(outside)
    (materials / "trace").symlink_to(folder / ".avb/trace.jsonl")
    (materials / "loop.mp4").symlink_to("loop.mp4")
    os.mkfifo(materials / "fifo.mp4")
    here = Path.cwd()
    os.chdir(materials)  # a socket's path is limited to about a hundred characters
    try:
        socket.socket(socket.AF_UNIX).bind("socket.mp4")
    finally:
        os.chdir(here)
    return folder


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("path", HOSTILE.values(), ids=HOSTILE.keys())
def test_every_hostile_path_is_refused_in_one_sentence(hostile: Path, path: str) -> None:
    with pytest.raises(UserError) as error:
        Workspace(hostile).readable(path)
    sentence = str(error.value)
    assert sentence.endswith(".")
    assert sentence.isprintable() and len(sentence) < 1000
    assert "secret" not in sentence.replace(path, "")


@pytest.mark.parametrize(
    "path", ["materials/a.mp4", "/workspace/materials/a.mp4", "{root}/materials/a.mp4", "./materials//a.mp4"]
)
def test_the_ways_to_name_a_file_inside_are_one(folder: Path, path: str) -> None:
    (folder / "materials/a.mp4").write_bytes(b"x")
    assert Workspace(folder).readable(path.format(root=folder)) == (folder / "materials/a.mp4").resolve()


def test_output_is_an_alias_of_outputs(folder: Path) -> None:
    (folder / "outputs/final.mp4").write_bytes(b"x")
    workspace = Workspace(folder)
    for path in ("output/final.mp4", "/workspace/output/final.mp4", "outputs/final.mp4"):
        assert workspace.readable(path) == workspace.writable(path) == folder.resolve() / "outputs/final.mp4"


def test_a_link_that_stays_inside_is_fine(folder: Path) -> None:
    (folder / "materials/a.mp4").write_bytes(b"x")
    (folder / "work/link.mp4").symlink_to(folder / "materials/a.mp4")
    assert Workspace(folder).readable("work/link.mp4") == (folder / "materials/a.mp4").resolve()


@pytest.mark.parametrize("name", ["scene: two.mp4", "take1, final.mp4", "café 漢字 👨‍👩‍👧.mp4", "a'b\"c&d;$(x).mp4"])
def test_unusual_honest_names_are_read(folder: Path, name: str) -> None:
    (folder / "materials" / name).write_bytes(b"x")
    assert Workspace(folder).readable(f"materials/{name}").name == name


def test_a_missing_file_names_the_closest_and_what_there_is(folder: Path) -> None:
    (folder / "materials/interview.mp4").write_bytes(b"x")
    with pytest.raises(UserError) as error:
        Workspace(folder).readable("interviw.mp4")
    assert str(error.value) == (
        "interviw.mp4 does not exist. Did you mean materials/interview.mp4? Media here: materials/interview.mp4."
    )


@pytest.mark.parametrize(
    "path",
    ["materials/a.mp4", "a.mp4", "task.json", ".avb/x", "work", "outputs/", "/tmp/a.mp4", "work/../materials/a.mp4"],
)
def test_writing_is_confined_to_work_and_outputs(folder: Path, path: str) -> None:
    with pytest.raises(UserError):
        Workspace(folder).writable(path)


def test_writing_through_a_link_is_refused(folder: Path) -> None:
    (folder / "materials/a.mp4").write_bytes(b"input")
    (folder / "work/a.mp4").symlink_to(folder / "materials/a.mp4")
    with pytest.raises(UserError, match="tools do not write through links"):
        Workspace(folder).writable("work/a.mp4")


def test_a_link_in_the_way_to_an_output_may_not_lead_outside(folder: Path, tmp_path: Path) -> None:
    (folder / "work/sub").symlink_to(tmp_path)
    with pytest.raises(UserError, match="leads outside"):
        Workspace(folder).writable("work/sub/a.mp4")


def test_an_input_of_the_same_call_is_never_overwritten(folder: Path) -> None:
    (folder / "work/a.mp4").write_bytes(b"x")
    call = Call(Workspace(folder))
    call.input("work/a.mp4")
    with pytest.raises(UserError, match="is an input of this call"):
        call.output("work/a.mp4")


def test_a_failed_write_leaves_nothing_and_keeps_what_was_there(folder: Path) -> None:
    workspace = Workspace(folder)
    target = workspace.writable("work/a.txt")
    target.write_text("before")
    with pytest.raises(RuntimeError), workspace.atomic(target) as part:
        part.write_text("half")
        raise RuntimeError
    assert [path.name for path in (folder / "work").iterdir()] == ["a.txt"]
    assert target.read_text() == "before"


def test_a_private_folder_that_leads_outside_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / ".avb").symlink_to(tmp_path)
    with pytest.raises(UserError, match="is a link, which could lead the server outside"):
        Workspace(folder)


def test_a_folder_without_a_task_is_fine_and_a_wrong_task_is_a_sentence(folder: Path) -> None:
    assert Workspace(folder).task is None
    (folder / "task.json").write_text('{"id": "x", "family": "cooking"}')
    with pytest.raises(UserError, match=r"task.json is not a valid task: family: Input should be 'assembly'"):
        Workspace(folder)


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["..", ".", "/", "materials", "outside", "link", "~", "%2e"])).map("".join)
)
def test_no_text_resolves_outside(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    root = tmp_path_factory.getbasetemp() / "fuzz"
    (root / "task/materials").mkdir(parents=True, exist_ok=True)
    (root / "outside").mkdir(exist_ok=True)
    if not (root / "task/link").is_symlink():
        (root / "task/link").symlink_to(root / "outside")
    workspace = Workspace(root / "task")
    for rule in (workspace.readable, workspace.writable):
        try:
            assert rule(path).is_relative_to(workspace.root)
        except UserError as error:
            assert not any(unicodedata.category(mark) in ("Cc", "Cs") for mark in str(error))
