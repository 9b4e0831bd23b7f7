"""What people do while Sage speaks first, at random points of it, and a process that dies meanwhile.

The session's row is there before the form is posted, as if the form had been sent before, so that readers can
follow the opening from its first frame.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from uuid import uuid4

import aiohttp
from django.contrib.auth.models import User

from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.limits import RateLimit
from sessions_app.models import Message, SessionKind, Turn
from sessions_app.opening_message import OPENING_ID, OPENING_WORDS
from tests.faults.auditor import audit
from tests.faults.cluster import Cluster
from tests.faults.people import Conversation, Reader, until_closed
from tests.faults.planned_model import Plan, PlannedRound, plan_of
from tests.faults.points import POINTS, REACH_SECONDS, ROW_POINTS, Placed, Point, bring
from tests.faults.report import Report
from tests.live_sage import session_cookie

BATCH = 8
CLOSED_SECONDS = 45.0
TOKEN = "c" * 32

Action = Literal[
    "leave",
    "write",
    "write in two tabs",
    "write in a form",
    "send twice",
    "stop",
    "reload",
    "begin again",
    "kill",
]
ACTIONS: tuple[Action, ...] = get_args(Action)
KINDS = tuple(kind for kind in SessionKind if kind != SessionKind.OPEN_DAY)
"""Those that may write what the plans save."""


@dataclass(kw_only=True)
class Opening(Conversation):
    """A conversation that Sage opens: its first plan is said by posting the form that begins it."""

    kind: SessionKind
    form_id: str
    action: Action = "leave"
    is_killed: bool = False
    said: list[Plan] = field(default_factory=list)

    async def say(self, plan: Plan, *, reader: Reader | None = None, kind: str = "message") -> str:
        """Begin the conversation; afterwards, send a plan's message."""
        if plan is self.plans[0]:
            await self.begin()
            return ""
        self.said.append(plan)
        return await Conversation.say(self, plan, reader=reader, kind=kind)

    async def begin(self) -> None:
        """Post the form, without waiting for what Sage says."""
        place = await self.post("/chat/new/", kind=self.kind, id=self.form_id)
        assert place.endswith(f"/chat/{self.session_id}/"), place

    async def write_in_form(self, plan: Plan) -> None:
        """Send a plan's message as a browser without JavaScript does."""
        self.said.append(plan)
        client_id = f"{plan.key}-{uuid4().hex[:8]}"
        self.sent.append(client_id)
        await self.post(f"/chat/{self.session_id}/message/", text=plan.text, id=client_id)

    async def post(self, path: str, **fields: str) -> str:
        """Post a form and return the address that it redirects to."""
        origin = self.cluster.process(self.cluster.up()[0]).origin
        headers = {"Cookie": f"{self.cookie}; csrftoken={TOKEN}", "Origin": origin}
        data = {"csrfmiddlewaretoken": TOKEN, **fields}
        async with (
            aiohttp.ClientSession(base_url=origin, headers=headers) as browser,
            browser.post(path, data=data, allow_redirects=False) as answer,
        ):
            assert answer.status in (302, 303), (path, answer.status, await answer.text())
            return answer.headers["Location"]


async def run_openings(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Have Sage open sessions; at a random point of each, its person does something or the process dies."""
    report = Report(fault="openings", seed=seed)
    rng = random.Random(seed)
    actions = [action for _ in range(points) for action in rng.sample(ACTIONS, len(ACTIONS))]
    async with cluster.opened():
        while report.points < points:
            count = min(BATCH, points - report.points)
            openings = [await in_database(_open, cluster, rng.choice(KINDS)) for _ in range(count)]
            for opening in openings:
                opening.action = actions.pop()
            await _run_batch(cluster, report, rng, openings)
    return report


def _open(cluster: Cluster, kind: SessionKind) -> Opening:
    key = cluster.next_key()
    # The name goes along with every request, and so names the plan of what Sage says first.
    user = User.objects.create(username=f"{key}-{uuid4().hex[:8]}", password="!", first_name=f"[{key}t1]")
    form_id = str(uuid4())
    limit = RateLimit(turns=1000, seconds=60)
    session = session_services.begin_session(user_id=user.pk, kind=kind, client_id=form_id, rate_limit=limit)
    return Opening(
        cluster=cluster,
        key=key,
        user_id=user.pk,
        session_id=session.id,
        cookie=session_cookie(user),
        kind=kind,
        form_id=form_id,
    )


async def _run_batch(
    cluster: Cluster, report: Report, rng: random.Random, openings: Sequence[Opening]
) -> None:
    points = rng.sample(POINTS, len(POINTS)) + rng.choices(POINTS, k=len(openings))
    placed = await asyncio.gather(
        *(
            _bring(opening, point, rng.randrange(2**31))
            for opening, point in zip(openings, points, strict=False)
        )
    )
    victims = [item for item, opening in zip(placed, openings, strict=True) if opening.action == "kill"]
    others = [item for item in placed if item not in victims]
    await asyncio.gather(*(_act_and_release(item, report) for item in others))
    if victims:
        await _kill(cluster, report, victims, openings)
    closed = await until_closed(list(openings), CLOSED_SECONDS * cluster.patience)
    for item in placed:
        report.points += 1
        key = item.conversation.key
        report.expect(key in closed, f"{key} ({item.point}) didn't come to its end")
    await asyncio.gather(*map(_talk_on, openings))
    report.violations += await audit(cluster, openings)
    for opening in openings:
        report.violations += await in_database(_audit_opening, opening)
    await asyncio.gather(*(opening.close() for opening in openings))


async def _bring(opening: Opening, point: Point, seed: int) -> Placed:
    for place in range(2):
        await opening.read(place=place % len(opening.cluster.processes))
    return await bring(opening, point, random.Random(seed), is_json_stalled=False)


async def _act_and_release(item: Placed, report: Report) -> None:
    opening = item.conversation
    assert isinstance(opening, Opening)
    report.count(opening.action)
    if item.point in ROW_POINTS:  # the row that it waits for may be the one that the action waits for
        await asyncio.gather(_act(opening), item.release())
        return
    await _act(opening)
    await item.release()


async def _act(opening: Opening) -> None:
    first, second = opening.readers
    match opening.action:
        case "write":
            await opening.say(_short(opening), reader=second)
        case "write in two tabs":
            # Either may be first, and the auditor orders words by their plans: one has none.
            plans = [_short(opening), Plan(key=f"{opening.key}t0", rounds=())]
            await asyncio.gather(
                *(opening.say(plan, reader=tab) for plan, tab in zip(plans, (first, second), strict=True))
            )
        case "write in a form":
            await opening.write_in_form(_short(opening))
        case "send twice":
            plan = _short(opening)
            client_id = await opening.say(plan, reader=second)
            await asyncio.gather(
                *(tab.send(type="message", text=plan.text, id=client_id) for tab in (first, second))
            )
        case "stop":
            await second.send(type="stop")
        case "reload":
            await asyncio.gather(first.drop(), second.drop())
            await asyncio.gather(*(tab.until(lambda tab=tab: tab.is_connected) for tab in (first, second)))  # type: ignore[misc]  # a default value hides its type
        case "begin again":
            await asyncio.gather(opening.begin(), opening.begin())
        case "leave" | "kill":
            pass


def _short(opening: Opening) -> Plan:
    return opening.plan(PlannedRound(words=4))


async def _kill(
    cluster: Cluster, report: Report, victims: Sequence[Placed], openings: Sequence[Opening]
) -> None:
    """Kill a process while these openings run, then start another; every one of the batch may be hit."""
    for opening in openings:
        opening.is_killed = True
    report.count("kill", len(victims))
    cluster.kill(0)
    await asyncio.gather(*(item.release() for item in victims))
    await cluster.ensure_up()


async def _talk_on(opening: Opening) -> None:
    """Write another message and hear the answer: no conversation is stuck."""
    plan, reader = _short(opening), opening.reader
    await opening.say(plan)
    await reader.until(lambda: reader.status == "idle" and reader.text.startswith(f"{plan.key}r1a"))


async def run_wordless(cluster: Cluster) -> Report:
    """Stop an opening that has only notes so far: it is withdrawn, and so are the notes that were shown."""
    report = Report(fault="openings", seed=0)
    async with cluster.opened():
        opening = await in_database(_open, cluster, KINDS[0])
        for _ in range(2):
            await opening.read()
        saves = PlannedRound(words=0, saves=("career",))
        plan = opening.plan(saves, PlannedRound(words=8, saves=("play",), hold="last"), PlannedRound())
        await opening.say(plan)
        await cluster.practice.reached(plan.gate(2), REACH_SECONDS * cluster.patience)
        for reader in opening.readers:
            await reader.until(lambda reader=reader: f"{plan.key}r2a1w7" in reader.notes)  # type: ignore[misc]  # a default value hides its type
        await opening.reader.send(type="stop")
        report.points = len(await until_closed([opening], CLOSED_SECONDS * cluster.patience))
        for reader in opening.readers:
            await reader.until(lambda reader=reader: len(reader.dones) > 0)  # type: ignore[misc]  # a default value hides its type
        report.count("notes", await in_database(_withdrawn_notes, opening))
        report.violations += await audit(cluster, [opening])
        report.violations += await in_database(_audit_opening, opening)
        await opening.close()
    return report


def _withdrawn_notes(opening: Opening) -> int:
    """Return how many notes are stored of turns that were withdrawn."""
    messages = Message.unscoped.filter(session_id=opening.session_id, turn__is_withdrawn=True, content="")
    return sum(len(message.metadata.get("notes", ())) for message in messages)


def _audit_opening(opening: Opening) -> list[str]:
    """Check that there is one opening, at one cost, and that nothing of one that was withdrawn is sent."""
    found = []
    who = f"{opening.key} ({opening.action})"
    messages = Message.unscoped.filter(session_id=opening.session_id)
    numbers = list(messages.filter(client_id=OPENING_ID).values_list("number", flat=True))
    turns = list(Turn.unscoped.filter(session_id=opening.session_id, is_opening=True))
    if numbers != [1] or len(turns) != 1:
        return [f"{who}: the opening has the messages {numbers} and {len(turns)} turns"]
    most = 2 if opening.is_killed else 1
    if times := {number: n for number, n in opening.plans[0].attempts.items() if n > most}:
        found.append(f"{who}: rounds of the opening were asked for {times} times")
    for number, reader in enumerate(opening.readers):
        told = Counter(frame["message"]["id"] for frame in reader.frames if "message" in frame)
        found += [f"{who}: reader {number} was told of {one} {n} times" for one, n in told.items() if n > 1]
        if not opening.is_killed and any(OPENING_WORDS in str(frame) for frame in reader.frames):
            found.append(f"{who}: reader {number} was shown the hidden message")
    for request in opening.cluster.practice.requests:
        if plan_of(request.body) in {plan.key for plan in opening.said}:
            is_sent = OPENING_WORDS in _words_sent(request.body)
            if is_sent == turns[0].is_withdrawn:
                found.append(f"{who}: withdrawn is {turns[0].is_withdrawn}, and it was sent: {is_sent}")
    return found


def _words_sent(body: dict[str, Any]) -> str:
    return str(body["messages"])
