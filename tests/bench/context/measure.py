"""Measures building a turn's request for people with different amounts of data.

Everything between a committed message and a request that can be sent, without storing the prompt. A first
message contains everything, a later one checks for changes.
"""

import asyncio
import math
import statistics
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import connection, reset_queries
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils import timezone

from coaching.context.prompt import build_turn
from coaching.models import (
    Capture,
    DayPlan,
    FileSource,
    FileType,
    LifeDomain,
    Profile,
    PulseRating,
    UserFile,
    UserFileVersion,
)
from coaching.tools import CHAT_TOOLS
from sessions_app.database import in_database
from sessions_app.models import MessageRole, Session, SessionKind, Turn
from tests.bench.context.slow_storage import SlowStorage
from tests.bench.stocked import stock_library
from tests.messages import append_message
from tests.printing import say

PARAGRAPH = "It was a day with a long walk, a hard talk and a good hour at the end of it. " * 6
VERSIONS = 3
DOCUMENTS = 2_000
MAX_LONGER = 1.2
"""How much longer a build may take with that many documents."""

STORAGE_MS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """How much data a person has. `bar_ms` is the limit for a build's p95.

    `storage_ms` is the delay of every storage access.
    """

    name: str
    files: int
    sessions: int
    bar_ms: float
    storage_ms: float = 0


LIVES = (
    Life(name="nothing yet", files=0, sessions=0, bar_ms=60),
    Life(name="30 files", files=30, sessions=5, bar_ms=60),
    Life(name="1,000 files, 500 sessions", files=1_000, sessions=500, bar_ms=200),
    Life(
        name=f"the same, storage at {STORAGE_MS} ms",
        files=1_000,
        sessions=500,
        bar_ms=250,
        storage_ms=STORAGE_MS,
    ),
)


def run(*, builds: int) -> bool:
    """Measure every person, print the table, and return whether all limits are met and no query was added."""
    say(f"{'life':28} {'message':8} {'queries':>7} {'p50 ms':>8} {'p95 ms':>8} {'bar':>6}  met")
    is_met = True
    counts: dict[str, set[int]] = {"first": set(), "later": set()}
    for life in LIVES:
        user = seed(life)
        storage = slow_storage(user, life.storage_ms)
        for name, session in (("first", first_session(user)), ("later", later_session(user))):
            queries = count_queries(session)
            times = asyncio.run(measure(session, builds))
            p95 = times[math.ceil(len(times) * 0.95) - 1]
            is_row_met = p95 < life.bar_ms
            is_met = is_met and is_row_met
            counts[name].add(queries)
            row = f"{life.name:28} {name:8} {queries:7} {statistics.median(times):8.1f} {p95:8.1f}"
            say(f"{row} {life.bar_ms:6.0f}  {'yes' if is_row_met else 'NO'}")
        if life.storage_ms:
            asked = storage.accesses
            say(
                f"the builds asked the storage {asked} times; reading one object takes {read_ms(user):.0f} ms"
            )
            is_met = is_met and asked == 0
    is_met = compare_library(builds) and is_met
    is_constant = all(len(found) == 1 for found in counts.values())
    say(f"queries are {'the same for every life' if is_constant else f'NOT the same: {counts}'}")
    return is_met and is_constant


def compare_library(builds: int) -> bool:
    """Print how much longer a build takes with many documents; return whether it is within the limit.

    The two people's builds take turns, so that a busy machine slows both alike.
    """
    life = Life(name="", files=30, sessions=5, bar_ms=0)
    without, stocked = seed(life), seed(life)
    stock_library(stocked, DOCUMENTS)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum would do
    is_met = True
    for name, session_of in (("first", first_session), ("later", later_session)):
        pair = (session_of(without), session_of(stocked))
        plain, full = asyncio.run(measure_in_turns(pair, builds))
        middle, bare = statistics.median(full), statistics.median(plain)
        is_row_met = middle / bare <= MAX_LONGER
        is_met = is_met and is_row_met
        p95 = full[math.ceil(len(full) * 0.95) - 1]
        row = f"{f'{DOCUMENTS:,} documents':28} {name:8} {count_queries(pair[1]):7} {middle:8.1f} {p95:8.1f}"
        ratio = f"× {middle / bare:.2f} of no documents ({bare:.1f} ms), at most × {MAX_LONGER}"
        say(f"{row}  {ratio}  {'yes' if is_row_met else 'NO'}")
    return is_met


async def measure_in_turns(sessions: Sequence[Session], builds: int) -> Sequence[list[float]]:
    """Return the sorted build times of each session."""
    times: list[list[float]] = [[] for _ in sessions]
    for _ in range(max(1, builds // 10)):
        for number, session in enumerate(sessions):
            times[number] += await measure(session, 10)
    return [sorted(found) for found in times]


def slow_storage(user: User, milliseconds: float) -> SlowStorage:
    """Move the user's objects to a storage with this delay, and use it from now on."""
    backend = f"{SlowStorage.__module__}.{SlowStorage.__qualname__}"
    override_settings(STORAGES={**settings.STORAGES, "default": {"BACKEND": backend}}).enable()
    storage = storages["default"]
    assert isinstance(storage, SlowStorage)
    versions = UserFileVersion.unscoped.filter(file__user=user, number=VERSIONS)
    for key, content in versions.values_list("storage_key", "content"):
        storage.save(key, ContentFile(content.encode()))
    storage.seconds, storage.accesses = milliseconds / 1000, 0
    return storage


def read_ms(user: User) -> float:
    """Return how long it takes to read one of the user's objects."""
    version = UserFileVersion.unscoped.filter(file__user=user, number=VERSIONS).first()
    assert version is not None
    started = time.perf_counter()
    with storages["default"].open(version.storage_key) as file:
        assert file.read()
    return (time.perf_counter() - started) * 1000


def build(session_id: uuid.UUID) -> None:
    """Build the request of a session's open turn, as `load_setup` does."""
    session = Session.unscoped.get(id=session_id)
    profile = Profile.unscoped.select_related("user").get(user_id=session.user_id)
    build_turn(session, profile=profile, tools=CHAT_TOOLS, now=timezone.now())


async def measure(session: Session, builds: int) -> list[float]:
    """Return the sorted build times in ms, without the first few, which warm up."""
    times = []
    for number in range(builds + 5):
        started = time.perf_counter()
        await in_database(build, session.id)
        if number >= 5:
            times.append((time.perf_counter() - started) * 1000)
    return sorted(times)


def count_queries(session: Session) -> int:
    """Return how many queries a build makes."""
    reset_queries()
    with CaptureQueriesContext(connection) as captured:
        build(session.id)
    return len(captured)


def seed(life: Life) -> User:
    """Create a person with that much data."""
    user = User.objects.create_user(username=uuid.uuid4().hex)
    Profile.unscoped.create(user=user, name="Ada", timezone="Europe/Lisbon")
    today = timezone.now().date()
    makers: list[Callable[[int], tuple[str, FileType, dict[str, object]]]] = [
        lambda n: (f"daily-logs/{_back(today, n)}.md", FileType.DAILY_LOG, {"energy": 3}),
        lambda n: (f"day-plans/{_back(today, n)}.md", FileType.DAY_PLAN, {"intention": "Slowly"}),
        lambda n: (f"captures/{_back(today, n)}-101500.md", FileType.CAPTURE, {}),
        lambda n: (f"check-ins/{_back(today, n * 7)}.md", FileType.CHECK_IN, {"themes": ["rest"]}),
    ]
    fixed: list[tuple[str, FileType, dict[str, object]]] = [
        ("sage/context.md", FileType.SAGE_CONTEXT, {}),
        ("sage/patterns.md", FileType.SAGE_PATTERNS, {}),
        ("life-map/_overview.md", FileType.OVERVIEW, {}),
        ("life-plan/current.md", FileType.LIFE_PLAN, {}),
        ("life-plan/weekly.md", FileType.WEEKLY_PLAN, {}),
    ]
    for name in LifeDomain.values:
        status = "needs_attention" if name == "health" else "good"
        fixed.append((f"life-map/{name}.md", FileType.DOMAIN, {"status": status}))
    rows = [*fixed, *(makers[n % 4](n // 4) for n in range(max(0, life.files - len(fixed))))][: life.files]
    files = UserFile.unscoped.bulk_create(
        UserFile(user=user, path=path, file_type=kind, frontmatter=given, version_number=VERSIONS)
        for path, kind, given in rows
    )
    UserFileVersion.unscoped.bulk_create(
        UserFileVersion(
            file=file,
            number=number,
            content=f"---\ntype: {file.file_type}\n---\n\n{PARAGRAPH}{number}\n",
            size=len(PARAGRAPH),
            sha256="0" * 64,
            storage_key=uuid.uuid4().hex,
            source=FileSource.TOOL,
        )
        for file in files
        for number in range(1, VERSIONS + 1)
    )
    now = datetime.now(UTC)
    if life.files:
        days = [today - timedelta(days=n) for n in range(life.files // 4)]
        DayPlan.unscoped.bulk_create(DayPlan(user=user, date=day, intention="Slowly") for day in days)
        Capture.unscoped.bulk_create(
            Capture(user=user, file=file, captured_at=now)
            for file in files
            if file.file_type == FileType.CAPTURE
        )
        PulseRating.unscoped.bulk_create(
            PulseRating(user=user, domain=name, rating=3, rated_at=now - timedelta(days=7 * week))
            for name in LifeDomain.values
            for week in range(max(1, life.files // 20))
        )
    sessions = Session.unscoped.bulk_create(
        Session(user=user, kind=SessionKind.OPEN_CONVERSATION, last_message_number=2, opening="x" * 8_000)
        for _ in range(life.sessions)
    )
    assert len(sessions) == life.sessions
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return user


def first_session(user: User) -> Session:
    """Return a session with a first message that waits for its answer."""
    session = Session.unscoped.create(user=user)
    turn = Turn.unscoped.create(session=session)
    append_message(session=session, turn=turn, role=MessageRole.USER, content="Good morning")
    return session


def later_session(user: User) -> Session:
    """Return a session with a full window, an opening, and a new message."""
    session = Session.unscoped.create(user=user)
    for number in range(1, 31):
        role = MessageRole.USER if number % 2 else MessageRole.ASSISTANT
        turn = Turn.unscoped.create(session=session, status="completed", ended_at=timezone.now())
        append_message(session=session, turn=turn, role=role, content=PARAGRAPH)
        if number == 1:
            profile = Profile.unscoped.select_related("user").get(user=user)
            built = build_turn(session, profile=profile, tools=CHAT_TOOLS, now=timezone.now())
            session.opening = built.opening or ""
            session.save(update_fields=["opening"])
            built.message.save()
    turn = Turn.unscoped.create(session=session)
    append_message(session=session, turn=turn, role=MessageRole.USER, content="And now?")
    return session


def _back(today: date, days: int) -> str:
    return (today - timedelta(days=days)).isoformat()
