"""Packages are installed once into a private folder, found again offline, and run by the right Node.

npm and node are stand-ins on the PATH: what is tested is what we ask of them and what we do with the answer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from avb_mcp import npm
from harness_configs._base import NpmPackage
from tests.avb_mcp.fake_cli import install_fake_cli

NATIVE = NpmPackage(name="@scope/native", version="1.2.3", executable="native")
NEEDS_26 = NpmPackage(name="modern", version="4.5.6", executable="modern", node_at_least=(26, 1))
NEEDS_20 = NpmPackage(name="classic", version="7.8.9", executable="classic", node_at_least=(20, 0))

FAKE_NPM = """
import json, os, sys
from pathlib import Path
target = Path(sys.argv[sys.argv.index("--prefix") + 1])
name, _, version = sys.argv[-1].rpartition("@")
with open(os.environ["NPM_LOG"], "a") as log:
    print(sys.argv[-1], "node first:", os.environ["PATH"].split(os.pathsep)[0], file=log)
if name == "broken":
    sys.exit("npm error 404 no such package")
root = target / "node_modules" / name
root.mkdir(parents=True)
short = name.rpartition("/")[2]
script = "bin/node" if name == "node" else "run.exe" if short == "native" else "run.js"
(root / "package.json").write_text(json.dumps({"bin": {short: script} if short != "classic" else script}))
if name != "scriptless":
    (root / script).parent.mkdir(exist_ok=True)
    (root / script).write_text("#!/bin/sh\\necho v26.10.0\\n")
    (root / script).chmod(0o755)
"""


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with npm and Node 20 only, and an empty tools folder."""
    path = tmp_path / "system"
    path.mkdir()
    (path / "npm").write_text(f"#!{sys.executable}\n{FAKE_NPM}")
    (path / "node").write_text("#!/bin/sh\necho v20.20.2\n")
    for program in path.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setenv("AVB_TOOLS", str(tmp_path / "tools"))
    monkeypatch.setenv("NPM_LOG", str(tmp_path / "npm.log"))
    return path


def _installed(tmp_path: Path) -> list[str]:
    log = tmp_path / "npm.log"
    return [line.split()[0] for line in log.read_text().splitlines()] if log.exists() else []


def test_a_package_is_installed_once_and_then_found_without_npm(system: Path, tmp_path: Path) -> None:
    assert npm.find(NATIVE) is None
    first = npm.ensure(NATIVE)
    (system / "npm").unlink()

    assert npm.ensure(NATIVE) == npm.find(NATIVE) == first
    assert first.argv == (str(tmp_path / "tools/scope-native-1.2.3/node_modules/@scope/native/run.exe"),)
    assert _installed(tmp_path) == ["@scope/native@1.2.3"]


def test_a_script_runs_with_the_systems_node_when_that_is_new_enough(system: Path, tmp_path: Path) -> None:
    tool = npm.ensure(NEEDS_20)

    script = tmp_path / "tools/classic-7.8.9/node_modules/classic/run.js"
    assert tool.argv == (str(system / "node"), str(script))
    assert tool.search_path.split(":")[0] == str(system)


def test_a_package_that_needs_a_newer_node_gets_one_from_npm_before_itself(system: Path, tmp_path: Path) -> None:
    tool = npm.ensure(NEEDS_26)

    node = tmp_path / f"tools/node-{npm.NODE.version}/node_modules/node/bin/node"
    assert tool.argv[0] == str(node)
    assert tool.search_path.split(":")[0] == str(node.parent)
    lines = (tmp_path / "npm.log").read_text().splitlines()
    assert lines[0].startswith(f"node@{npm.NODE.version} ")
    assert lines[1] == f"modern@4.5.6 node first: {node.parent}"


def test_a_failed_install_quotes_npm_and_leaves_nothing_behind(system: Path, tmp_path: Path) -> None:
    with pytest.raises(npm.NpmError, match=r"could not install broken 1\.0\.0: npm error 404"):
        npm.ensure(NpmPackage(name="broken", version="1.0.0", executable="broken"))

    assert list((tmp_path / "tools").iterdir()) == []


def test_a_package_without_its_executable_is_explained(system: Path) -> None:
    with pytest.raises(npm.NpmError, match="without its executable; is ignore-scripts set"):
        npm.ensure(NpmPackage(name="scriptless", version="1.0.0", executable="scriptless"))


def test_without_npm_the_sentence_names_the_package_and_the_way_out(system: Path) -> None:
    (system / "npm").unlink()

    with pytest.raises(npm.NpmError, match=r"npm is not on the PATH, so @scope/native 1\.2\.3 .* AVB_TOOLS"):
        npm.ensure(NATIVE)


def test_a_native_package_is_found_on_a_machine_without_node(system: Path, tmp_path: Path) -> None:
    (system / "node").unlink()
    executable = install_fake_cli(tmp_path / "tools", NATIVE, "")

    tool = npm.find(NATIVE)

    assert tool is not None
    assert tool.argv == (str(executable),)


def test_the_users_own_installation_is_found_on_the_path(system: Path) -> None:
    (system / "native").write_text("#!/bin/sh\n")
    (system / "native").chmod(0o755)

    tool = npm.on_path(NATIVE)

    assert tool is not None
    assert tool.argv == (str(system / "native"),)
    assert npm.on_path(NEEDS_26) is None


def test_the_tools_folder_is_the_variable_or_lies_in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AVB_TOOLS", "/somewhere")
    assert npm.tools_folder() == Path("/somewhere")
    monkeypatch.delenv("AVB_TOOLS")
    assert npm.tools_folder() == Path(npm.__file__).resolve().parent.parent / ".tools"


def test_a_damaged_package_folder_counts_as_not_installed(system: Path, tmp_path: Path) -> None:
    executable = install_fake_cli(tmp_path / "tools", NATIVE, "")
    executable.unlink()

    assert npm.find(NATIVE) is None
    assert json.loads((executable.parent.parent / "package.json").read_text())["bin"]
