"""Exports of ChatGPT and Claude, plain or as ZIP; a clear sentence for anything else."""

import io
import json
import struct
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import pytest

from coaching.legacy.importers import bounded, layouts, source
from coaching.legacy.importers.formats import ADAPTERS, Recognition
from coaching.legacy.importers.json_stream import Item, read_items
from coaching.legacy.importers.source import open_source
from coaching.legacy.importers.things import (
    Format,
    FoundConversation,
    NotImportable,
    Problem,
    Thing,
    UnknownFields,
)
from coaching.models import ImportFormat
from tests.legacy.exports import chatgpt_conversation, claude_conversation, claude_message


def read(data: object, wanted: Format | None = None) -> tuple[Format, Sequence[Thing]]:
    file = BytesIO(data if isinstance(data, bytes) else json.dumps(data).encode())
    found, recognition = open_source(file), Recognition(wanted)
    for item in found.items():
        recognition.look_at(item)
    adapter = recognition.found()
    return adapter.format, [thing for item in found.items() for thing in adapter.read(item)]


def items_of(data: bytes) -> list[Item]:
    return list(read_items(io.BytesIO(data).read))


def conversation(things: Sequence[Thing]) -> FoundConversation:
    """Return the only conversation, without its other branches."""
    (found,) = conversations(things)
    return found


def conversations(things: Sequence[Thing]) -> list[FoundConversation]:
    return [thing for thing in things if isinstance(thing, FoundConversation) and not thing.branch_of]


def zipped(**members: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_json", ".json"), data)
    return out.getvalue()


def refusal(data: bytes) -> str:
    with pytest.raises(NotImportable) as refused:
        read(data)
    return str(refused.value)


def test_chatgpt_gives_the_branch_that_was_shown() -> None:
    kind, things = read([chatgpt_conversation()])
    found = conversation(things)
    assert kind == "chatgpt"
    assert (found.imported_id, found.title) == ("c-1", "Growing artichokes")
    assert [(message.role, message.text) for message in found.messages] == [
        ("user", "How do I grow artichokes?"),
        ("assistant", "In deep soil with sun."),
        ("user", "(An image)\n\nIs this one?"),
        ("assistant", "Yes, a young one."),
    ]
    assert not [thing for thing in things if isinstance(thing, UnknownFields | Problem)]


def test_chatgpt_without_a_current_node_gives_the_newest_branch() -> None:
    told = chatgpt_conversation() | {"current_node": None}
    assert [message.text for message in conversation(read([told])[1]).messages][-1] == "Yes, a young one."


def test_a_circle_of_nodes_ends() -> None:
    told = chatgpt_conversation()
    told["mapping"]["root"]["parent"] = "last"
    assert len(conversation(read([told])[1]).messages) == 4


def test_claude_gives_the_branch_that_was_shown() -> None:
    kind, things = read([claude_conversation()])
    found = conversation(things)
    assert kind == "claude"
    assert [(message.role, message.text) for message in found.messages] == [
        ("user", "Help me write to my landlord."),
        ("assistant", "Gladly."),
        ("user", "Begin with the boiler.\n\n**boiler.pdf**\n\n```\n…\n```"),
        ("assistant", "Dear Ms Ferro, the boiler…"),
    ]
    assert not [thing for thing in things if isinstance(thing, UnknownFields | Problem)]


def test_an_older_claude_export_is_a_list_of_texts() -> None:
    messages = [claude_message("q", "human", "Hi."), claude_message("a", "assistant", "Hello.")]
    told = claude_conversation() | {"chat_messages": [message | {"content": []} for message in messages]}
    assert [message.text for message in conversation(read([told])[1]).messages] == ["Hi.", "Hello."]


@pytest.mark.parametrize("told", [chatgpt_conversation(), claude_conversation()])
def test_unknown_fields_are_named_and_stop_nothing(told: dict[str, Any]) -> None:
    things = read([told | {"horoscope": 1}, 5])[1]
    assert conversation(things).messages
    assert UnknownFields(names=frozenset({"[].horoscope"})) in things
    assert any(isinstance(thing, Problem) and thing.where == "line 1, [1]" for thing in things)


def test_a_zip_is_read_as_it_was_downloaded() -> None:
    data = json.dumps([chatgpt_conversation()]).encode()
    parts = {
        "conversations-000_json": data,
        "conversations-001_json": data,
        "user_json": b"{}",
        "chat.html": b"x",
    }
    assert (
        len(
            [
                thing
                for thing in read(zipped(**parts))[1]
                if isinstance(thing, FoundConversation) and not thing.branch_of
            ]
        )
        == 2
    )
    in_folder = zipped(export__conversations_json=data, users_json=b"[]")
    assert conversation(read(in_folder)[1]).imported_id == "c-1"
    sage = json.dumps({"sessions": [{"id": "s", "messages": []}]}).encode()
    assert read(zipped(my_export_json=sage))[0] == "sage"


CONVERSATIONS: Mapping[str, Any] = {
    "chatgpt": chatgpt_conversation() | {"title": "Zürich 😀 \u2028"},
    "claude": claude_conversation() | {"name": "Zürich 😀 \u2028"},
}


@pytest.mark.parametrize("name", CONVERSATIONS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("is_zipped", [False, True])
def test_conversations_come_one_a_line_and_in_other_encodings(
    name: str, encoding: str, *, is_zipped: bool
) -> None:
    told = CONVERSATIONS[name]
    expected = conversation(read([told])[1])
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    layouts = {
        "list": json.dumps([told], ensure_ascii=False),
        "one": json.dumps(told, ensure_ascii=False),
        "one, indented": json.dumps(told, indent=1),
        "lines": "\n" + "\r\n".join(json.dumps(each, ensure_ascii=False) for each in [told, {"x": 1}, told]),
        "another first": json.dumps({"x": 1}) + "\n" + json.dumps(told),
        "long line": json.dumps(told | {"summary": "x" * 300_000}) + "\n" + json.dumps(told),
    }
    for layout, text in layouts.items():
        data = (mark + text).encode(encoding)
        ending = "conversations.jsonl" if "line" in layout else "conversations_json"
        kind, things = read(zipped(**{ending: data}) if is_zipped else data)
        found = conversations(things)
        assert kind == name
        assert len(found) == (2 if "line" in layout else 1), layout
        assert (found[0].title, found[0].messages) == (expected.title, expected.messages)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lines_may_begin_with_a_long_conversation_without_messages(encoding: str) -> None:
    told = claude_conversation()
    empty = told | {"chat_messages": [], "uuid": "c-0", "name": "x" * 2_000}
    lines = json.dumps(empty) + "\n" + json.dumps(told)
    found = [
        thing
        for thing in read(lines.encode(encoding))[1]
        if isinstance(thing, FoundConversation) and not thing.branch_of
    ]
    assert [each.imported_id for each in found] == ["c-0", told["uuid"]]


@pytest.mark.parametrize("limit", [5_000, 300_000])
def test_text_of_utf_16_never_makes_a_read_negative(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "MAX_PASSED_OVER_BYTES", limit)
    file = BytesIO(('{"title": "' + "€" * 400_000 + '", "mapping": {}}').encode("utf-16"))
    sizes: list[int] = []

    def reader(size: int) -> bytes:
        sizes.append(size)
        return file.read(size)

    layouts.holds_conversations(layouts.in_utf8(reader))
    assert min(sizes) >= 0


def test_an_export_of_the_earlier_app_is_no_single_conversation() -> None:
    for indent in (None, 1):
        told = {"profile": {"name": "x"}, "sessions": [{"id": "s", "messages": [], "mapping": {}}]}
        kind, things = read(json.dumps(told, indent=indent).encode("utf-16"))
        assert (kind, conversation(things).imported_id) == ("sage", "s")


@pytest.mark.parametrize("data", [b"\xd8\x00", b"x"])
def test_half_a_character_of_utf_16_ends_no_reader(data: bytes) -> None:
    with pytest.raises(NotImportable):
        read(b"\xfe\xff" + '[{"a": "'.encode("utf-16-be") + data)


def test_a_line_that_is_no_json_refuses_the_file_with_its_line() -> None:
    line = json.dumps(chatgpt_conversation()).encode()
    assert "Line 2 " in refusal(line + b'\n{"a" 1}\n' + line)


@pytest.mark.slow
def test_a_bomb_is_not_opened() -> None:
    assert refusal(zipped(conversations_json=b"[" + b" " * (30 << 20) + b"]")) == source.BOMB


def test_a_zip_that_lies_about_its_size_is_damaged() -> None:
    data = bytearray(zipped(conversations_json=b"[" + b" " * (12 << 20) + b"]"))
    place = data.rindex(b"PK\x01\x02") + 24  # the unpacked size in the directory
    data[place : place + 4] = struct.pack("<I", 1000)
    assert "Download it again" in refusal(bytes(data))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", source.EMPTY),
        (b"%PDF-1.7 ...", source.NOT_JSON_OR_ZIP),
        (b"\xff\xfe\x00\x00[\x00\x00\x00", source.NOT_JSON_OR_ZIP),
        (b"\x00[\x00]", source.NOT_JSON_OR_ZIP),
        (b"\xff\xfe%\x00P\x00", source.NOT_JSON_OR_ZIP),
        (b"PK\x03\x04 and no more", source.BROKEN_ZIP),
        (zipped(photos_json=b"[]", notes_json=b"[]"), source.NO_CONVERSATIONS),
        (zipped(**{"chat.html": b"x"}), source.NO_CONVERSATIONS),
    ],
)
def test_another_file_gets_a_clear_sentence(data: bytes, sentence: str) -> None:
    assert refusal(data) == sentence


@pytest.mark.parametrize("data", [b'[{"a": 1}]', b"[]", b'{"name": "x"}', b"[1, 2]", b'"text"'[:0] + b"{}"])
def test_json_of_another_kind_gets_a_clear_sentence(data: bytes) -> None:
    assert "no conversations it can read" in refusal(data)


def test_another_format_than_the_one_asked_for_is_refused() -> None:
    with pytest.raises(NotImportable, match="isn’t an export of Claude"):
        read([chatgpt_conversation()], "claude")


@pytest.mark.parametrize(
    "data", [b'[{"a": 1]', b'[{"a": "x', b"[" + b"9" * 6000 + b"]", b'[{"a": 1}]\n{', b'["\xff"]']
)
def test_what_is_not_json_names_its_line(data: bytes) -> None:
    with pytest.raises(bounded.NotJson) as error:
        items_of(b"\n\n" + data)
    assert error.value.line >= 3


def test_every_value_knows_its_line() -> None:
    told = {"sessions": [{"id": 1, "messages": [{"id": 2}, {"id": 3, "text": "x"}]}], "files": [5]}
    items = items_of(json.dumps(told, indent=1).encode())
    lines = json.dumps(told, indent=1).splitlines()
    session = items[0]
    assert session.name_of(("messages", 1, "text")) == "sessions[0].messages[1].text"
    assert '"x"' in lines[session.line_of(("messages", 1, "text")) - 1]
    assert items[1].path == ("files", 0)


def test_an_item_that_is_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MAX_ITEM_BYTES", 20_000)
    large = chatgpt_conversation() | {"title": "x" * 20_000}
    things = read(
        [claude_conversation() | {"mapping": 1, "chat_messages": 1}, large, chatgpt_conversation()]
    )[1]
    assert [thing.text for thing in things if isinstance(thing, Problem)][1] == bounded.TOO_LARGE.reason


def test_deep_nesting_is_left_out() -> None:
    deep = b'{"sessions": [' + b"[" * 5_000 + b"]" * 5_000 + b', {"id": "s", "messages": []}]}'
    things = read(deep)[1]
    assert bounded.TOO_DEEP.reason in [thing.text for thing in things if isinstance(thing, Problem)]
    assert conversation(things).imported_id == "s"


def test_every_format_has_a_reader() -> None:
    assert set(ADAPTERS) == set(ImportFormat)
