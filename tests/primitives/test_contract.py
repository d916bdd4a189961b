"""What holds for every primitive, whichever it is."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import primitives
from primitives._base import UserError
from primitives.registry import PRIMITIVES, by_name, select

PACKAGE = Path(primitives.__file__).parent
each = pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda primitive: primitive.name)


def test_the_folder_listing_is_the_feature_list() -> None:
    files = {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_") and path.stem != "registry"}
    assert files == set(by_name())


def test_a_name_listed_twice_raises() -> None:
    with pytest.raises(ValueError, match="listed twice"):
        by_name((PRIMITIVES[0], PRIMITIVES[0]))


@each
def test_one_operation_one_file_one_name(primitive: Any) -> None:
    module = sys.modules[primitive.run.__module__]
    assert module.__name__ == f"primitives.{primitive.name}"
    assert module.PRIMITIVE is primitive
    assert primitive.run.__name__ == primitive.name


@each
def test_a_primitive_knows_no_sibling(primitive: Any) -> None:
    tree = ast.parse((PACKAGE / f"{primitive.name}.py").read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    siblings = {f"primitives.{name}" for name in by_name()} | {"primitives.registry"}
    assert imported & siblings == set()


@each
def test_descriptions_are_short_and_name_the_next_step(primitive: Any) -> None:
    assert 40 <= len(primitive.description) <= 300


def test_listing_the_primitives_imports_nothing_heavy() -> None:
    code = "import sys, primitives.registry; print(*sorted({'av', 'cv2', 'numpy', 'mcp', 'rich'} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert result.stdout.strip() == ""


def test_switching_off_removes_and_switching_on_keeps_the_order() -> None:
    assert [p.name for p in select([], ["submit"])] == [p.name for p in PRIMITIVES if p.name != "submit"]
    assert [p.name for p in select(["submit", "probe"], [])] == ["probe", "submit"]


def test_an_unknown_switch_names_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"no primitive 'frame_gird'. Did you mean frame_grid\? Known: probe"):
        select(["frame_gird"], [])
