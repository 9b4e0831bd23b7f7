"""Old blocks become calls, and nothing that somebody could read is lost."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coaching.files.permissions import WRITTEN_TYPES
from coaching.files.types import RULES
from coaching.legacy_text.blocks import strip_block_tags
from coaching.legacy_text.parser import NOT_CLOSED, NOT_OPENED, parse_blocks
from coaching.legacy_text.readers import ARCS, DOMAINS, FILE_TYPES, STATUSES
from coaching.models import FileType, LifeDomain
from coaching.models.files import PRIVATE_TYPES
from coaching.models.life import DomainStatus
from coaching.tools import CHAT_TOOLS
from tests.legacy_text.replies import REPLIES


@given(REPLIES)
def test_every_word_stays_and_no_tag(text: str) -> None:
    reply = parse_blocks(text)
    shown = "\n".join([reply.text, *_texts_in([call.input for call in reply.calls])])
    assert [word for word in _words(text) if word not in shown] == []
    if reply.has_tags:
        assert parse_blocks(reply.text).text == reply.text
        assert not parse_blocks(reply.text).has_tags
    assert list(reply.round_ends) == sorted(reply.round_ends)
    assert reply.round_ends[-1] == len(reply.text)


@given(REPLIES)
def test_every_call_fits_its_tool(text: str) -> None:
    for call in parse_blocks(text).calls:
        tool = CHAT_TOOLS.get(call.name)
        assert tool is not None
        tool.input_model.model_validate(call.input)


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30), max_size=8))
def test_any_answers_that_are_read_fit_the_tool(lines: list[str]) -> None:
    reply = parse_blocks(
        "[SUGGESTED_REPLIES]\n{}\n[/SUGGESTED_REPLIES]".format("\n".join(lines).replace("\0", ""))
    )
    tool = CHAT_TOOLS.get("show_options")
    assert tool is not None
    for call in reply.calls:
        if call.name == "show_options":
            tool.input_model.model_validate(call.input)


def test_a_reply_becomes_rounds_of_words_and_calls() -> None:
    reply = parse_blocks(
        'Here it is.\n\n[FILE_UPDATE type="domain" name="Career / Work" preview_line="A new role"]\n'
        "# Career\n\nLeading a team.\n[/FILE_UPDATE]\n\nWhat next?\n"
        "[SUGGESTED_REPLIES]\n- Rest\n- Plan the week\n"
        "[/SUGGESTED_REPLIES]\n[ENTER_MODE: open-day] [SESSION_COMPLETE]"
    )
    assert reply.text == "Here it is.\n\nWhat next?"
    assert reply.round_ends == [11, 23]
    assert [(call.round_number, call.name, call.input) for call in reply.calls] == [
        (
            1,
            "save_file",
            {
                "file_type": "domain",
                "file_name": "career",
                "content": "# Career\n\nLeading a team.",
                "attributes": {"preview_line": "A new role"},
            },
        ),
        (2, "show_options", {"options": [{"label": "Rest"}, {"label": "Plan the week"}]}),
        (2, "enter_structured_arc", {"arc": "open_day"}),
        (2, "complete_session", {"type": "session"}),
    ]
    assert reply.unread == []


def test_a_day_plan_is_a_file_with_all_its_words_and_written_before_the_plan_in_prose() -> None:
    data = {
        "energy_level": "focused",
        "intention": "Ship it",
        "priorities": [{"rank": 1, "text": "Finish", "completed": False}, {"rank": 2, "text": "Walk"}],
        "open_threads": [{"text": "The reorg", "provenance_label": "From Tuesday"}],
    }
    reply = parse_blocks(
        '[FILE_UPDATE type="day-plan"]\nIn prose.\n[/FILE_UPDATE]\n'
        f"[DAY_PLAN_DATA]\n{json.dumps(data)}\n[/DAY_PLAN_DATA]"
    )
    plan, prose = (call.input for call in reply.calls)
    assert prose["content"] == "In prose."
    assert plan["file_type"] == "day-plan"
    assert plan["attributes"] == {
        "energy": "focused",
        "intention": "Ship it",
        "priorities": ["Finish", "Walk"],
    }
    assert plan["content"] == (
        "**Energy level:** focused\n\n**Intention:** Ship it\n\n**Priorities**\n\n- Finish\n- Walk\n\n"
        "**Open threads**\n\n- The reorg · From Tuesday"
    )


@pytest.mark.parametrize(
    ("text", "shown", "unread"),
    [
        ('a [FILE_UPDATE type="overview"]\nb', "a \nb", [("FILE_UPDATE", NOT_CLOSED)]),
        ("a [/FILE_UPDATE] b", "a b", [("FILE_UPDATE", NOT_OPENED)]),
        ("[FILE_UPDATE]a[/FILE_UPDATE]", "a", [("FILE_UPDATE", "its type is missing")]),
        ('[FILE_UPDATE type="poem"]a[/FILE_UPDATE]', "a", [("FILE_UPDATE", "its type is unknown")]),
        ('[FILE_UPDATE type="domain"]a[/FILE_UPDATE]', "a", [("FILE_UPDATE", "its domain is missing")]),
        ('[FILE_UPDATE type="overview"][/FILE_UPDATE]', "", [("FILE_UPDATE", "it is empty")]),
        ("[DAY_PLAN_DATA]{a}[/DAY_PLAN_DATA]", "{a}", [("DAY_PLAN_DATA", "it isn’t JSON")]),
        ("[DAY_PLAN_DATA][1][/DAY_PLAN_DATA]", "[1]", [("DAY_PLAN_DATA", "it isn’t a JSON object")]),
        ("[ENTER_MODE: poems] b", "b", [("ENTER_MODE", "its mode is unknown")]),
        ("[ENTER_MODE] b", "b", [("ENTER_MODE", "its mode is missing")]),
        (
            "[SUGGESTED_REPLIES]a[/SUGGESTED_REPLIES]",
            "a",
            [("SUGGESTED_REPLIES", "it has 1 answers instead of 2 to 6")],
        ),
        (
            "[DAY_PLAN_DATA]" + '{"a":' * 5_000 + "1" + "}" * 5_000 + "[/DAY_PLAN_DATA]",
            '{"a":' * 5_000 + "1" + "}" * 5_000,
            [("DAY_PLAN_DATA", "it isn’t JSON")],
        ),
        (
            f'[FILE_UPDATE type="overview"]{"a" * 100_001}[/FILE_UPDATE]',
            "a" * 100_001,
            [("FILE_UPDATE", "it has 100,001 characters; a file has at most 100,000")],
        ),
    ],
)
def test_the_words_of_an_unreadable_block_stay(text: str, shown: str, unread: list[tuple[str, str]]) -> None:
    reply = parse_blocks(text)
    assert reply.text == shown
    assert [(block.block, block.reason) for block in reply.unread] == unread
    assert reply.calls == []


@pytest.mark.parametrize(
    ("tag", "values"),
    [
        ('[FILE_UPDATE type="domain" name="Health / Body"]', {"file_name": "health"}),
        ("[file_update TYPE='domain' name=health]", {"file_name": "health"}),
        ("[FILE_UPDATE type=“domain” name=“health”]", {"file_name": "health"}),
        ('[FILE_UPDATE type="domain", name="health"]', {"file_name": "health"}),
        ('[ FILE_UPDATE type="domain" name="health"', {"file_name": "health"}),
        (
            '[FILE_UPDATE type="domain" name="Health [mine]" status="Needs attention" x="y"]',
            {"file_name": "health", "attributes": {"status": "needs_attention"}},
        ),
        (
            '[FILE_UPDATE type="daily_log" name="2026-02-17"]',
            {"file_type": "daily-log", "file_name": "2026-02-17"},
        ),
        ('[FILE_UPDATE type="check-in" name="This week"]', {"file_type": "check-in"}),
        ('[FILE_UPDATE type="overview" name="Life Map"]', {"file_type": "overview"}),
    ],
)
def test_attributes_are_read_as_they_were_meant(tag: str, values: dict[str, Any]) -> None:
    (call,) = parse_blocks(f"{tag}\nBody.\n[/FILE_UPDATE]").calls
    assert call.input == {"file_type": "domain", "content": "Body."} | values


def test_nested_blocks_are_calls_of_their_own() -> None:
    reply = parse_blocks(
        '[FILE_UPDATE type="overview"]a[SUGGESTED_REPLIES]x\ny[/SUGGESTED_REPLIES]'
        '[FILE_UPDATE type="life-plan"]b[/FILE_UPDATE]c[SUGGESTED_REPLIES]z[/FILE_UPDATE]'
    )
    assert [call.input.get("content") for call in reply.calls] == [None, "b", "a\n\n c z"]
    assert [block.reason for block in reply.unread] == [NOT_CLOSED]


def test_code_keeps_its_blocks() -> None:
    text = 'So:\n\n```\n[FILE_UPDATE type="overview"]\na\n[/FILE_UPDATE]\n```\n'
    assert parse_blocks(text).text == text
    assert not parse_blocks(text).has_tags


def test_the_closed_sets_are_those_of_today() -> None:
    assert {name: RULES[name].naming for name in WRITTEN_TYPES} == {
        FileType(name): naming for name, naming in FILE_TYPES.items()
    } | {name: RULES[name].naming for name in PRIVATE_TYPES}, "old replies wrote no private pages"
    assert set(DOMAINS.values()) == set(LifeDomain.values)
    assert set(STATUSES) == set(DomainStatus.values)
    tool = CHAT_TOOLS.get("enter_structured_arc")
    assert tool is not None
    for arc in ARCS:
        tool.input_model.model_validate({"arc": arc})


def _words(text: str) -> set[str]:
    """Return the words outside tags, without the keys of JSON and what may be a name that was cut."""
    return set(re.findall(r"\w+", strip_block_tags(text))) - {
        "intention",
        "priorities",
        "FILE_",
        "SESSION_COM",
    }


def _texts_in(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts_in(item)]
    return [text for item in value for text in _texts_in(item)] if isinstance(value, list) else []
