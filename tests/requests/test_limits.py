"""The limits on concurrent requests, per person and in total, and their error responses."""

import asyncio
import json
import socket
from asyncio import FIRST_COMPLETED
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from functools import partial
from uuid import uuid4

import psycopg
import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as BrowserSession
from django.db import connection

from coaching.people.in_flight import (
    MAX_PER_ADDRESS,
    MAX_PER_PERSON,
    MAX_RUNNING,
    MAX_WAITING_PER_PERSON,
)
from coaching.practice.script import Hold, Reply
from coaching.practice.server import PracticeServer
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.leases import BEAT_SECONDS, read_beats
from sessions_app.models import Message, Session, SessionKind
from tests.conftest import MakeUser
from tests.live_sage import LiveSage, session_cookie, until_it_beats, url_of_test_database
from tests.requests.browsers import browser_of, heart_was_in_time, measure_patience, slowest_page_during
from tests.requests.lives import COSTLY, FILE_PATH, keep_file

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = ("text/html", "application/json")
PREVIEW = f"/files/{FILE_PATH}/preview/"


async def test_one_person_has_so_many_requests_in_flight_and_others_notice_nothing(
    live_sage: LiveSage, user: User, other_user: User
) -> None:
    await in_database(keep_file, user)
    async with browser_of(user, live_sage) as mine, browser_of(other_user, live_sage) as theirs:
        patience = await measure_patience(live_sage)
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
        assert slowest < 2 * patience
        assert (await mine.get("/")).status == 200, "what is answered counts no longer"


async def test_a_person_has_no_more_of_them_by_signing_in_with_several_browsers(
    live_sage: LiveSage, user: User
) -> None:
    await in_database(keep_file, user)
    async with AsyncExitStack() as stack:
        browsers = [await stack.enter_async_context(browser_of(user, live_sage)) for _ in range(3)]
        answers = await asyncio.gather(
            *(
                browser.post(PREVIEW, {"body": f"{number} {COSTLY}"})
                for number in range(MAX_PER_PERSON - 2)
                for browser in browsers
            )
        )
    statuses = Counter(answer.status for answer in answers)
    assert set(statuses) == {200, 429}, statuses


async def test_cookies_that_a_stranger_makes_up_count_by_address(live_sage: LiveSage, user: User) -> None:
    async with browser_of(None, live_sage) as strangers, browser_of(user, live_sage) as mine:
        patience = await measure_patience(live_sage)
        assert (await mine.get("/")).status == 200  # known by its cookie from now on
        ask = partial(strangers.get, "/accounts/login/")
        many = asyncio.gather(
            *(ask(Cookie=f"sessionid={uuid4().hex}") for _ in range(MAX_PER_ADDRESS * 3)), ask()
        )
        assert await slowest_page_during(many, mine) < 2 * patience
        *made_up, without_cookie = await many
    assert {page.status for page in made_up} == {200, 429}
    assert without_cookie.status == 200


async def test_one_browser_that_isnt_known_yet_leaves_room_for_others_at_its_address(
    live_sage: LiveSage, user: User, other_user: User
) -> None:
    async with browser_of(user, live_sage) as mine, browser_of(other_user, live_sage) as theirs:
        async with locked_browser_sessions():  # nobody becomes known meanwhile
            many = [asyncio.create_task(mine.get("/")) for _ in range(MAX_PER_ADDRESS * 2)]
            while sum(page.done() for page in many) < MAX_PER_ADDRESS:
                await asyncio.wait([page for page in many if not page.done()], return_when=FIRST_COMPLETED)
            page = asyncio.create_task(theirs.get("/"))
            await asyncio.wait([page], timeout=0.5)
        assert (await page).status == 200
        statuses = Counter(answer.status for answer in await asyncio.gather(*many))
    assert statuses == {200: MAX_PER_PERSON, 429: MAX_PER_ADDRESS * 2 - MAX_PER_PERSON}


async def test_cookies_of_people_who_have_signed_out_count_by_address(
    live_sage: LiveSage, user: User
) -> None:
    cookies = [await in_database(session_cookie, user) for _ in range(MAX_PER_ADDRESS // 2)]

    async def statuses(times: int) -> set[int]:
        async with browser_of(None, live_sage) as browser:
            pages = await asyncio.gather(*(browser.get("/", Cookie=cookie) for cookie in cookies * times))
        return {page.status for page in pages}

    assert await statuses(1) == {200}
    await in_database(BrowserSession.objects.all().delete)
    assert await statuses(1) == {302}
    assert await statuses(MAX_PER_PERSON // 2) == {302, 429}


async def test_forms_that_wait_for_an_answer_leave_room_for_pages(
    live_sage: LiveSage, practice: PracticeServer, user: User, session: Session
) -> None:
    practice.script([Reply.of("A moment", Hold("thinking"), ".")])
    address = f"/chat/{session.id}/message/"
    form = {"text": "hello", "id": "7f0a1a52-7a4e-4d6e-9b62-0a2f7d4f9d10"}
    async with browser_of(user, live_sage) as mine:
        posts = [asyncio.create_task(mine.post(address, form)) for _ in range(MAX_PER_PERSON - 2)]
        await practice.reached("thinking")
        waiting = set(posts)
        while len(waiting) > MAX_WAITING_PER_PERSON:
            done, waiting = await asyncio.wait(waiting, return_when=FIRST_COMPLETED)
            assert {post.result().status for post in done} == {303}
        assert len(waiting) == MAX_WAITING_PER_PERSON
        pages = await asyncio.gather(*(mine.get(path) for path in ("/", "/files/", "/chat/", "/map/")))
        assert [page.status for page in pages] == [200] * 4
        practice.release("thinking")
        assert {(await post).status for post in waiting} == {303}
    assert await in_database(Message.unscoped.filter(role="user").count) == 1


async def test_requests_that_wait_for_an_answer_have_no_place_at_work(
    live_sage: LiveSage, practice: PracticeServer, make_user: MakeUser
) -> None:
    people = [await in_database(make_user) for _ in range(MAX_RUNNING // MAX_WAITING_PER_PERSON + 1)]
    kind = SessionKind.OPEN_CONVERSATION
    practice.script([Reply.of("A moment", Hold("thinking"), ".") for _ in people])
    async with AsyncExitStack() as stack:
        browsers = [await stack.enter_async_context(browser_of(person, live_sage)) for person in people]
        posts = []
        for person, browser in zip(people[1:], browsers[1:], strict=True):
            session = await in_database(session_services.open_session, user_id=person.pk, kind=kind)
            form = {"text": "hello", "id": str(uuid4())}
            address = f"/chat/{session.id}/message/"
            posts += [asyncio.create_task(browser.post(address, form)) for _ in range(MAX_WAITING_PER_PERSON)]
        await practice.wait_until(lambda requests: len(requests) == len(people) - 1, seconds=20)
        done, _ = await asyncio.wait(posts, timeout=1)
        assert not done
        page = await browsers[0].get("/")
        assert page.status == 200
        practice.release("thinking")
        assert {(await post).status for post in posts} == {303}


async def test_a_form_that_ends_a_session_counts_among_those_that_wait(
    live_sage: LiveSage, practice: PracticeServer, user: User, session: Session
) -> None:
    kind = SessionKind.OPEN_CONVERSATION
    ending = await in_database(session_services.open_session, user_id=user.pk, kind=kind)
    practice.script([Reply.of("A moment", Hold("thinking"), ".") for _ in range(2)])
    form = {"text": "hello", "id": str(uuid4())}
    async with browser_of(user, live_sage) as mine:
        posts = [
            asyncio.create_task(mine.post(f"/chat/{session.id}/message/", form))
            for _ in range(MAX_WAITING_PER_PERSON + 1)
        ]
        await practice.reached("thinking")
        await asyncio.wait(posts, return_when=asyncio.FIRST_COMPLETED)  # as many wait as may
        other = {"text": "good night", "id": str(uuid4())}
        assert (await mine.post(f"/chat/{ending.id}/message/", other)).status == 303
        await practice.wait_until(lambda requests: len(requests) == 2)
        locking = asyncio.create_task(in_database(hold_rounds, 3.0))  # the stopped turn can't come to its end
        await asyncio.sleep(0.5)
        ended = await mine.post(f"/chat/{ending.id}/message/", {"do": "end"})
        assert (ended.status, locking.done()) == (303, False)
        await locking
        practice.release("thinking")
        assert {(await post).status for post in posts} == {303}


async def test_while_a_response_is_sent_its_request_holds_no_connection(
    small_sage: LiveSage, user: User
) -> None:
    await in_database(keep_file, user, "x" * 12_000_000)  # more than the system buffers
    cookie = await in_database(session_cookie, user)
    head = f"GET /files/{FILE_PATH}?download=1 HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n"
    loop = asyncio.get_running_loop()
    async with browser_of(user, small_sage) as mine:
        with ExitStack() as stack:
            for _ in range(3):
                client = stack.enter_context(socket.socket())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.setblocking(False)
                await loop.sock_connect(client, ("127.0.0.1", small_sage.port))
                await loop.sock_sendall(client, head.encode())
                assert (await loop.sock_recv(client, 100)).startswith(b"HTTP/1.1 200")
            page = await mine.get("/files/")
    assert page.status == 200


async def test_behind_a_proxy_unknown_clients_are_distinguished_by_the_address_it_adds(
    proxied_sage: LiveSage,
) -> None:
    def forwarded(made_up: int, added: int, of: str = "10.1.0.") -> dict[str, str]:
        return {"X-Forwarded-For": f"10.0.0.{made_up}, {of}{added}", "X-Forwarded-Proto": "https"}

    async with browser_of(None, proxied_sage) as strangers:
        ask = partial(strangers.get, "/accounts/login/")
        numbers = range(MAX_PER_ADDRESS * 3)
        one = await asyncio.gather(*(ask(**forwarded(number, 1)) for number in numbers))
        many = await asyncio.gather(*(ask(**forwarded(1, number)) for number in numbers))
        network = await asyncio.gather(*(ask(**forwarded(1, number, "2001:db8::")) for number in numbers))
        mapped = await asyncio.gather(*(ask(**forwarded(1, number, "::ffff:10.1.0.")) for number in numbers))
    assert 429 in {page.status for page in one}
    assert 429 in {page.status for page in network}, "one network of IPv6 is one stranger"
    assert 429 not in {page.status for page in mapped}
    assert 429 not in {page.status for page in many}


async def test_without_a_connection_to_spare_pages_say_so_and_the_heart_beats_on(
    small_sage: LiveSage, user: User
) -> None:
    await until_it_beats(small_sage)
    logged = small_sage.log.stat().st_size
    async with browser_of(user, small_sage) as mine:
        patience = await measure_patience(small_sage)
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
        assert max(page.seconds for page in pages) < 7 + patience, "nobody waits twice"
    (owner,) = (owner for owner in before if owner.split(":")[1] == str(small_sage.process.pid))
    assert (
        after[owner] - before[owner] >= 5 / BEAT_SECONDS - 1
    )  # the pool had no connection for as long as that
    assert heart_was_in_time(small_sage.log.read_text()[logged:], patience)


@asynccontextmanager
async def locked_browser_sessions() -> AsyncIterator[None]:
    """Lock what every browser request reads first, during the block."""
    async with await psycopg.AsyncConnection.connect(url_of_test_database()) as locking:
        await locking.execute("LOCK TABLE django_session IN ACCESS EXCLUSIVE MODE")
        yield
        await locking.rollback()


def hold_browser_sessions(seconds: float) -> None:
    """Lock what every browser request reads first."""
    lock_table("django_session IN ACCESS EXCLUSIVE MODE", seconds)


def hold_rounds(seconds: float) -> None:
    """Lock what every turn writes at its end."""
    lock_table("sessions_app_round IN SHARE ROW EXCLUSIVE MODE", seconds)


def lock_table(how: str, seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(f"LOCK TABLE {how}")
        cursor.execute("SELECT pg_sleep(%s)", [seconds])
        cursor.execute("COMMIT")
