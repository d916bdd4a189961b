"""Our keys go into a user's file, everything else stays, and what cannot be kept safe is refused."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_configs._merge import MergeError, merged

OURS = {"mcpServers": {"avb": {"command": "avb-mcp", "args": ["serve"], "timeout": 600000}}}
OUR_PATH = (("mcpServers", "avb"),)
TOML_OURS = {"mcp_servers": {"avb": {"command": "avb-mcp", "args": ["serve"], "required": True}}}
TOML_PATH = (("mcp_servers", "avb"),)

USER_JSON = """{
    "theme": "dark",
    "mcpServers": {
        "other": {"command": "other"}
    },
    "last": ["ü", 1]
}
"""
USER_TOML = """# my settings
model = "some-model"   # the good one

[mcp_servers.other]
command = "other"  # mine

[profiles.fast]
effort = "low"
"""


def test_a_missing_json_file_gets_exactly_our_keys() -> None:
    text = merged(None, OURS, format="json")

    assert text is not None
    assert json.loads(text) == OURS
    assert text.endswith("}\n")


def test_a_json_file_keeps_its_other_keys_their_order_and_its_indentation() -> None:
    text = merged(USER_JSON, OURS, format="json")

    assert text == (
        '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": {\n            "command": "other"\n'
        '        },\n        "avb": {\n            "command": "avb-mcp",\n            "args": [\n'
        '                "serve"\n            ],\n            "timeout": 600000\n        }\n    },\n'
        '    "last": [\n        "ü",\n        1\n    ]\n}\n'
    )


def test_a_toml_file_keeps_its_comments_and_gains_one_table() -> None:
    text = merged(USER_TOML, TOML_OURS, format="toml")

    assert text == USER_TOML.replace(
        "[profiles.fast]",
        '[mcp_servers.avb]\ncommand = "avb-mcp"\nargs = ["serve"]\nrequired = true\n\n[profiles.fast]',
    )


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = {other = {command = "other"}}\n',
        '[mcp_servers]\nother = {command = "other"}\n\n[z]\nq = 1\n',
        'mcp_servers.other.command = "other"\n\n[z]\nq = 1\n',
        '[mcp_servers.other.env]\nK = "1"\n\n[z]\nq = 1\n\n[mcp_servers.more]\ncommand = "2"\n',
        "[[rules]]\na = 1\n[[rules]]\na = 2\n",
    ],
)
def test_every_way_to_write_a_toml_table_is_merged_to_the_same_meaning(text: str) -> None:
    result = merged(text, TOML_OURS, format="toml")

    expected = tomllib.loads(text)
    expected.setdefault("mcp_servers", {})["avb"] = TOML_OURS["mcp_servers"]["avb"]
    assert result is not None
    assert tomllib.loads(result) == expected


def test_a_table_at_the_end_of_a_toml_file_is_set_off_by_one_empty_line() -> None:
    user = '[mcp_servers.other]\ncommand = "other"\n'

    text = merged(user, TOML_OURS, format="toml")

    assert text == f'{user}\n[mcp_servers.avb]\ncommand = "avb-mcp"\nargs = ["serve"]\nrequired = true\n'


def test_removing_our_entry_from_toml_gives_the_users_file_back() -> None:
    with_ours = merged(USER_TOML, TOML_OURS, format="toml")

    assert merged(with_ours, {}, TOML_PATH, format="toml") == USER_TOML


def test_removing_our_entry_from_json_leaves_the_others() -> None:
    with_ours = merged(USER_JSON, OURS, format="json")

    without = merged(with_ours, {}, OUR_PATH, format="json")

    assert without is not None
    assert json.loads(without) == json.loads(USER_JSON)


def test_removing_from_a_missing_file_creates_none() -> None:
    assert merged(None, {}, OUR_PATH, format="json") is None


@pytest.mark.parametrize("text", ['{"mcpServers": {"other": {}}}', '{"mcpServers":\t[]}', "{}", USER_JSON])
def test_removing_an_entry_that_is_not_there_returns_the_text_byte_for_byte(text: str) -> None:
    assert merged(text, {}, OUR_PATH, format="json") == text


def test_a_key_that_the_user_added_to_our_entry_survives() -> None:
    text = '{"mcpServers": {"avb": {"command": "old", "env": {"AVB_DISABLE": "submit"}}}}'

    result = merged(text, OURS, format="json")

    assert result is not None
    entry = json.loads(result)["mcpServers"]["avb"]
    assert entry == {**OURS["mcpServers"]["avb"], "env": {"AVB_DISABLE": "submit"}}


def test_windows_line_ends_are_kept() -> None:
    result = merged(USER_JSON.replace("\n", "\r\n"), OURS, format="json")

    assert result is not None
    assert result.count("\n") == result.count("\r\n") > 5


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_file_counts_as_an_empty_config(text: str) -> None:
    assert merged(text, OURS, format="json") == merged(None, OURS, format="json")
    toml = merged(text, TOML_OURS, format="toml")
    assert toml is not None
    assert tomllib.loads(toml) == TOML_OURS


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{\n  // mine\n  "a": 1\n}', "line 2 is not plain JSON"),
        ('{"a": 1,}', "line 1 is not plain JSON"),
        ('{"a": NaN}', "NaN is not plain JSON"),
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ("[]", "the top level is a list"),
        ('{"mcpServers": []}', "mcpServers is [], a table is needed there"),
        ('{"mcpServers": {"avb": "x"}}', "mcpServers.avb is 'x', a table is needed there"),
    ],
)
def test_json_that_could_lose_something_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(MergeError) as refusal:
        merged(text, OURS, format="json")

    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = \n", "not valid TOML"),
        ("a = 1\na = 2\n", "not valid TOML"),
        ("mcp_servers = 3\n", "mcp_servers is 3, a table is needed there"),
    ],
)
def test_toml_that_could_lose_something_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(MergeError) as refusal:
        merged(text, TOML_OURS, format="toml")

    assert sentence in str(refusal.value)


_KEYS = st.sampled_from(["avb", "mcpServers", "a", "ключ", "with space", ""])
_LEAVES = st.one_of(
    st.booleans(), st.integers(-5, 5), st.sampled_from(["", "x", "ü"]), st.lists(st.integers(), max_size=2)
)
_DOCUMENTS = st.recursive(_LEAVES, lambda inner: st.dictionaries(_KEYS, inner, max_size=3), max_leaves=8)


@given(st.dictionaries(_KEYS, _DOCUMENTS, max_size=4), st.sampled_from([None, 2, 4, "\t"]))
def test_merging_any_json_keeps_what_is_not_ours_and_is_idempotent(
    document: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    servers = document.get("mcpServers", {})
    if not isinstance(servers, dict) or not isinstance(servers.get("avb", {}), dict):
        with pytest.raises(MergeError):
            merged(text, OURS, format="json")
        return

    once = merged(text, OURS, format="json")

    assert once is not None
    assert merged(once, OURS, format="json") == once
    after = json.loads(once)
    ours = after["mcpServers"].pop("avb")
    assert OURS["mcpServers"]["avb"].items() <= ours.items()
    before = json.loads(text)
    before.setdefault("mcpServers", {}).pop("avb", None)
    assert after == before
    assert list(after) == list(before)
