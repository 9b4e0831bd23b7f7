"""The limits on concurrent requests, per person and in total, and their error responses."""

import asyncio
import json
from collections import Counter
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.people.in_flight import MAX_PER_ADDRESS, MAX_PER_PERSON, MAX_WAITING_PER_PERSON
from coaching.practice.script import Hold, Reply
from coaching.practice.server import PracticeServer
from sessions_app import services
from sessions_app.database import in_database
from sessions_app.leases import BEAT_SECONDS, read_beats
from sessions_app.models import Message, Session, SessionKind
from tests.live_sage import LiveSage, until_it_beats
from tests.requests.browsers import browser_of, slowest_page_during
from tests.requests.lives import COSTLY, FILE_PATH, keep_file

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = ("text/html", "application/json")
PREVIEW = f"/files/{FILE_PATH}/preview/"


@pytest.fixture
def session(user: User) -> Session:
    return services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION)


async def test_one_person_has_so_many_requests_in_flight_and_others_notice_nothing(
    live_sage: LiveSage, user: User, other_user: User
) -> None:
    await in_database(keep_file, user)
    async with browser_of(user, live_sage) as mine, browser_of(other_user, live_sage) as theirs:
        many = asyncio.gather(
            *(
                mine.post(PREVIEW, {"body": f"{number} {COSTLY}"}, Accept=KINDS[number % 2])
                for number in range(MAX_PER_PERSON * 3)
            )
        )
        slowest = await slowest_page_during(many, theirs)
        answers = await many
        statuses = Counter(answer.status for answer in answers)
        assert set(statuses) == {200, 429}, statuses
        assert statuses[200] >= MAX_PER_PERSON
        page, program = (
            next(answer for answer in answers[place::2] if answer.status == 429) for place in (0, 1)
        )
        assert page.headers["Retry-After"] == program.headers["Retry-After"] == "2"
        assert "You have too many pages loading at once." in page.text
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]
        assert program.headers["Content-Type"] == "application/json"
        assert json.loads(program.text)["error"].startswith("You have too many pages loading at once.")
        assert slowest < 2
        assert (await mine.get("/")).status == 200, "what is answered counts no longer"


async def test_forms_that_wait_for_an_answer_leave_room_for_pages(
    live_sage: LiveSage, practice: PracticeServer, user: User, session: Session
) -> None:
    practice.script([Reply.of("A moment", Hold("thinking"), ".")])
    address = f"/chat/{session.id}/message/"
    form = {"text": "hello", "id": "7f0a1a52-7a4e-4d6e-9b62-0a2f7d4f9d10"}
    async with browser_of(user, live_sage) as mine:
        posts = [asyncio.create_task(mine.post(address, form)) for _ in range(MAX_PER_PERSON - 2)]
        await practice.reached("thinking")
        done, waiting = await asyncio.wait(posts, timeout=2)
        assert len(waiting) == MAX_WAITING_PER_PERSON
        assert {post.result().status for post in done} == {303}
        pages = await asyncio.gather(*(mine.get(path) for path in ("/", "/files/", "/chat/", "/map/")))
        assert [page.status for page in pages] == [200] * 4
        practice.release("thinking")
        assert {(await post).status for post in waiting} == {303}
    assert await in_database(Message.unscoped.filter(role="user").count) == 1


async def test_behind_a_proxy_unknown_clients_are_distinguished_by_the_address_it_adds(
    proxied_sage: LiveSage,
) -> None:
    def forwarded(made_up: int, added: int) -> dict[str, str]:
        return {"X-Forwarded-For": f"10.0.0.{made_up}, 10.1.0.{added}", "X-Forwarded-Proto": "https"}

    async with browser_of(None, proxied_sage) as strangers:
        ask = partial(strangers.get, "/accounts/login/")
        numbers = range(MAX_PER_ADDRESS * 3)
        one = await asyncio.gather(*(ask(**forwarded(number, 1)) for number in numbers))
        many = await asyncio.gather(*(ask(**forwarded(1, number)) for number in numbers))
    assert 429 in {page.status for page in one}
    assert 429 not in {page.status for page in many}


async def test_without_a_connection_to_spare_pages_say_so_and_the_heart_beats_on(
    small_sage: LiveSage, user: User
) -> None:
    await until_it_beats(small_sage)
    logged = small_sage.log.stat().st_size
    async with browser_of(user, small_sage) as mine:
        before = await in_database(read_beats)
        locking = asyncio.create_task(in_database(hold_browser_sessions, 7.0))
        await asyncio.sleep(0.5)
        pages = await asyncio.gather(*(mine.get("/files/") for _ in range(6)))
        after = await in_database(read_beats)
        await locking
        assert {page.status for page in pages} == {200, 503}
        refused = next(page for page in pages if page.status == 503)
        assert refused.headers["Retry-After"] == "5"
        assert "Sage is very busy right now." in refused.text
        last = await mine.get("/files/")
        assert last.status == 200
        assert max(page.seconds for page in pages) < 9, "nobody waits twice"
    (owner,) = (owner for owner in before if owner.split(":")[1] == str(small_sage.process.pid))
    assert (
        after[owner] - before[owner] >= 5 / BEAT_SECONDS - 1
    )  # the pool had no connection for as long as that
    assert "late_heartbeat" not in small_sage.log.read_text()[logged:]


def hold_browser_sessions(seconds: float) -> None:
    """Lock what every browser request reads first."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("LOCK TABLE django_session IN ACCESS EXCLUSIVE MODE")
        cursor.execute("SELECT pg_sleep(%s)", [seconds])
        cursor.execute("COMMIT")
