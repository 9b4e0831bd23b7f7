"""Checks the invariants I1 to I8 after every run.

It reads the database, the requests to the model, what readers saw, fresh pages and the logs, and returns
violations as sentences. It changes nothing but its own position in the requests.

A little over the usual length: the invariants share what they read.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from html import unescape
from uuid import UUID

import aiohttp
from django.conf import settings

from coaching.context.history import stored_message
from coaching.engine.anthropic_client import build_params
from coaching.engine.messages import ModelRequest, build_api_messages
from coaching.live.following import read_sync
from coaching.model_client.patience import turn_tokens
from coaching.models import PulseRating, UserFileVersion
from coaching.practice.api.errors import ApiError
from coaching.practice.api.validation import check_request
from coaching.tools import CHAT_TOOLS
from coaching.transcript.calls import question_of
from sessions_app import selectors
from sessions_app.database import in_database
from sessions_app.models import (
    OPEN_TURN_STATUSES,
    Message,
    MessageRole,
    Session,
    ToolCallRecord,
    ToolCallState,
    Turn,
    TurnStatus,
)
from tests.faults.cluster import Cluster
from tests.faults.histories import audit_histories
from tests.faults.people import Conversation
from tests.faults.planned_model import WORDS, in_order, plan_of
from tests.files.auditor import audit_files

TURN_SECONDS = 55.0
CLOSING_SECONDS = 2.0
"""How long a turn may take to end after its time limit."""
MAX_ROUNDS, MAX_CALLS, MAX_REQUESTS = 5, 15, 15
PAGES_AT_ONCE = 8
PULSE = "show_pulse_check"
INTERACTIVE = ("show_options", PULSE)
_NOT_RUN = "Not run:"
_KEYS = re.compile(r"(?<![a-z])(k\d+)t\d+")
_SIGNATURE = re.compile(r"'signature': '[^']*'")  # one in 7,000 looks like a key by chance
_TAGS = re.compile(r"<[^>]*>")
_EARLIER = re.compile(r'href="(\?before=[0-9]+)" rel="prev"')
_QUESTIONS = re.compile(r'class="call is-([a-z]+)" id="(call-[0-9a-f]+)"')


async def audit(
    cluster: Cluster, conversations: Sequence[Conversation], *, turn_seconds: float = TURN_SECONDS
) -> list[str]:
    """Check I1 to I8 for these conversations (`lease_watcher` checks I4 during a run)."""
    part_seconds = turn_seconds + CLOSING_SECONDS * cluster.patience + cluster.clock_error_seconds
    found = await in_database(_audit_rows, conversations, part_seconds)
    found += await _audit_pages(cluster, conversations)
    found += audit_histories(cluster.practice.requests[cluster.audited :], conversations)
    found += _audit_requests(cluster)
    found += _audit_log(cluster)
    return found


# --- I1, I2, I3, I6, I7: the database -------------------------------------------------------------


def _audit_rows(conversations: Sequence[Conversation], part_seconds: float) -> list[str]:
    found: list[str] = []
    for conversation in conversations:
        found += _audit_stored(conversation, part_seconds)
        found += _audit_seen(conversation, _stored_texts(conversation.session_id))
    return found


def _audit_stored(conversation: Conversation, part_seconds: float) -> list[str]:
    session = Session.unscoped.get(id=conversation.session_id)
    return [
        f"{conversation.key}: {sentence}"
        for sentence in [
            *_messages_once(session, conversation.sent),
            *_effects_once(conversation.user_id),
            *_ratings_once(session),
            *_history_valid(session),
            *_files_whole(conversation.user_id),
            *_within_budget(session, part_seconds),
        ]
    ]


def _messages_once(session: Session, sent: Sequence[str]) -> list[str]:
    messages = list(session.messages.order_by("number").values_list("number", "role", "client_id"))
    ids = Counter(client_id for _, role, client_id in messages if role == MessageRole.USER)
    found = [f"I1 message {one} is stored {ids[one]} times" for one in sent if ids[one] != 1]
    numbers = [number for number, _, _ in messages]
    if numbers != list(range(1, session.last_message_number + 1)):
        found.append(f"I1 numbers have gaps: {numbers} of {session.last_message_number}")
    if (open_count := session.turns.filter(status__in=OPEN_TURN_STATUSES).count()) > 1:
        found.append(f"I1 {open_count} turns are open")
    return found


def _effects_once(user_id: int) -> list[str]:
    versions = UserFileVersion.unscoped.filter(file__user_id=user_id).exclude(tool_use_id="")
    effects = list(versions.values_list("tool_use_id", "content"))
    counts = Counter(call_id for call_id, _ in effects)
    found = [f"I2 {call_id} took effect {count} times" for call_id, count in counts.items() if count > 1]
    made = dict(effects)
    saves = list(ToolCallRecord.unscoped.filter(turn__session__user_id=user_id, name="save_file"))
    for call in saves:
        is_done = call.state == ToolCallState.FINISHED and not call.is_error
        if is_done and call.tool_use_id not in made:
            found.append(f"I2 {call.tool_use_id} says that it saved, and nothing is there")
        if not is_done and call.tool_use_id in made:
            found.append(f"I2 {call.tool_use_id} is {call.state} (error {call.is_error}), and took effect")
        if is_done and call.input.get("content", "\0") not in made.get(call.tool_use_id, ""):
            found.append(f"I2 {call.tool_use_id} saved something else than it was given")
    unknown = set(made) - {call.tool_use_id for call in saves}
    return [*found, *(f"I2 {call_id} took effect and isn't recorded" for call_id in unknown)]


def _ratings_once(session: Session) -> list[str]:
    """Compare ratings with the answers that gave them, in sessions without other ratings."""
    answered = ToolCallRecord.unscoped.filter(turn__session=session, name=PULSE, state=ToolCallState.ANSWERED)
    given = sum(len(value["ratings"]) for value in answered.values_list("value", flat=True) if value)
    stored = PulseRating.unscoped.filter(session=session).count()
    return [f"I2 {given} ratings were given and {stored} are stored"] if given != stored else []


def _history_valid(session: Session) -> list[str]:
    """Check every request that the code can send: each prefix of history that ends with the user."""
    history = list(selectors.history(session))
    found = []
    for end, message in enumerate(history, start=1):
        if message.role != MessageRole.USER:
            continue
        request = ModelRequest(
            model=settings.SAGE_MODEL,
            max_tokens=turn_tokens(),
            messages=build_api_messages(
                [stored_message(row) for row in history[:end]], CHAT_TOOLS.saved_fields
            ),
            tools=CHAT_TOOLS.definitions(),
        )
        try:
            check_request({**build_params(request), "stream": True})
        except ApiError as error:
            found.append(f"I3 history up to message {message.number} is refused: {error}")
    return found


def _files_whole(user_id: int) -> list[str]:
    try:
        audit_files(user_id)
    except (AssertionError, OSError) as error:
        return [f"I6 {type(error).__name__} {error}"]
    return []


def _within_budget(session: Session, part_seconds: float) -> list[str]:
    found = []
    for turn in session.turns.prefetch_related("rounds", "calls"):
        part_of = {row.number: row.part for row in turn.rounds.all()}
        parts = Counter(row.part for row in turn.rounds.all())
        if parts and max(parts.values()) > MAX_ROUNDS:
            found.append(f"I7 turn {turn.id} has {dict(parts)} rounds by part")
        ran = [call for call in turn.calls.all() if not call.result.startswith(_NOT_RUN)]
        calls = Counter(part_of.get(call.round_number) for call in ran)
        if calls and max(calls.values()) > MAX_CALLS:
            found.append(f"I7 turn {turn.id} ran {dict(calls)} calls by part")
        if turn.ended_at and turn.status != TurnStatus.SUPERSEDED:
            took = (turn.ended_at - turn.part_started_at).total_seconds()
            if took > part_seconds and not turn.stop_reason.startswith(("dismissed", "expired")):
                found.append(f"I7 turn {turn.id} took {took:.1f} s")
    return found


# --- I5, I8: readers --------------------------------------------------------------------------------


def _stored_texts(session_id: UUID) -> dict[str, tuple[str, list[str]]]:
    """Return every closed turn's stored answer and the words of its notes, empty if there is none.

    An opening without words is withdrawn before its end is told, so its readers see nothing of it then.
    """
    turns = Turn.unscoped.filter(session_id=session_id).exclude(status__in=OPEN_TURN_STATUSES)
    texts: dict[str, tuple[str, list[str]]] = {
        str(turn_id): ("", []) for turn_id in turns.values_list("id", flat=True)
    }
    answers = Message.unscoped.filter(session_id=session_id, role=MessageRole.ASSISTANT)
    for answer in answers.exclude(turn__is_opening=True, turn__is_withdrawn=True, content=""):
        texts[str(answer.turn_id)] = (answer.content, WORDS.findall(_notes_of(answer)))
    return texts


def _notes_of(answer: Message) -> str:
    return " ".join(note["text"] for note in answer.metadata.get("notes", ()))


def _audit_seen(conversation: Conversation, stored: dict[str, tuple[str, list[str]]]) -> list[str]:
    found = []
    turns = {
        str(turn)
        for turn in Turn.unscoped.filter(session_id=conversation.session_id).values_list("id", flat=True)
    }
    for number, reader in enumerate(conversation.readers):
        who = f"{conversation.key} reader {number}"
        found += [f"I1 {who} saw the turn {turn}, which is gone" for turn in reader.ended.keys() - turns]
        for turn_id, ended in reader.ended.items():
            if turn_id not in stored or ended.stop_reason in ("tool_use", "superseded"):
                continue  # a part that ended with a question, and more may have come; or it was withdrawn
            text, notes = stored[turn_id]
            if ended.text != text:
                found.append(f"I5 {who} saw {ended.text!r} and stored is {text!r}")
            if (seen := WORDS.findall(ended.notes)) != notes:
                found.append(f"I5 {who} saw the notes {seen} and stored is {notes}")
        if strangers := set(_KEYS.findall(str(reader.frames))) - {conversation.key}:
            found.append(f"I8 {who} was shown words of {strangers}")
    return found


async def _audit_pages(cluster: Cluster, conversations: Sequence[Conversation]) -> list[str]:
    """Compare fresh pages, and a new reader, with the database."""
    port = cluster.process(cluster.up()[0]).port
    async with aiohttp.ClientSession(base_url=f"http://localhost:{port}") as browser:
        few = asyncio.Semaphore(PAGES_AT_ONCE)  # beyond that, Sage refuses requests

        async def audit_one(item: Conversation) -> list[str]:
            async with few:
                return await _audit_page(browser, item)

        found = await asyncio.gather(*map(audit_one, conversations))
    return [sentence for sentences in found for sentence in sentences]


async def _audit_page(browser: aiohttp.ClientSession, conversation: Conversation) -> list[str]:
    pages: list[str] = []
    query: str | None = ""
    while query is not None:  # a long conversation has earlier pages
        path = f"/chat/{conversation.session_id}/{query}"
        async with browser.get(path, headers={"Cookie": conversation.cookie}) as answer:
            if answer.status != 200:
                return [f"I5 {conversation.key}: the page answers {answer.status}"]
            pages.insert(0, await answer.text())
        earlier = _EARLIER.search(pages[0])
        query = earlier[1] if earlier else None
    markup = "".join(pages)
    page = unescape(_TAGS.sub(" ", markup))
    history, asked = await in_database(_words_and_questions, conversation.session_id)
    found = []
    if (shown := WORDS.findall(page)) != history:
        found.append(f"I5 {conversation.key}: the page shows {shown}, stored is {history}")
    if (questions := [(name, state) for state, name in _QUESTIONS.findall(markup)]) != asked:
        found.append(f"I5 {conversation.key}: the page shows the questions {questions}, stored is {asked}")
    if strangers := set(_KEYS.findall(page)) - {conversation.key}:
        found.append(f"I8 {conversation.key}: the page shows words of {strangers}")
    return found


def _words_and_questions(session_id: UUID) -> tuple[list[str], list[tuple[str, str]]]:
    return _history_words(session_id), _questions(session_id)


def _history_words(session_id: UUID) -> list[str]:
    session = Session.unscoped.get(id=session_id)
    texts = [f"{message.content} {_notes_of(message)}" for message in selectors.history(session)]
    waiting = read_sync(session)
    # Two tabs may have sent their messages in either order, so only the words of each are sorted.
    texts.append(" ".join([waiting.text, *waiting.notes]))
    return [word for text in texts for word in in_order(WORDS.findall(text))]


def _questions(session_id: UUID) -> list[tuple[str, str]]:
    """Return the questions on a page and how they ended: of each round up to the first open one."""
    calls = ToolCallRecord.unscoped.filter(
        turn__session_id=session_id, turn__is_withdrawn=False, name__in=INTERACTIVE
    )
    asked = []
    silent = set()
    for call in calls.order_by("turn__started_at", "round_number", "position"):
        place = (call.turn_id, call.round_number)
        is_answered = call.state in (ToolCallState.ANSWERED, ToolCallState.DISMISSED)
        is_open = call.state in (ToolCallState.PENDING, ToolCallState.SUPERSEDED, ToolCallState.EXPIRED)
        if is_answered or (is_open and place not in silent):
            asked.append((question_of(call).dom_id, str(call.state)))
        if is_open:
            silent.add(place)
    return asked


def _audit_requests(cluster: Cluster) -> list[str]:
    """Check the new requests to the model: no other person's words, none refused."""
    found = []
    requests = cluster.practice.requests[cluster.audited :]
    cluster.audited += len(requests)
    for request in requests:
        plan = plan_of(request.body)
        said = _SIGNATURE.sub("", str(request.body))
        if len(words := {match[1]: said[match.start() :][:20] for match in _KEYS.finditer(said)}) > 1:
            found.append(f"I8 a request of {plan} holds words of several: {words}")
        if request.error and not request.fault:
            found.append(f"I3 a request of {plan} was refused: {request.error}")
    return found


def audit_request_counts(cluster: Cluster, *, most: int = MAX_REQUESTS) -> list[str]:
    """Check I7's requests per turn part, for turns with one part."""
    counts = Counter(plan_of(request.body) for request in cluster.practice.requests)
    counts.pop("", None)
    return [f"I7 {plan} asked {count} times" for plan, count in counts.items() if count > most]


def _audit_log(cluster: Cluster) -> list[str]:
    logged = cluster.log_text()
    found = []
    if words := sorted({match[0] for match in re.finditer(r"k\d+t\d+(secret|r\d+a\d+w\d+|note)", logged)}):
        found.append(f"I8 the log holds {words[:5]}")
    found += [f"the log holds a traceback: {line[:300]}" for line in _unexpected_lines(logged)]
    return found


def _unexpected_lines(logged: str) -> list[str]:
    # Lost connections are the injected fault; the turn's end is checked elsewhere.
    marks = (
        "Traceback (most recent",
        "turn_failed",
        "Task exception was never",
        '"level": "critical"',
        "loop_failed",
        "loop_item_failed",
    )
    return [
        line
        for line in logged.splitlines()
        if any(mark in line for mark in marks) and "django.db.utils." not in line
    ][:3]
