"""The requests of `docs/requests/`: made by the command, valid, complete, and small enough.

`SAGE_TEST_WRITE=1` writes the documents anew instead of comparing them.
"""

import io
import os
import re

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from coaching.context.budget import PROMPT_TOKENS
from coaching.context.sections import CONTINUITY
from coaching.context.statement import CONTINUITY_TOKENS
from coaching.engine.anthropic_client import AnthropicClient
from coaching.files.types import ATTRIBUTE_ORDER
from coaching.practice.server import PracticeServer
from coaching.skills.rules import tool_faults
from coaching.tools import TOOL_NAMES
from coaching.turns.preview import PromptPreview, preview_request
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind
from tests.context.conftest import Talk
from tests.context.continuing_people import CONTINUING
from tests.context.five_people import SCENES as FIVE
from tests.context.five_people import Scene, open_scene
from tests.sage.processes import PROJECT

SCENES = {**FIVE, **CONTINUING}

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.parametrize("name", SCENES)]

DOCUMENTS = PROJECT / "docs" / "requests"
DATE = re.compile(r"(?<![\w/-])(\w+ )?\d{4}-\d\d-\d\d(?![\w-])")
WEEKDAYS = {"Monday ", "Tuesday ", "Wednesday ", "Thursday ", "Friday ", "Saturday ", "Sunday "}


@pytest.fixture
async def session(
    name: str,
    user: User,
    practice: PracticeServer,
    client: AnthropicClient,
    brief_client: AnthropicClient,
    settings: Settings,
) -> Session:
    """The conversation of a scene, before its last message."""
    settings.SAGE_CONTEXT_TOKENS = SCENES[name].context_tokens

    async def say(session: Session, text: str, answer: str) -> None:
        practice.script([answer])
        talk = Talk(practice=practice, client=client, brief_client=brief_client, session=session)
        assert (await talk.say(text)).status == "completed"

    with time_machine.travel(SCENES[name].at, tick=True):
        return await open_scene(SCENES[name], user, say)


def preview(scene: Scene, session: Session) -> PromptPreview:
    with time_machine.travel(scene.at, tick=False):
        return preview_request(user_id=session.user_id, now=timezone.now(), session=session, text=scene.text)


def printed(scene: Scene, session: Session) -> str:
    said = io.StringIO()
    with time_machine.travel(scene.at, tick=False):
        call_command(
            "show_prompt", user=str(session.user_id), session=session.id, text=scene.text, stdout=said
        )
    return said.getvalue()


async def test_the_document_is_what_the_command_prints(name: str, session: Session) -> None:
    text = await in_database(printed, SCENES[name], session)
    document = DOCUMENTS / f"{name}.txt"
    if os.environ.get("SAGE_TEST_WRITE"):
        document.parent.mkdir(exist_ok=True)
        document.write_text(text)
    assert document.read_text() == text, "write it anew with SAGE_TEST_WRITE=1"


async def test_the_model_accepts_it_and_it_is_small_enough(
    name: str, session: Session, practice: PracticeServer, client: AnthropicClient
) -> None:
    seen = await in_database(preview, SCENES[name], session)
    practice.script(["Yes."])
    async with client.stream(seen.request) as stream:
        events = [event async for event in stream]
    assert events
    assert seen.prompt_tokens < PROMPT_TOKENS
    # The parts are estimated one by one; together they are what the text takes.
    assert all(tokens >= 0 for _, tokens in seen.tokens)
    before = {f"opening: {section}" for section in CONTINUITY}
    assert sum(tokens for part, tokens in seen.tokens if part in before) <= CONTINUITY_TOKENS


async def test_from_the_second_turn_on_nine_tenths_are_read_from_the_cache(
    name: str,
    session: Session,
    practice: PracticeServer,
    client: AnthropicClient,
    brief_client: AnthropicClient,
) -> None:
    talk = Talk(practice=practice, client=client, brief_client=brief_client, session=session)
    with time_machine.travel(SCENES[name].at, tick=True):
        for words in (SCENES[name].text, "Yes, that's how it is.", "I hadn't thought of that."):
            practice.script(["I hear you. What would be a first sign that it gets lighter?"])
            assert (await talk.say(words)).status == "completed"
    for request in practice.requests[-2:]:
        usage = request.usage
        read = usage["cache_read_input_tokens"]
        sent = read + usage["cache_creation_input_tokens"] + usage["input_tokens"]
        assert read / sent >= 0.9, f"{read / sent:.1%}"


async def test_it_names_only_what_is_offered_and_each_date_with_its_weekday(
    name: str, session: Session
) -> None:
    request = (await in_database(preview, SCENES[name], session)).request
    texts = [block["text"] for block in request.system]
    texts += [block["text"] for message in request.messages for block in message["content"]]
    offered = {tool["name"] for tool in request.tools} if SCENES[name].context_tokens else TOOL_NAMES
    names = {*ATTRIBUTE_ORDER, *SessionKind.values, "needs_attention", "in_crisis", "okay"}
    sections = set(re.findall(r"</?([a-z_]+)", "\n".join(texts)))
    whole = re.sub(r'[a-z_]+="[^"]*"|</?[a-z_]+', "", "\n".join(texts))
    assert not tool_faults(whole, declared=offered, offered_tools=offered, other_names=names | sections)
    attributes = " ".join(re.findall(r'(?:date|updated|since)="([^"]*)"', "\n".join(texts)))
    header = re.findall(r"(?:^Time|^Check-in|last on).*", "\n".join(texts), re.MULTILINE)
    dates = list(DATE.finditer("\n".join([attributes, *header])))
    assert dates
    assert {found[1] for found in dates} <= WEEKDAYS
