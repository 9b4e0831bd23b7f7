"""Exports as ChatGPT and Claude made them in different years, in their shapes with words of our own.

2023: one `conversations.json` with HTML and lists. 2024: projects, documents of the canvas, pictures that
were made, files by `file-service://`. 2025: `sediment://`, recordings, generated pictures below `user-…/`,
numbered conversations, `.dat` files with a list of their names; memories and projects of Claude in files of
their own.
"""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from tests.legacy.exports import BEGAN, chatgpt_node, claude_message

Members = Mapping[str, bytes]

PLAN = "https://running.example/zero"
ROOT = "00000000-0000-4000-8000-000000000000"


def png(shade: int) -> bytes:
    """Return a picture of one pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixel = zlib.compress(bytes([0, shade]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def pdf(words: str) -> bytes:
    return b"%PDF-1.4\n% " + words.encode() + b"\n%%EOF\n"


def wav(words: str) -> bytes:
    return b"RIFF\x24\0\0\0WAVEfmt " + words.encode()


def zipped(members: Members) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def tree(key: str, title: str, current: str, *nodes: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a conversation of ChatGPT."""
    mapping = {name: node for each in nodes for name, node in each.items()}
    return {
        "title": title,
        "create_time": BEGAN.timestamp(),
        "update_time": BEGAN.timestamp() + 600,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": current,
        "plugin_ids": None,
        "is_archived": False,
        "safe_urls": [],
        "is_do_not_remember": None,
        "memory_scope": "global_enabled",
        "conversation_id": key,
        "id": key,
        **fields,
    }


def picture(pointer: str, **metadata: Any) -> dict[str, Any]:
    return {
        "content_type": "image_asset_pointer",
        "asset_pointer": pointer,
        "size_bytes": 70,
        "width": 1,
        "height": 1,
        "metadata": metadata or None,
    }


def attached(key: str, name: str, mime: str) -> dict[str, Any]:
    return {"id": key, "name": name, "mime_type": mime, "size": 70}


def finished(model: str, parent: str, **fields: Any) -> dict[str, Any]:
    """Return the metadata of an answer of ChatGPT."""
    return {
        "finish_details": {"type": "stop", "stop_tokens": [100260]},
        "is_complete": True,
        "model_slug": model,
        "default_model_slug": "auto",
        "parent_id": parent,
        "request_id": "98d64f4f-ICN",
        "message_type": "next",
        "timestamp_": "absolute",
        **fields,
    }


def chatgpt_2023() -> Members:
    """An edited question, an answer that was asked for again, and custom instructions."""
    about = chatgpt_node("a1", "a0", "user", kind="user_editable_context", minute=0)
    about["a1"]["message"]["content"] |= {
        "user_profile": "I keep bees near Porto.",
        "user_instructions": "Answer in short sentences.",
    }
    about["a1"]["message"]["metadata"] = {"is_visually_hidden_from_conversation": True}
    bees = tree(
        "c-2023",
        "Bees in winter",
        "a6",
        chatgpt_node("a0", None),
        about,
        chatgpt_node("a2", "a1", "user", "How do bees spend the winter?", minute=1),
        chatgpt_node(
            "a3",
            "a2",
            "assistant",
            "They cluster around the queen.",
            minute=2,
            metadata=finished("gpt-4", "a2"),
        ),
        chatgpt_node("a4", "a2", "assistant", "They sleep, more or less.", minute=3),
        chatgpt_node("a5", "a3", "user", "What do they eat then?", minute=4),
        chatgpt_node(
            "a6", "a5", "assistant", "Their stored honey, slowly.", minute=5, metadata={"model_slug": "gpt-4"}
        ),
        chatgpt_node("b1", "a1", "user", "How do wasps spend the winter?", minute=1),
        chatgpt_node("b2", "b1", "assistant", "Only young queens survive it.", minute=2),
        chatgpt_node("b3", "a3", "user", "Do they need my help?", minute=6),
        chatgpt_node("b4", "b3", "assistant", "A windbreak helps a little.", minute=7),
        chatgpt_node("b5", "b3", "assistant", "Leave them in peace.", minute=8),
    )
    return {
        "conversations.json": _json([bees]),
        "chat.html": b"<html>All of it once more.</html>",
        "user.json": _json({"id": "user-1", "email": "ada@example.com"}),
        "message_feedback.json": b"[]",
        "model_comparisons.json": b"[]",
        "shared_conversations.json": b"[]",
    }


def chatgpt_2024() -> Members:
    """A canvas, files by `file-service://`, a picture that was made, a search, and memories."""
    letter = json.dumps(
        {"name": "Letter", "type": "document", "content": "Dear Ms Ferro, the boiler is cold."}
    )
    better = json.dumps(
        {"updates": [{"pattern": ".*", "replacement": "Dear Ms Ferro, the boiler is still cold."}]}
    )
    memories = chatgpt_node("m1", "m0", "system", kind="model_editable_context")
    memories["m1"]["message"]["content"] |= {"model_set_context": "1. The user rents a flat in Lisbon."}
    tool = {"role": "tool", "metadata": {}}
    page = {"type": "webpage", "title": "Boilers explained", "url": "https://boilers.example/", "text": ""}
    cited = {"start_ix": 27, "end_ix": 37, "citation_format_type": "tether_og", "metadata": page}
    drawn = (
        "A warm boiler. It hums in a small kitchen in Lisbon, painted with wide brushes, at seven o’clock."
    )
    boiler = tree(
        "c-2024",
        "The cold boiler",
        "m9",
        chatgpt_node("m0", None),
        memories,
        chatgpt_node(
            "m2",
            "m1",
            "user",
            picture("file-service://file-Boiler01"),
            "Is this a leak?",
            minute=1,
            kind="multimodal_text",
            metadata={
                "attachments": [
                    attached("file-Boiler01", "boiler photo.png", "image/png"),
                    attached("file-Lease001", "lease.pdf", "application/pdf"),
                    attached("file-Gone0001", "missing.pdf", "application/pdf"),
                ]
            },
        ),
        chatgpt_node(
            "m3", "m2", "assistant", 'search("boiler leak")', kind="code", recipient="browser", minute=2
        ),
        chatgpt_node(
            "m4", "m3", "tool", "A page about boilers.", minute=2, author=tool | {"name": "browser"}
        ),
        chatgpt_node(
            "m5",
            "m4",
            "assistant",
            "It looks like condensation【4†source】.",
            minute=3,
            metadata=finished("gpt-4o", "m4", citations=[cited]),
        ),
        chatgpt_node("m6", "m5", "assistant", letter, recipient="canmore.create_textdoc", minute=4),
        chatgpt_node(
            "m6t",
            "m6",
            "tool",
            "Created the document.",
            author=tool | {"name": "canmore.create_textdoc"},
            minute=4,
        ),
        chatgpt_node("m7", "m6t", "assistant", better, recipient="canmore.update_textdoc", minute=5),
        chatgpt_node("m8", "m7", "user", "Draw a warm boiler.", minute=6),
        chatgpt_node(
            "m8c",
            "m8",
            "assistant",
            json.dumps({"prompt": drawn, "size": "1024x1024"}),
            recipient="dalle.text2im",
            minute=7,
        ),
        chatgpt_node(
            "m9",
            "m8c",
            "tool",
            picture("file-service://file-Drawn001", dalle={"gen_id": "g", "prompt": drawn, "seed": 7}),
            minute=7,
            kind="multimodal_text",
            author=tool | {"name": "dalle.text2im"},
        ),
    )
    return {
        "conversations.json": _json([boiler]),
        "chat.html": b"<html></html>",
        "user.json": b"{}",
        "file-Boiler01-boiler photo.png": png(1),
        "file-Lease001-lease.pdf": pdf("The tenant keeps a walrus."),
        "dalle-generations/file-Drawn001-6f1d.webp": png(3),
        "file-Stray001-notes.txt": b"Nobody names this file.",
    }


def chatgpt_2025() -> Members:
    """Numbered conversations, recordings, thoughts, `.dat` files with their names, a project."""
    sound = {
        "content_type": "real_time_user_audio_video_asset_pointer",
        "frames_asset_pointers": [],
        "audio_asset_pointer": {
            "content_type": "audio_asset_pointer",
            "asset_pointer": "sediment://file_00000000sound",
            "format": "wav",
        },
    }
    spoken = {"content_type": "audio_transcription", "text": "I would like to run again.", "direction": "in"}
    thoughts = chatgpt_node("r2", "r1", "assistant", kind="thoughts", minute=2)
    thoughts["r2"]["message"]["content"] = {
        "content_type": "thoughts",
        "thoughts": [{"summary": "Thinking about knees", "content": "They may have an old injury."}],
    }
    cited = {
        "matched_text": "\ue200cite\ue202turn0search0\ue201",
        "start_idx": 22,
        "end_idx": 44,
        "type": "grouped_webpages",
        "items": [{"title": "Running from zero", "url": PLAN, "snippet": "Ten minutes, three times a week."}],
    }
    running = tree(
        "c-2025",
        "Running again",
        "r6",
        chatgpt_node("r0", None),
        chatgpt_node("r1", "r0", "user", spoken, sound, kind="multimodal_text", minute=1),
        thoughts,
        chatgpt_node(
            "r3",
            "r2",
            "assistant",
            "Begin with ten minutes\ue200cite\ue202turn0search0\ue201.",
            minute=3,
            metadata=finished("gpt-5-thinking", "r2", content_references=[cited], safe_urls=[PLAN]),
        ),
        chatgpt_node(
            "r4",
            "r3",
            "user",
            "Here is my plan so far.",
            minute=4,
            metadata={
                "attachments": [attached("file_00000000plan", "plan.md", "text/markdown")],
                "targeted_reply": "with ten minutes",
            },
        ),
        chatgpt_node(
            "r5",
            "r4",
            "assistant",
            "Too fast in the second week.",
            minute=5,
            metadata=finished("gpt-5", "r4"),
        ),
        chatgpt_node("r6", "r4", "assistant", "A good plan, but rest on Sundays.", minute=6),
        gizmo_id="g-p-1",
        gizmo_type="snorlax",
        conversation_template_id="g-p-1",
        default_model_slug="gpt-5",
    )
    drawing = tree(
        "c-2025b",
        "A poster for the race along the river, with a heron and last year’s winners",
        "p2",
        chatgpt_node("p0", None),
        chatgpt_node("p1", "p0", "user", "Draw a poster for the race.", minute=1),
        chatgpt_node(
            "p2",
            "p1",
            "tool",
            picture("sediment://file_00000000poster", generation={"gen_id": "1"}),
            kind="multimodal_text",
            minute=2,
            metadata={"image_gen_title": "Race poster"},
            author={"role": "tool", "name": "t2uay3k.sj1i4kz", "metadata": {}},
        ),
    )
    return {
        "conversations-000.json": _json([running]),
        "conversations-001.json": _json([drawing]),
        "chat.html": b"<html></html>",
        "export_manifest.json": _json({"version": 1}),
        "conversation_asset_file_names.json": _json({"file_00000000plan.dat": "plan.md"}),
        "file_00000000plan.dat": b"# Plan\n\nTen minutes on Monday.\n",
        "user-Ab12/file_00000000poster-77.png": png(2),
        "c-2025/audio/file_00000000sound-12.wav": wav("spoken"),
    }


def claude(key: str, name: str, *said: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a conversation of Claude."""
    return {
        "uuid": key,
        "name": name,
        "created_at": "2024-05-02T07:30:00.000000Z",
        "updated_at": "2024-05-02T07:40:00.000000Z",
        "account": {"uuid": "a-1"},
        "chat_messages": list(said),
        **fields,
    }


def claude_2023() -> Members:
    """A list of texts with attachments."""
    asked = claude_message("k1", "human", "What does my lease say?", minute=1) | {"content": []}
    asked["attachments"] = [
        {
            "file_name": "lease.txt",
            "file_size": 40,
            "file_type": "txt",
            "extracted_content": "The rent is due on Monday.",
        },
        {"file_name": "", "file_size": 12, "extracted_content": "A text that was pasted."},
    ]
    answer = claude_message("k2", "assistant", "The rent is due weekly.", minute=2) | {"content": []}
    return {
        "conversations.json": _json([claude("k-2023", "My lease", asked, answer)]),
        "users.json": _json([{"uuid": "a-1", "full_name": "Ada"}]),
    }


def claude_2024() -> Members:
    """Artifacts, calls of tools, and projects with instructions and documents."""
    letter = {
        "command": "create",
        "id": "l",
        "title": "Letter",
        "type": "text/markdown",
        "content": "Dear Ms Ferro, please mend it.",
    }
    answer = claude_message("k2", "assistant", "I wrote a letter for you.", minute=2)
    answer["content"] += [
        {"type": "tool_use", "name": "artifacts", "input": letter},
        {"type": "tool_use", "name": "web_search", "input": {"query": "law on boilers"}},
        {
            "type": "tool_result",
            "name": "web_search",
            "content": [{"type": "text", "text": "A law on boilers."}],
        },
    ]
    asked = claude_message("k1", "human", "Write to my landlord, please.", minute=1)
    asked["files"] = [{"file_name": "boiler.png"}]
    project = {
        "uuid": "p-1",
        "name": "The flat",
        "description": "All about the flat.",
        "prompt_template": "Be firm with the landlord.",
        "is_private": True,
        "is_starter_project": False,
        "creator": {"uuid": "a-1", "full_name": "Ada"},
        "created_at": "2024-05-02T07:30:00Z",
        "docs": [
            {
                "uuid": "d-1",
                "filename": "house rules.md",
                "content": "# Rules\n\nNo drums after ten.\n",
                "created_at": "2024-05-02T07:30:00Z",
            },
            {
                "uuid": "d-2",
                "filename": "lease.pdf",
                "content": "The tenant keeps a walrus at all times.",
                "created_at": "2024-05-02T07:30:00Z",
            },
            {"uuid": "d-3", "filename": "empty.pdf", "content": ""},
        ],
    }
    told = claude(
        "k-2024",
        "A letter",
        asked,
        answer,
        project={"uuid": "p-1", "name": "The flat"},
        model="claude-3-opus",
    )
    return {
        "conversations.json": _json([told]),
        "projects.json": _json([project]),
        "users.json": b"[]",
    }


def claude_2025() -> Members:
    """Branches, memories, and each project in a file of its own."""
    said = [
        claude_message("q1", "human", "Help me to sleep better.", parent=ROOT, minute=1),
        claude_message("s1", "assistant", "When do you go to bed?", parent="q1", minute=2),
        claude_message("s2", "assistant", "What keeps you awake at night?", parent="q1", minute=3),
        claude_message("q2", "human", "The neighbours do.", parent="s2", minute=4),
        claude_message("s3", "assistant", "Have you talked to them?", parent="q2", minute=5),
        claude_message("q3", "human", "At eleven, mostly.", parent="s1", minute=6),
        claude_message("s4", "assistant", "Try half past ten.", parent="q3", minute=7),
        claude_message("q4", "human", "My thoughts keep me awake.", parent="s2", minute=8),
        claude_message("s5", "assistant", "Write them down before.", parent="q4", minute=9),
    ]
    page = {"type": "web_search_citation", "title": "Noise at night", "url": "https://sleep.example/noise"}
    said[4]["content"][1]["citations"] = [{"uuid": "z", "start_index": 0, "end_index": 24, "details": page}]
    paper = {"path": "/mnt/user-data/outputs/evening.md", "file_text": "Dim the lights at ten."}
    said[8]["content"] += [
        {"type": "tool_use", "id": "t", "name": "create_file", "input": paper},
        {
            "type": "tool_result",
            "tool_use_id": "t",
            "name": "create_file",
            "content": [{"type": "text", "text": "File created successfully."}],
        },
    ]
    told = claude(
        "k-2025",
        "Sleep, the neighbours above, and what helps against thoughts that come at night",
        *said,
        current_leaf_message_uuid="s3",
        summary="They talked about sleep.",
        is_starred=False,
    )
    project = {
        "uuid": "p-2",
        "name": "Nights",
        "description": "",
        "prompt_template": "Ask about the evening first. " + "Then ask again. " * 1_400,
        "docs": [{"uuid": "d-9", "filename": "diary.txt", "content": "Awake at three o’clock."}],
    }
    memories = [
        {
            "conversations_memory": "Ada sleeps badly.",
            "project_memories": {"p-2": "Her diary begins in May."},
            "account_uuid": "a-1",
        }
    ]
    return {
        "conversations.json": _json([told]),
        "memories.json": _json(memories),
        "projects/p-2.json": _json(project),
        "users.json": b"[]",
    }


EXPORTS: Mapping[str, Callable[[], Members]] = {
    each.__name__: each
    for each in (chatgpt_2023, chatgpt_2024, chatgpt_2025, claude_2023, claude_2024, claude_2025)
}
