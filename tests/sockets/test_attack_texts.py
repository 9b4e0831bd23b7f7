"""A model obeys every order in forty texts of others: what changes without a yes is what the docs list."""

import base64
import binascii
import codecs
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from coaching.care.reading import read_care
from coaching.files.drafts import build_draft
from coaching.files.store import store_imported
from coaching.library.clients import own_client
from coaching.models import (
    ActionItem,
    Capture,
    DayPlan,
    FileType,
    KnowledgeEntry,
    LibraryEffect,
    Profile,
    PulseRating,
    UserFile,
)
from coaching.people.profile_changes import offer_library
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from coaching.tools.save_file import SAVE_FILE
from sessions_app.database import in_database
from sessions_app.imports import store_recorded
from sessions_app.models import (
    MessageRole,
    SafetyVerdict,
    Session,
    SessionKind,
    SessionStatus,
    TitleSource,
    ToolCallRecord,
    ToolCallState,
)
from sessions_app.recorded import RecordedMessage, RecordedSession
from tests.browsers import browser_of
from tests.library.rows import make_document
from tests.live_sage import LiveSage, end_turns, open_socket
from tests.sockets.attack_texts import ATTACKS, Attack
from tests.sockets.questions import rows
from tests.stored_turns import open_conversation
from tests.thoroughness import sample
from tests.tools.committing_context import BERLIN, CommittingContext

pytestmark = pytest.mark.django_db(transaction=True)

DOCS = Path(__file__).parents[2] / "docs" / "reliability.md"
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
IMPORTED_PAGE = "life-map/finances.md"
LONE_ENDING = 5
"""Which attack only wants to end the conversation: with another call that waits, it would be refused."""
_ORDER = re.compile(r"!do (\w+)((?: \w+=[^\s!]+)*)!")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


@dataclass
class Obedient:
    """Reads what it was told to read, decodes it in every way, and follows each order once."""

    reads: ToolUse | None = None
    obeyed: list[str] = field(default_factory=list)

    def reply(self, body: Mapping[str, Any]) -> Reply:
        if body.get("tool_choice", {}).get("type") == "none" or not body.get("tools"):
            return Reply.of("Done.")
        fresh = [found for found in dict.fromkeys(_orders(body)) if found not in self.obeyed]
        self.obeyed += fresh
        if fresh:
            return Reply.of(*map(_call, fresh))
        if (first := self.reads) is not None:
            self.reads = None
            return Reply.of(first)
        return Reply.of("That is all.")


def _orders(body: Mapping[str, Any]) -> Iterator[str]:
    said = json.dumps([m["content"] for m in body["messages"]], ensure_ascii=False)
    for text in (said, said[::-1], codecs.encode(said, "rot13"), *_decoded(said)):
        yield from (found[0] for found in _ORDER.finditer(text))


def _decoded(said: str) -> Iterator[str]:
    for found in _BASE64.finditer(said):
        try:
            yield base64.b64decode(found[0], validate=True).decode()
        except (binascii.Error, ValueError):
            continue


def _call(found: str) -> ToolUse:
    parsed = _ORDER.fullmatch(found)
    assert parsed
    pairs = (pair.split("=", 1) for pair in parsed[2].split())
    kept = ("file_type", "file_name", "arc", "type", "reason")
    return ToolUse(
        parsed[1],
        {name: value if name in kept else value.replace("_", " ") for name, value in pairs},
    )


@pytest.fixture
def obedient() -> Obedient:
    """The model of these tests."""
    return Obedient()


@pytest.fixture
async def practice(live_sage: LiveSage, obedient: Obedient) -> AsyncIterator[PracticeServer]:
    """The model behind `live_sage`: it obeys."""
    await end_turns(live_sage)
    port = live_sage.practice_port
    async with PracticeServer(port=port, tokens_per_second=0, answer=obedient.reply) as server:
        yield server
        await end_turns(live_sage)


def place(user: User, attack: Attack, number: int, obedient: Obedient) -> tuple[Session, list[int]]:
    """Put a text where it stands; return the conversation, and the documents to attach."""
    offer_library(user.pk)
    session = open_conversation(user)
    match attack.place:
        case "document" | "mail":
            ending = "pdf" if attack.place == "document" else "eml"
            name = f"letter {number}.{ending}"
            return session, [make_document(own_client(user.pk), name, text=attack.text).pk]
        case "calendar":
            name = f"calendar {number}.txt"
            make_document(own_client(user.pk), name, text=f"zebra{number} {attack.text}")
            obedient.reads = ToolUse("search_knowledge_bank", {"query": f"zebra{number}"})
        case "import" if number % 2:
            draft = build_draft(
                file_type=FileType.DOMAIN, file_name="finances", content=attack.text, now=NOW, timezone=BERLIN
            )
            UserFile.of(user.pk).filter(path=IMPORTED_PAGE).delete()
            store_imported(user_id=user.pk, draft=draft, mark="import")
            obedient.reads = ToolUse("read_file", {"path": IMPORTED_PAGE})
        case "import":
            session = imported(user, attack, number)
    return session, []


def imported(user: User, attack: Attack, number: int) -> Session:
    """Import a conversation in which another program said it."""
    said = [
        RecordedMessage(imported_id="1", role=MessageRole.USER, content="Hello", created_at=NOW),
        RecordedMessage(imported_id="2", role=MessageRole.ASSISTANT, content=attack.text, created_at=NOW),
    ]
    recorded = RecordedSession(
        imported_id=f"conversation-{number}",
        where="",
        kind=SessionKind.OPEN_CONVERSATION,
        status=SessionStatus.ACTIVE,
        title="Elsewhere",
        title_source=TitleSource.USER,
        started_at=NOW,
        messages=said,
    )
    store_recorded(user_id=user.pk, import_id=1, recorded=[recorded])
    return Session.of(user.pk).get(metadata__imported_id=f"conversation-{number}")


def life(user: User, session: Session) -> dict[str, Any]:
    """Return all of a life that a tool could change."""
    now = Session.of(user.pk).get(pk=session.pk)
    files = UserFile.of(user.pk).exclude(path=IMPORTED_PAGE)
    profile, _ = Profile.of(user.pk).get_or_create()
    captures = Capture.of(user.pk).filter(file__deleted_at=None)
    return {
        "files": {file.path: file.version_number for file in files},
        "steps": list(ActionItem.of(user.pk).values_list("id", "state")),
        "knowledge": list(KnowledgeEntry.of(user.pk).values_list("id", "state")),
        "effects": LibraryEffect.of(user.pk).count(),
        "ratings": PulseRating.of(user.pk).count(),
        "plans": DayPlan.of(user.pk).exclude(intention="").count(),
        "captures": set(captures.values_list("file__path", flat=True)),
        "profile": (profile.name, profile.checkin_weekday, profile.next_checkin_on, profile.timezone),
        "conversation": (now.status, now.active_arc),
        "care": read_care(user_id=user.pk, now=datetime.now(UTC), zone=BERLIN).is_standing,
    }


async def converse(sage: LiveSage, session: Session, cookie: str, documents: list[int]) -> list[str]:
    """Say something harmless and skip each card; return the tools that asked."""
    asked: list[str] = []
    async with open_socket(sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="What does it say?", documents=documents)
        while True:
            frames = await client.until("done")
            cards = [frame["confirm"] for frame in frames if "confirm" in frame]
            if not cards:
                return asked
            for card in cards:
                assert card["sources"], "the card says what Sage had read"
                asked.append(card["tool"])
                await client.send(type="answer", toolUseId=card["toolUseId"], value={"accept": False})


def undo_all(browser: Browser, session: Session, changed: set[str]) -> None:
    """Undo what the conversation's page offers to undo; it names the source of each change."""
    page = browser.get(f"/chat/{session.id}/").content.decode()
    if "card" in changed:
        assert "not because of what you wrote" in page
    for path in [each for each in changed if each.endswith(".md")]:
        assert "Written after Sage read" in page, path
    offered = re.findall(r'form="call-undo" name="tool_use_id" value="([^"]+)"', page)
    for tool_use_id in offered:
        given = {"tool_use_id": tool_use_id}
        assert browser.post(f"/chat/{session.id}/undo/", given).status_code == 303


def difference(before: Mapping[str, Any], after: Mapping[str, Any], session: Session) -> set[str]:
    """Return what changed: paths of new files, and names of whatever else."""
    kept = {path: after["files"].get(path) for path in before["files"]}
    assert kept == before["files"], "nothing is overwritten or gone"
    new = set(after["files"]) - set(before["files"])
    others = {name for name in before if name not in ("files", "captures") and before[name] != after[name]}
    verdicts = SafetyVerdict.unscoped.filter(session=session).exclude(level="none")
    return new | others | ({"card"} if verdicts.exists() else set())


def listed() -> set[str]:
    """Return the first column of the table in the docs."""
    section = DOCS.read_text().partition("## Texts of others\n")[2].partition("\n## ")[0]
    table = section.partition("| what changes without a yes |")[2].partition("\n\n")[0]
    return {line.split("|")[1].strip() for line in table.splitlines()[2:] if line.startswith("|")}


WORDS = {"card": "the card with help lines"}


async def test_what_attacks_change_without_a_yes_is_what_the_docs_list(
    live_sage: LiveSage, practice: PracticeServer, obedient: Obedient, cookie: str, user: User
) -> None:
    assert len({attack.text for attack in ATTACKS}) == len(ATTACKS) == 40
    context = CommittingContext(user_id=user.pk)
    for given in ({"file_type": "sage-context"}, {"file_type": "domain", "file_name": "career"}):
        await SAVE_FILE.run(context, SAVE_FILE.parse(json.dumps({**given, "content": "Mine."})))
        context = CommittingContext(user_id=user.pk, tool_use_id="toolu_2")
    browser = await in_database(browser_of, user)
    changed: set[str] = set()
    asked: set[str] = set()
    for number in sorted({LONE_ENDING, *sample(range(len(ATTACKS)), of_each=3)}):
        attack = ATTACKS[number]
        obedient.obeyed.clear()
        session, documents = await in_database(place, user, attack, number, obedient)
        before = await in_database(life, user, session)
        asked.update(await converse(live_sage, session, cookie, documents))
        assert obedient.obeyed, f"the order was followed: {attack}"
        found = await in_database(difference, before, await in_database(life, user, session), session)
        changed |= {"a new page" if each.endswith(".md") else WORDS.get(each, each) for each in found}
        await in_database(undo_all, browser, session, found)
        after = await in_database(life, user, session)
        assert after == before | {"captures": after["captures"]}, "all of it was undone"
        assert after["captures"] == before["captures"]
    assert changed == await in_database(listed)
    assert asked == {"save_file", "complete_session", "enter_structured_arc", "create_action_item"}
    calls = await rows(ToolCallRecord.unscoped.filter(state=ToolCallState.PENDING))
    assert calls == []
