"""Arms: what one side of a comparison gives the agent. Written as one word, parts joined by `+`.

shell                        the harness's own tools
typed                        the harness's own tools and ours
typed-only                   ours alone
minus:denoise,color_match    typed without these primitives
typed-only+only:probe,submit ours alone, and of ours these
typed+strip:lens_size        a field of the storyboard is not told
typed+hint                   the true location of the defect is told
shell+narrative              the story of the film is told
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from harness_configs._base import Arm as Base
from primitives._base import UserError
from primitives.registry import select

STRIPPABLE = ("description", "shot_size", "camera_angle", "lens_size", "camera_movement")
"""The fields of a storyboard slot that an experiment may leave out."""
_FORMS = "shell, typed, typed-only, minus:<primitives>, only:<primitives>, strip:<field>, hint, narrative"


class ArmSpec(BaseModel):
    """An arm, taken apart."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    base: Base
    minus: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    strip: tuple[str, ...] = ()
    hint: bool = False
    """Tell the true location of the defect."""
    narrative: bool = False
    """Tell the story of the film."""

    @property
    def serves_tools(self) -> bool:
        return self.base is not Base.SHELL

    @property
    def server_arguments(self) -> tuple[str, ...]:
        """What `avb-mcp serve` is started with besides the workspace."""
        enable = ("--enable", ",".join(self.only)) if self.only else ()
        disable = ("--disable", ",".join(self.minus)) if self.minus else ()
        return (*enable, *disable)

    @property
    def tools(self) -> tuple[str, ...]:
        """The primitives that the agent is to be offered."""
        if not self.serves_tools:
            return ()
        return tuple(primitive.name for primitive in select(list(self.only), list(self.minus)))


def parse_arm(text: str) -> ArmSpec:
    """The arm that a word stands for; a mistake is a sentence with the forms that there are."""
    base: Base | None = None
    lists: dict[str, list[str]] = {"minus": [], "only": [], "strip": []}
    switches: set[str] = set()
    for part in text.split("+"):
        key, colon, names = part.strip().partition(":")
        if not colon and key in list(Base):
            if base is not None:
                raise UserError(f"The arm {text!r} names two bases, {base} and {key}. Keep one.")
            base = Base(key)
        elif colon and key in lists:
            lists[key] += _names(names, part, text)
        elif not colon and key in ("hint", "narrative"):
            switches.add(key)
        else:
            raise UserError(f"The arm {text!r} has a part {part!r} that is not known. Forms: {_FORMS}.")
    _check(text, base, lists)
    return ArmSpec(
        name=text,
        base=base or Base.TYPED,
        minus=tuple(lists["minus"]),
        only=tuple(lists["only"]),
        strip=tuple(lists["strip"]),
        hint="hint" in switches,
        narrative="narrative" in switches,
    )


def parse_arms(texts: Iterable[str]) -> tuple[ArmSpec, ...]:
    """Several arms, none of them twice."""
    arms = tuple(parse_arm(text) for text in texts)
    names = [arm.name for arm in arms]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"The arm {twice[0]!r} is listed twice.")
    return arms


def _names(text: str, part: str, arm: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UserError(f"The part {part!r} of the arm {arm!r} names nothing.")
    return names


def _check(text: str, base: Base | None, lists: dict[str, list[str]]) -> None:
    if base is Base.SHELL and (lists["minus"] or lists["only"]):
        raise UserError(f"The arm {text!r} takes tools from a shell arm, which has none of ours.")
    unknown = [field for field in lists["strip"] if field not in STRIPPABLE]
    if unknown:
        raise UserError(f"The arm {text!r} strips {unknown[0]!r}; a storyboard has {', '.join(STRIPPABLE)}.")
    if not select(lists["only"], lists["minus"]):
        raise UserError(f"The arm {text!r} leaves no primitive.")
