"""One contract for every harness in the registry."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from pydantic import ValidationError

import harness_configs
from harness_configs._base import Arm, ConfigFile, Endpoint, Harness, ServerCommand, Setup, SetupRequest
from harness_configs._merge import merged
from harness_configs.registry import HARNESSES, UnknownHarnessError, by_name, harness_named

FOLDER = Path(harness_configs.__file__).parent
SERVER = ServerCommand(command="avb-mcp", args=("serve", "--workspace", "/path/to/workspace"))
WORKSPACE = PurePosixPath("/path/to/workspace")
KEY = "sk-never-in-a-file"
ENDPOINT = Endpoint(base_url="http://127.0.0.1:8399", api_key=KEY)

every_harness = pytest.mark.parametrize("harness", HARNESSES.values(), ids=HARNESSES)
every_arm = pytest.mark.parametrize("arm", Arm)


def _setup(harness: Harness, arm: Arm, *, endpoint: Endpoint | None = None, env: dict[str, str] | None = None) -> Setup:
    server = SERVER.model_copy(update={"env": env or {}})
    model = "some-model" if endpoint else None
    return harness.setup(SetupRequest(server=server, arm=arm, workspace=WORKSPACE, model=model, endpoint=endpoint))


def _shared(setup: Setup) -> ConfigFile:
    """The one file that belongs to the user."""
    (file,) = [file for file in setup.files if file.shared]
    return file


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in _strings(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in _strings(part)]
    return [value] if isinstance(value, str) else []


def test_every_folder_with_an_adapter_is_in_the_registry() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/adapter.py")}

    assert folders == set(HARNESSES)


def test_a_harness_listed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="'opencode' is listed twice"):
        by_name((HARNESSES["opencode"], HARNESSES["opencode"]))


def test_an_unknown_harness_is_told_the_known_ones() -> None:
    with pytest.raises(UnknownHarnessError, match=r"'cursor' is unknown\. Known: claude_code, codex_cli"):
        harness_named("cursor")


@every_harness
def test_the_shipped_config_is_what_the_adapter_makes(harness: Harness) -> None:
    file = _shared(_setup(harness, Arm.TYPED))

    shipped = (FOLDER / harness.name / f"typed.{file.format}").read_text(encoding="utf-8")

    assert shipped == merged(None, file.content, format=file.format)


@every_harness
def test_each_folder_has_notes(harness: Harness) -> None:
    notes = (FOLDER / harness.name / "README.md").read_text(encoding="utf-8")

    assert notes.startswith(f"# {harness.title} {harness.package.version}\n")


@every_harness
@pytest.mark.parametrize("arm", [Arm.TYPED, Arm.TYPED_ONLY])
def test_arms_with_our_tools_start_the_server_with_its_arguments_and_environment(harness: Harness, arm: Arm) -> None:
    strings = _strings(_shared(_setup(harness, arm, env={"AVB_DISABLE": "submit"})).content)

    start = strings.index("avb-mcp")
    assert [text for text in strings[start:] if text != "args"][:4] == ["avb-mcp", *SERVER.args]
    assert "AVB_DISABLE" in strings


@every_harness
def test_the_shell_arm_knows_nothing_of_the_server(harness: Harness) -> None:
    setup = _setup(harness, Arm.SHELL)
    typed = _shared(_setup(harness, Arm.TYPED))

    assert "avb-mcp" not in _strings([file.content for file in setup.files])
    (path,) = _shared(setup).absent
    entry: Any = typed.content
    for key in path:
        entry = entry[key]
    assert "avb-mcp" in _strings(entry)


@every_harness
@every_arm
def test_the_headless_command_carries_the_prompt_once_as_a_whole_argument(harness: Harness, arm: Arm) -> None:
    command = _setup(harness, arm).command

    assert command.count("{prompt}") == 1
    assert command[0] == harness.package.executable


@every_harness
@every_arm
def test_without_an_endpoint_the_users_own_login_and_model_are_used(harness: Harness, arm: Arm) -> None:
    setup = _setup(harness, arm)

    said = _strings([*(file.content for file in setup.files), setup.command, setup.environment])
    assert setup.secrets == {}
    assert not [text for text in said if "127.0.0.1" in text or text in ("-m", "--model")]


@every_harness
@every_arm
def test_an_endpoint_is_named_and_its_key_is_only_among_the_secrets(harness: Harness, arm: Arm) -> None:
    setup = _setup(harness, arm, endpoint=ENDPOINT)

    said = _strings([*(file.content for file in setup.files), setup.command, setup.environment])
    assert list(setup.secrets.values()) == [KEY]
    assert any(ENDPOINT.base_url in text for text in said)
    assert not [text for text in said if KEY in text]


@every_harness
@every_arm
def test_own_files_lie_in_the_private_folder_and_are_named_by_the_headless_run(harness: Harness, arm: Arm) -> None:
    setup = _setup(harness, arm)

    own = [file.path for file in setup.files if not file.shared] + [file.path for file in setup.derived]
    run = _strings([setup.command, setup.environment])
    for path in own:
        assert path.parent == PurePosixPath(".avb/harness")
        assert any(str(WORKSPACE / path) in text for text in run)


@every_harness
@every_arm
def test_every_file_can_be_written_in_its_format_and_read_back(harness: Harness, arm: Arm) -> None:
    for file in _setup(harness, arm, endpoint=ENDPOINT).files:
        text = merged(None, file.content, format=file.format)
        if text is not None:
            read = json.loads(text) if file.format == "json" else tomllib.loads(text)
            assert read == file.content


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("claude_code", ("mcpServers", "avb", "timeout"), 600_000),
        ("claude_code", ("mcpServers", "avb", "alwaysLoad"), True),
        ("codex_cli", ("mcp_servers", "avb", "tool_timeout_sec"), 600),
        ("codex_cli", ("mcp_servers", "avb", "required"), True),
        ("opencode", ("mcp", "avb", "timeout"), 600_000),
        ("gemini_cli", ("mcpServers", "avb", "timeout"), 600_000),
        ("openclaw", ("mcp", "servers", "avb", "requestTimeoutMs"), 600_000),
        ("openclaw", ("tools", "toolSearch"), False),
    ],
)
def test_timeouts_are_raised_and_deferral_is_off(name: str, path: tuple[str, ...], value: object) -> None:
    entry: Any = _shared(_setup(HARNESSES[name], Arm.TYPED)).content
    for key in path:
        entry = entry[key]

    assert entry == value


def test_codex_lists_plain_tools_for_every_model_and_drops_apply_patch_only_without_a_shell() -> None:
    overrides = {arm: _setup(HARNESSES["codex_cli"], arm).derived[0].overrides for arm in Arm}

    for arm in Arm:
        assert overrides[arm]["supports_search_tool"] is False
        assert overrides[arm]["tool_mode"] is None
    assert [arm for arm in Arm if "apply_patch_tool_type" in overrides[arm]] == [Arm.TYPED_ONLY]


def test_codex_trusts_a_workspace_whose_name_needs_escaping() -> None:
    request = SetupRequest(server=SERVER, arm=Arm.TYPED, workspace=PurePosixPath('/w/a "b".c\\d'))

    command = HARNESSES["codex_cli"].setup(request).command

    (setting,) = [text for text in command if text.startswith("projects=")]
    assert tomllib.loads(setting) == {"projects": {'/w/a "b".c\\d': {"trust_level": "trusted"}}}


def test_an_endpoint_without_a_model_is_refused() -> None:
    with pytest.raises(ValidationError, match="an endpoint serves no default model"):
        SetupRequest(server=SERVER, arm=Arm.TYPED, workspace=WORKSPACE, endpoint=ENDPOINT)


@pytest.mark.parametrize("base_url", ["127.0.0.1:8399", "http://127.0.0.1:8399/v1", "http://127.0.0.1/"])
def test_an_endpoint_with_a_path_or_without_a_scheme_is_refused(base_url: str) -> None:
    with pytest.raises(ValidationError, match="must be scheme, host and port"):
        Endpoint(base_url=base_url, api_key=KEY)


@pytest.mark.parametrize("path", ["/etc/x.json", "../x.json", "a/../../x.json"])
def test_a_config_file_outside_its_scope_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="must be relative to its scope"):
        ConfigFile(scope="home", path=PurePosixPath(path), format="json")
