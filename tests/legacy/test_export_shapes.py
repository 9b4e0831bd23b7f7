"""What exports of ChatGPT and Claude have besides plain text is kept as it was shown, or reported."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from coaching.legacy.importers.formats import ADAPTERS
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.things import (
    CHANGED_DOCUMENT,
    CUT_ATTACHMENT,
    LONG_ATTACHMENT,
    MAX_ID_CHARACTERS,
    MAX_MESSAGE_CHARACTERS,
    NO_ID,
    Problem,
    Thing,
    UnknownFields,
)
from tests.legacy.exports import chatgpt_conversation, chatgpt_node, claude_conversation, claude_message
from tests.legacy.test_formats import conversation, read
from tests.thoroughness import sample

PICTURE = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_0"}
SOUND = {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {}}
ODD_VALUES: list[Any] = [None, [], {}, ["x"], {"type": []}, "", "x", 10**400, -1.5, float("inf"), True]
PLACEHOLDER = "```\nThis block is not supported on your current device yet.\n```"


def chatgpt(*nodes: Mapping[str, Any], **fields: Any) -> Sequence[Thing]:
    """Read a conversation of one branch."""
    mapping: dict[str, Any] = {}
    for place, node in enumerate(nodes):
        ((key, value),) = node.items()
        mapping |= {key: value | {"parent": next(reversed(mapping), None)}}
        assert len(mapping) == place + 1
    return read([{"conversation_id": "c", "current_node": [*mapping][-1], "mapping": mapping} | fields])[1]


def claude(*messages: Mapping[str, Any]) -> Sequence[Thing]:
    return read([claude_conversation() | {"chat_messages": list(messages)}])[1]


def texts(things: Sequence[Thing]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation(things).messages]


def problems(things: Sequence[Thing]) -> list[str]:
    return [thing.text for thing in things if isinstance(thing, Problem)]


def unknown(things: Sequence[Thing]) -> set[str]:
    return {name for thing in things if isinstance(thing, UnknownFields) for name in thing.names}


def use(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ('In \ue200entity\ue202["city","Lisbon","a capital"]\ue201.', "In Lisbon."),
        ("By \ue200entity\ue202Pessoa\ue201.", "By Pessoa."),
        (
            "At \ue200url\ue202the town hall\ue202https://a.example/b\ue201.",
            "At [the town hall](https://a.example/b).",
        ),
        ("Cold.\ue200cite\ue202turn0search0\ue202turn0news1\ue201 Wet.", "Cold. Wet."),
        ("\ue203Cold.\ue204\ue202turn0search0 Wet:contentReference[oaicite:0]{index=0}.", "Cold. Wet."),
        ('Cold.:chatgpt-content-reference{index="3"}', "Cold."),
        (f"Here.\ue200image_group\ue202{'x' * 900}\ue201", "Here."),
        ("Cut \ue200cite\ue202turn0", "Cut citeturn0"),
        (':::writing{variant="email" id="1" subject="Hi"}\nDear Ada,\n:::\nShall I?', "Dear Ada,\nShall I?"),
        ("::: note\n:::", "::: note\n:::"),
    ],
)
def test_marks_of_chatgpt_read_as_they_were_shown(stored: str, shown: str) -> None:
    assert texts(chatgpt(chatgpt_node("a", None, "assistant", stored))) == [("assistant", shown)]


def test_a_mark_that_is_nested_too_deeply_stops_nothing() -> None:
    deep = "[" * 100_000
    shown = texts(chatgpt(chatgpt_node("a", None, "user", f"\ue200entity\ue202{deep}\ue201")))
    assert shown == [("user", deep)]


def test_pictures_that_chatgpt_made_are_named_and_pages_that_it_read_are_not() -> None:
    made = PICTURE | {"metadata": {"dalle": {"prompt": "A lighthouse."}}}
    things = chatgpt(
        chatgpt_node("q", None, "user", "Draw it."),
        chatgpt_node("1", "q", "tool", made, kind="multimodal_text"),
        chatgpt_node(
            "2", "1", "tool", PICTURE, kind="multimodal_text", metadata={"image_gen_title": "Storm"}
        ),
        chatgpt_node("3", "2", "tool", "Page 1", PICTURE, kind="multimodal_text"),
    )
    assert texts(things)[1:] == [
        ("assistant", "(An image)\n\nA lighthouse."), ("assistant", "(An image: Storm)")
    ]  # fmt: skip


def test_a_voice_message_of_chatgpt_has_its_words_or_says_what_it_was() -> None:
    words = {"content_type": "audio_transcription", "text": "Good morning.", "direction": "in"}
    things = chatgpt(
        chatgpt_node("a", None, "user", words, SOUND, kind="multimodal_text"),
        chatgpt_node("b", "a", "user", SOUND, kind="multimodal_text"),
        chatgpt_node("c", "b", "user", {"content_type": "hologram"}, "Look.", kind="multimodal_text"),
    )
    assert [text for _, text in texts(things)] == ["Good morning.", "(A voice message)", "Look."]
    assert unknown(things) == {"[].mapping[].message.content.parts of type hologram"}


def test_documents_of_the_canvas_are_kept_in_their_complete_versions() -> None:
    def call(key: str, verb: str, **given: Any) -> Mapping[str, Any]:
        return chatgpt_node(key, None, "assistant", json.dumps(given), recipient=f"canmore.{verb}_textdoc")

    def code(key: str, **given: Any) -> Mapping[str, Any]:
        node = dict(call(key, "create", **given))
        node[key]["message"]["content"] = {"content_type": "code", "text": json.dumps(given)}
        return node

    things = chatgpt(
        call("1", "create", name="Letter", type="document", content="Dear Ada,"),
        chatgpt_node("2", None, "tool", "Created."),
        call("3", "update", updates=[{"pattern": "Ada", "replacement": "Grace"}]),
        call("4", "update", updates=[{"pattern": ".*", "replacement": "Dear all,"}]),
        code("5", name="x.py", type="code/python", content="print('```')"),
        call("6", "comment", comments=[]),
    )
    assert [text for _, text in texts(things)] == [
        "**Letter**\n\nDear Ada,",
        "**Letter**\n\nDear all,",
        "**x.py**\n\n````python\nprint('```')\n````",
    ]
    assert problems(things) == [CHANGED_DOCUMENT]


def test_a_conversation_without_a_name_gets_none_and_a_list_in_an_object_is_read() -> None:
    assert conversation(chatgpt(chatgpt_node("a", None, "user", "Hi."), title="New chat")).title == ""
    inside = read({"conversations": [chatgpt_conversation()]})[1]
    assert len(conversation(inside).messages) == 4


def test_claudes_newest_message_ends_the_branch_wherever_it_stands_in_the_list() -> None:
    said = [
        claude_message("q", "human", "First.", minute=1),
        claude_message("a", "assistant", "Yes?", parent="q", minute=2),
        claude_message("b", "human", "Kept.", parent="a", minute=3),
        claude_message("c", "assistant", "Fine.", parent="b", minute=5),
        claude_message("x", "human", "Abandoned.", parent="a", minute=4),
    ]
    assert [text for _, text in texts(claude(*said))] == ["First.", "Yes?", "Kept.", "Fine."]


def test_a_message_of_claude_without_an_id_takes_no_others_with_it() -> None:
    older = [claude_message(key, "human", f"{key}.") for key in ("One", "", "Two")]
    assert [text for _, text in texts(claude(*older))] == ["One.", "Two."]
    newer = [
        claude_message("q", "human", "First.", minute=1),
        claude_message("a", "assistant", "Yes?", parent="q", minute=2),
        claude_message("", "human", "Lost.", parent="a", minute=3),
    ]
    assert [text for _, text in texts(claude(*newer))] == ["First.", "Yes?"]


def test_claudes_thinking_and_calls_stay_out_of_its_words() -> None:
    thinking = {"type": "thinking", "thinking": "Secret."}
    silent = claude_message("a", "assistant", f"Secret.{PLACEHOLDER}", minute=1)
    silent["content"] = [thinking, use("web_search", query="x")]
    said = claude_message("b", "assistant", f"Found.\n{PLACEHOLDER}", minute=2)
    flat = claude_message("c", "assistant", f"Let me see.\n{PLACEHOLDER}\nDone.", minute=3) | {"content": []}
    assert [text for _, text in texts(claude(silent, said, flat))] == ["Found.", "Let me see.\n\nDone."]


def attached(name: str, text: str = "") -> dict[str, Any]:
    return {"file_name": name, "file_type": "txt", "extracted_content": text}


def test_what_was_pasted_into_claude_is_kept_and_files_are_named() -> None:
    pasted = claude_message("a", "human", "", minute=1) | {"content": []}
    pasted["attachments"] = [
        attached("", "My diary."),
        attached("paste-2.txt", "More."),
        attached("photo.pdf"),
    ]
    pasted["files"] = [attached("photo.pdf"), attached("paste-2.txt"), attached("")]
    assert texts(claude(pasted)) == [("user", "My diary.\n\nMore.\n\n(Attached: photo.pdf, a file)")]


def test_the_text_of_a_file_attached_in_claude_stands_under_its_name() -> None:
    said = claude_message("a", "human", "Is this fair?", minute=1)
    said["attachments"] = [
        attached("lease.pdf", "The tenant pays ```monthly```."),
        attached("", "My diary."),
        attached("lease.pdf", "The tenant pays ```monthly```."),
        attached("lease.pdf", "Second lease."),
    ]
    said["files"] = [attached("lease.pdf"), attached("photo.jpg")]
    (message,) = conversation(claude(said)).messages
    assert message.text == (
        "Is this fair?\n\nMy diary.\n\n**lease.pdf**\n\n````\nThe tenant pays ```monthly```.\n````\n\n"
        "**lease.pdf**\n\n```\nSecond lease.\n```\n\n(Attached: photo.jpg)"
    )
    # Earlier versions read it without the files' texts.
    assert message.shorter is not None
    kept, ending = message.shorter
    assert message.text[:kept] + ending == "Is this fair?\n\nMy diary.\n\n(Attached: lease.pdf, photo.jpg)"


@pytest.mark.parametrize("length", [1, 1_000, 199_000, 199_900, 200_000, 2_000_000])
@pytest.mark.parametrize("text", ["The tenant pays. ", "`", "\n"])
def test_the_text_of_a_file_fits_into_its_message_or_says_that_it_was_cut(length: int, text: str) -> None:
    contract = (text * (length // len(text) + 1))[:length] + "END"
    said = claude_message("a", "human", "Is this fair?", minute=1)
    said["attachments"] = [attached("lease.pdf", contract), attached("note.txt", "Ring twice.")]
    things = claude(said)
    (message,) = conversation(things).messages
    assert len(message.text) <= MAX_MESSAGE_CHARACTERS
    assert message.text.startswith("Is this fair?\n\n")
    found = [thing for thing in things if isinstance(thing, Problem)]
    assert all(thing.where.endswith((", lease.pdf", ", note.txt")) for thing in found)
    reasons = {thing.where.rpartition(", ")[2]: thing.text for thing in found}
    for name, words in (("lease.pdf", contract.strip()), ("note.txt", "Ring twice.")):
        is_cut = f"(Only the beginning of {name} fits into this message.)" in message.text
        is_named = name in message.text.rpartition("(Attached: ")[2]
        expected = {CUT_ATTACHMENT: is_cut, LONG_ATTACHMENT: is_named, None: words in message.text}
        assert expected[reasons.get(name)], name


def test_documents_that_claude_wrote_are_kept_in_their_complete_versions() -> None:
    def said(key: str, *blocks: Any) -> dict[str, Any]:
        return claude_message(key, "assistant", "", minute=int(key)) | {"content": list(blocks)}

    def words(text: str) -> dict[str, Any]:
        return {"type": "text", "text": text}

    letter = {"command": "create", "title": "Letter", "type": "text/markdown", "content": "Dear Ada,"}
    code = {"type": "application/vnd.ant.code", "language": "python"}
    things = claude(
        said("1", words("Here:"), use("artifacts", **letter), words("Good?")),
        said("2", use("artifacts", command="create", id="p", title="Sum", content="1", **code)),
        said("3", use("artifacts", command="rewrite", id="p", content="2")),
        said("4", use("artifacts", command="update", id="p", old_str="2", new_str="3")),
        said("5", use("create_file", path="/mnt/user-data/outputs/plan.md", file_text="# Plan")),
        said("6", use("create_file", path="/home/claude/make.py", file_text="pass")),
    )
    assert [text for _, text in texts(things)] == [
        "Here:\n\n**Letter**\n\nDear Ada,\n\nGood?",
        "**Sum**\n\n```python\n1\n```",
        "**Sum**\n\n```python\n2\n```",
        "**plan.md**\n\n# Plan",
    ]
    assert problems(things) == [CHANGED_DOCUMENT]


def test_another_sender_is_reported() -> None:
    assert unknown(claude(claude_message("a", "guest", "Hi."))) == {"[].chat_messages[].sender guest"}


def test_an_id_that_no_index_can_hold_is_none() -> None:
    long = "ü" * (MAX_ID_CHARACTERS + 1)
    for told in (
        claude_conversation() | {"uuid": long},
        chatgpt_conversation() | {"conversation_id": long, "id": 0.5},
    ):
        assert NO_ID in problems(read([told])[1])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place inside a value as its container and key."""
    for key, inside in [*(value.items() if isinstance(value, dict) else enumerate(value))]:
        yield value, key
        if isinstance(inside, dict | list):
            yield from places(inside)


@pytest.mark.slow
@pytest.mark.parametrize("told", [chatgpt_conversation(), claude_conversation()])
def test_no_odd_value_stops_an_import(told: dict[str, Any]) -> None:
    adapter = next(each for each in ADAPTERS.values() if each.recognises(Item(path=(0,), value=told, line=1)))
    told |= {"chat_messages": [*told.get("chat_messages", ()), claude_message("z", "human", "", minute=-1)]}
    for container, key in sample(list(places(told)), of_each=5):
        kept = container[key]
        for odd in ODD_VALUES:
            container[key] = odd
            list(adapter.read(Item(path=(0,), value=told, line=1)))
        container[key] = kept
