"""`setup` shows or writes what a harness needs, and takes care of files that belong to the user."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from avb_mcp.setup_harness import (
    Change,
    SetupError,
    describe,
    describe_written,
    plan_setup,
    server_command,
    write_setup,
)
from harness_configs._base import Arm, Endpoint
from harness_configs.registry import HARNESSES
from tests.avb_mcp.fake_cli import install_fake_cli


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "my film"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only Codex here is a stand-in in a private tools folder that prints a two-model catalogue."""
    monkeypatch.setenv("AVB_TOOLS", str(tmp_path / "tools"))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    catalogue = {"models": [{"slug": "a", "tool_mode": "code_mode_only", "context_window": 7}, {"slug": "b"}]}
    install_fake_cli(tmp_path / "tools", HARNESSES["codex_cli"].package, f"print({json.dumps(catalogue)!r})")


def _tree(*roots: Path) -> dict[Path, str]:
    return {path: path.read_text() for root in roots for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("arm", Arm)
@pytest.mark.parametrize("name", HARNESSES)
def test_planning_and_describing_write_nothing(name: str, arm: Arm, workspace: Path, home: Path) -> None:
    text = describe(plan_setup(name, workspace, arm, home=home))

    assert f"arm {arm}, workspace {workspace}" in text
    assert _tree(workspace, home) == {}


@pytest.mark.parametrize("arm", Arm)
@pytest.mark.parametrize("name", HARNESSES)
def test_writing_creates_what_was_planned_and_writing_again_changes_nothing(
    name: str, arm: Arm, workspace: Path, home: Path
) -> None:
    first = write_setup(plan_setup(name, workspace, arm, home=home))
    after_first = _tree(workspace, home)
    second = write_setup(plan_setup(name, workspace, arm, home=home))

    assert {file.change for file in first} <= {Change.CREATED}
    assert {file.path for file in first} == set(after_first)
    assert {file.change for file in second} <= {Change.UNCHANGED}
    assert _tree(workspace, home) == after_first


@pytest.mark.parametrize("name", HARNESSES)
def test_the_shell_arm_takes_our_server_away_again_and_nothing_else(name: str, workspace: Path, home: Path) -> None:
    plan = plan_setup(name, workspace, Arm.TYPED, home=home)
    (shared,) = [planned for planned, file in zip(plan.files, plan.setup.files, strict=True) if file.shared]
    shared.path.parent.mkdir(parents=True, exist_ok=True)
    toml = shared.path.suffix == ".toml"
    shared.path.write_text('mine = "kept"\n' if toml else '{"mine": "kept"}')
    write_setup(plan_setup(name, workspace, Arm.TYPED, home=home))

    assert '"serve"' in shared.path.read_text()
    write_setup(plan_setup(name, workspace, Arm.SHELL, home=home))

    text = shared.path.read_text()
    document = tomllib.loads(text) if toml else json.loads(text)
    assert document["mine"] == "kept"
    assert '"serve"' not in text


def test_other_servers_of_the_user_survive(workspace: Path, home: Path) -> None:
    config = workspace / ".mcp.json"
    config.write_text('{"mcpServers": {"mine": {"command": "mine"}}}')

    (written,) = write_setup(plan_setup("claude_code", workspace, home=home))

    servers = json.loads(config.read_text())["mcpServers"]
    assert written.change is Change.UPDATED
    assert list(servers) == ["mine", "avb"]
    assert servers["mine"] == {"command": "mine"}
    assert servers["avb"]["args"] == ["serve", "--workspace", str(workspace)]


def test_a_config_with_comments_is_left_alone_and_the_entry_is_shown(workspace: Path, home: Path) -> None:
    config = workspace / "opencode.json"
    config.write_text('{\n  // mine\n  "theme": "dark"\n}\n')

    with pytest.raises(SetupError) as refusal:
        plan_setup("opencode", workspace, home=home)

    assert "line 2 is not plain JSON" in str(refusal.value)
    assert '"avb": {' in str(refusal.value)
    assert config.read_text() == '{\n  // mine\n  "theme": "dark"\n}\n'


def test_a_folder_where_the_config_should_be_is_one_sentence(workspace: Path, home: Path) -> None:
    (workspace / ".mcp.json").mkdir()

    with pytest.raises(SetupError, match=r"\.mcp\.json cannot be read: Is a directory\."):
        plan_setup("claude_code", workspace, home=home)


def test_a_users_config_that_is_a_link_stays_a_link_and_keeps_its_mode(
    workspace: Path, home: Path, tmp_path: Path
) -> None:
    dotfile = tmp_path / "dotfiles.json"
    dotfile.write_text("{}")
    dotfile.chmod(0o600)
    link = home / ".openclaw" / "openclaw.json"
    link.parent.mkdir()
    link.symlink_to(dotfile)

    write_setup(plan_setup("openclaw", workspace, home=home))

    assert link.is_symlink()
    assert "avb" in json.loads(dotfile.read_text())["mcp"]["servers"]
    assert dotfile.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "link"), [("claude_code", ".mcp.json"), ("opencode", ".avb"), ("codex_cli", ".avb/harness")]
)
def test_a_link_out_of_the_workspace_is_refused(
    name: str, link: str, workspace: Path, home: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / link).parent.mkdir(exist_ok=True)
    (workspace / link).symlink_to(outside / "target")

    with pytest.raises(SetupError, match=r"leads out of the workspace to .*outside/target"):
        plan_setup(name, workspace, home=home)

    assert list(outside.iterdir()) == []


def test_the_codex_catalogue_is_the_installed_one_with_tool_search_off(workspace: Path, home: Path) -> None:
    write_setup(plan_setup("codex_cli", workspace, Arm.TYPED, home=home))

    catalogue = json.loads((workspace / ".avb/harness/codex_cli-typed.json").read_text())
    assert [model["slug"] for model in catalogue["models"]] == ["a", "b"]
    assert catalogue["models"][0]["context_window"] == 7
    assert [model["tool_mode"] for model in catalogue["models"]] == [None, None]
    assert [model["supports_search_tool"] for model in catalogue["models"]] == [False, False]


def test_without_codex_the_config_is_written_and_the_missing_catalogue_is_explained(
    workspace: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AVB_TOOLS", str(tmp_path / "empty"))

    plan = plan_setup("codex_cli", workspace, home=home)
    config, catalogue = write_setup(plan)

    assert config.change is Change.CREATED
    assert catalogue.change is Change.SKIPPED
    assert not catalogue.path.exists()
    text = describe_written(plan, [config, catalogue])
    assert text.startswith(f"created   {config.path}\nskipped   {catalogue.path}: the headless command needs it, but")
    assert "Codex CLI is not installed: npm install -g @openai/codex, then repeat\n" in text


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("import sys; sys.exit('no such command')", "ended with exit code 1: no such command"),
        ("print('hello')", "did not print JSON: hello"),
        ("print('{}')", "printed no list 'models'"),
    ],
)
def test_a_harness_that_cannot_print_its_catalogue_is_quoted(
    program: str, sentence: str, workspace: Path, home: Path, tmp_path: Path
) -> None:
    install_fake_cli(tmp_path / "tools", HARNESSES["codex_cli"].package, program)

    _, catalogue = write_setup(plan_setup("codex_cli", workspace, home=home))

    assert catalogue.change is Change.SKIPPED
    assert sentence in catalogue.reason


def test_a_key_is_neither_shown_nor_written(workspace: Path, home: Path) -> None:
    endpoint = Endpoint(base_url="http://127.0.0.1:1", api_key="sk-secret")
    for name in HARNESSES:
        plan = plan_setup(name, workspace, home=home, model="m", endpoint=endpoint)
        write_setup(plan)
        assert "sk-secret" not in describe(plan)

    assert not [path for path, text in _tree(workspace, home).items() if "sk-secret" in text]


def test_the_server_is_started_by_absolute_path_from_the_running_environment(tmp_path: Path) -> None:
    command = server_command(tmp_path)

    assert Path(command.command).is_absolute()
    assert Path(command.command).parent == Path(sys.executable).parent
    assert command.args[-3:] == ("serve", "--workspace", str(tmp_path))


def test_without_a_console_script_the_server_is_started_as_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    command = server_command(tmp_path)

    assert command.command == str(tmp_path / "python")
    assert command.args == ("-m", "avb_mcp", "serve", "--workspace", str(tmp_path))


def test_an_unknown_harness_and_a_missing_workspace_are_one_sentence_each(workspace: Path) -> None:
    with pytest.raises(SetupError, match=r"'cursor' is unknown\. Known: claude_code, "):
        plan_setup("cursor", workspace)
    with pytest.raises(SetupError, match=r"absent' is not a folder\. Create it first\."):
        plan_setup("opencode", workspace / "absent")
