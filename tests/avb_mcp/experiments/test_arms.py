from __future__ import annotations

import pytest

from avb_mcp.experiments.arms import parse_arm, parse_arms
from harness_configs._base import Arm
from primitives._base import UserError
from primitives.registry import PRIMITIVES

ALL = tuple(primitive.name for primitive in PRIMITIVES)


@pytest.mark.parametrize(
    ("text", "base", "tools"),
    [
        ("shell", Arm.SHELL, ()),
        ("typed", Arm.TYPED, ALL),
        ("typed-only", Arm.TYPED_ONLY, ALL),
        ("minus:probe,submit", Arm.TYPED, tuple(name for name in ALL if name not in ("probe", "submit"))),
        ("typed-only+only:probe,submit", Arm.TYPED_ONLY, ("probe", "submit")),
        ("only:submit,probe+minus:probe", Arm.TYPED, ("submit",)),
    ],
)
def test_an_arm_says_which_tools_the_agent_gets(text: str, base: Arm, tools: tuple[str, ...]) -> None:
    arm = parse_arm(text)

    assert (arm.base, arm.tools) == (base, tools)


def test_what_is_told_differently_is_part_of_an_arm() -> None:
    arm = parse_arm("shell+strip:lens_size,shot_size+hint+narrative")

    assert (arm.base, arm.strip, arm.hint, arm.narrative) == (Arm.SHELL, ("lens_size", "shot_size"), True, True)


def test_the_server_is_started_with_what_the_arm_leaves() -> None:
    assert parse_arm("typed").server_arguments == ()
    assert parse_arm("only:probe,submit+minus:submit").server_arguments == (
        "--enable",
        "probe,submit",
        "--disable",
        "submit",
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tpyed", "not known"),
        ("shell+typed", "two bases"),
        ("shell+minus:probe", "none of ours"),
        ("minus:", "names nothing"),
        ("minus:prob", "Did you mean probe"),
        ("strip:plot", "a storyboard has description"),
        ("only:probe+minus:probe", "leaves no primitive"),
        ("", "not known"),
    ],
)
def test_a_mistake_in_an_arm_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        parse_arm(text)


def test_an_arm_listed_twice_is_refused() -> None:
    with pytest.raises(UserError, match="listed twice"):
        parse_arms(["typed", "typed"])
