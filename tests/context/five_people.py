"""Five people, and what each writes next: the requests that `docs/requests/` shows."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.contrib.auth.models import User

from coaching.models import Client, DayPlan, LifeDomain, Profile, PulseRating, SessionScope
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind
from tests.calendar.conftest import source_of, timed
from tests.context.conftest import put_file
from tests.context.kept_steps import keep_forty_steps

TUESDAY = datetime(2026, 11, 24, 7, 40, tzinfo=UTC)

Say = Callable[[Session, str, str], Awaitable[None]]
"""Let the person of a session say something, and have it answered by given words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One request: at what moment, in which kind of conversation, and what the person writes.

    `said` are messages with their answers that come before it. The conversation may have been opened from the
    `client` of that name. The model has a context of `context_tokens`, None for the usual one.
    """

    at: datetime
    text: str
    seed: Callable[[User], None]
    kind: str = SessionKind.OPEN_CONVERSATION
    said: tuple[tuple[str, str], ...] = ()
    client: str = ""
    context_tokens: int | None = None


def profile_of(user: User, name: str, zone: str, **fields: object) -> None:
    Profile.unscoped.create(user=user, name=name, timezone=zone, **fields)


def spoke_before(user: User, kind: str, *, at: datetime, summary: str) -> Session:
    """Let a conversation have taken place."""
    session = Session.unscoped.create(
        user=user, kind=kind, last_message_number=4, summary=summary, summary_covers=4
    )
    Session.unscoped.filter(id=session.id).update(started_at=at, last_active_at=at)
    return session


def seed_new_person(user: User) -> None:
    """Somebody who signed up a minute ago."""
    profile_of(user, "Maya", "Europe/London")


def seed_a_week(user: User) -> None:
    """Somebody with a map, a plan, a week of logs, and a check-in on Sunday."""
    profile_of(user, "Jonas", "Europe/London", next_checkin_on=date(2026, 11, 29))
    summary = "You closed the day: screens off at half past eleven, and the call to Mia is still open."
    spoke_before(user, SessionKind.CLOSE_DAY, at=TUESDAY - timedelta(hours=10), summary=summary)
    _put_standing_files(user)
    for domain, rating in zip(LifeDomain, (3, 4, 2, 3, 4, 3, 3, 4), strict=True):
        status = {"health": "needs_attention"}.get(domain, "good" if rating > 3 else "okay")
        words = {"health": "Sleep is the sore point: five or six hours since September."}.get(
            domain, f"How {domain} is now, in Jonas's own words."
        )
        put_file(user, f"life-map/{domain}.md", words, updated="2026-11-22", status=status)
        for day, earlier in ((1, rating + (domain == "health")), (22, rating)):
            rated_at = TUESDAY.replace(day=day, hour=18)
            PulseRating.unscoped.create(user=user, domain=domain, rating=earlier, rated_at=rated_at)
    put_file(
        user,
        "check-ins/2026-11-22.md",
        "A full week. The review at work went well, sleep did not.\n\n"
        "Intention for the week: screens off at ten, three evenings out of seven.",
        themes=["proud of the review", "short nights"],
    )
    for day, words in LOGS.items():
        put_file(user, f"daily-logs/2026-11-{day}.md", words, energy="low", mood_signal="steady")
    _plan(user, date(2026, 11, 23), "Finish what I start", {"Send the offer": True, "Call Mia": False})
    put_file(user, "captures/2026-11-23-211500.md", "Ask Mia whether she'd run on Saturdays again.")
    put_file(user, "captures/2026-11-23-224000.md", "Why do I open the laptop at ten at night?")
    source = source_of(user)
    timed(source, "Team meeting", "2026-11-24T09:00Z", "2026-11-24T10:00Z")
    timed(source, "Dentist", "2026-11-24T15:30Z", "2026-11-24T16:00Z", location="12 High St")


def seed_forty_steps(user: User) -> None:
    """The same person, who has said of forty things that they will do them."""
    seed_a_week(user)
    at = TUESDAY - timedelta(days=2)
    summary = (
        "You looked back on a full week: the review at work went well, sleep did not. You want screens off "
        "at ten on three evenings, and to call Mia by Monday 2026-11-23."
    )
    keep_forty_steps(
        user, spoke_before(user, SessionKind.WEEKLY_CHECKIN, at=at, summary=summary), now=TUESDAY
    )


def seed_evening(user: User) -> None:
    """The same person with a plan for this day, at its end."""
    seed_a_week(user)
    _plan(user, TUESDAY.date(), "Unhurried", {"Prepare the workshop": True, "Call Mia": True, "Run": False})


def seed_danger(user: User) -> None:
    """Somebody who has written a few times and has one page."""
    profile_of(user, "Sam", "Europe/Berlin", next_checkin_on=date(2026, 11, 29))
    summary = "You told of the long evenings since the separation. You want to call your brother."
    spoke_before(user, SessionKind.OPEN_CONVERSATION, at=TUESDAY - timedelta(days=3), summary=summary)
    words = "Sam, 29, lives alone in Bremen since the separation in August."
    put_file(user, "sage/context.md", words, updated="2026-11-15")
    words = "The separation. Evenings are long."
    put_file(user, "life-map/relationships.md", words, updated="2026-11-21", status="in_crisis")


def seed_german(user: User) -> None:
    """Somebody who writes in German, with a check-in that is due."""
    profile_of(user, "Annika", "Europe/Berlin", language="de", next_checkin_on=date(2026, 11, 24))
    summary = (
        "Du hast auf die Woche zurückgeblickt: müde, aber zufrieden. "
        "Am Freitag 2026-11-20 wolltest du früher Feierabend machen."
    )
    spoke_before(user, SessionKind.WEEKLY_CHECKIN, at=TUESDAY - timedelta(days=7), summary=summary)
    words = "Annika, 41, Physiotherapeutin in Halle, zwei Kinder (8 und 11)."
    put_file(user, "sage/context.md", words, updated="2026-10-13")
    put_file(
        user, "life-map/_overview.md", "Die Arbeit trägt, die Abende sind zu kurz.", updated="2026-11-17"
    )
    words = "Seit neun Jahren in derselben Praxis."
    put_file(user, "life-map/career.md", words, updated="2026-10-13", status="okay")
    put_file(user, "check-ins/2026-11-17.md", "Müde, aber zufrieden.", themes=["wenig Zeit für mich"])


LOGS: Mapping[int, str] = {
    17: "Long day, two meetings too many. Good: the walk home.",
    18: "Slept badly. Got the numbers done all the same.",
    19: "The review went well. Told nobody but Mia.",
    20: "Friday. Tired, early to bed, phone in the kitchen. It worked.",
    21: "Market with the children. No screen until evening.",
    22: "Check-in with Sage. Intention: screens off at ten, three evenings.",
    23: "Screens off at half past eleven. So: no. Call to Mia still open.",
}

SCENES: Mapping[str, Scene] = {
    "new-person": Scene(
        at=TUESDAY.replace(hour=14),
        text="Hi. A friend said I should try this. What is it?",
        seed=seed_new_person,
    ),
    "tuesday-morning": Scene(at=TUESDAY, text="Morning. I slept badly again.", seed=seed_forty_steps),
    "close-day": Scene(
        at=TUESDAY.replace(hour=21),
        kind=SessionKind.CLOSE_DAY,
        said=(
            (
                "Quite a day. The workshop is prepared, and I called Mia at last.",
                "You called her. What made it possible today?",
            ),
            (
                "I just did it before lunch, before I could think. She laughed. We run on Saturday.",
                "Before you could think. What would you put down before you sleep?",
            ),
        ),
        text="That I didn't run. I'm tired, but content. I think that's it.",
        seed=seed_evening,
    ),
    "danger": Scene(
        at=TUESDAY + timedelta(hours=15),
        said=(("I can't sleep.", "I'm here. What is keeping you awake tonight?"),),
        text="Everything. They'd all be better off without me. I don't want to live any more.",
        seed=seed_danger,
    ),
    "german": Scene(
        at=TUESDAY.replace(hour=18),
        text="Hallo. Ich drehe mich im Kreis: Soll ich die Stelle in Leipzig annehmen oder nicht?",
        seed=seed_german,
    ),
}


async def open_scene(scene: Scene, user: User, say: Say) -> Session:
    """Return the conversation of a scene, in which everything but its last message was said.

    The first check-in follows from the day of signing up, so that is the scene's.
    """
    await in_database(User.objects.filter(pk=user.pk).update, date_joined=scene.at)
    user.date_joined = scene.at
    await in_database(scene.seed, user)
    session = await in_database(Session.unscoped.create, user=user, kind=scene.kind, started_at=scene.at)
    if scene.client:
        client = await in_database(Client.of(user.pk).get, name=scene.client)
        await in_database(SessionScope.unscoped.create, session=session, client=client)
    for words, answer in scene.said:
        await say(session, words, answer)
    return await in_database(Session.unscoped.get, id=session.id)


def _put_standing_files(user: User) -> None:
    put_file(
        user,
        "sage/context.md",
        "Jonas, 38, product manager in Leeds, two children (7 and 9). Likes to be asked, not told. "
        "Runs, when he runs, with his sister Mia.",
        updated="2026-11-08",
    )
    put_file(
        user,
        "life-map/_overview.md",
        "Work carries a lot and costs the evenings. Sleep pulls everything else down; running lifts it.",
        updated="2026-11-01",
    )
    put_file(
        user,
        "life-plan/current.md",
        "Direction: evenings that are ours.\n\nThis quarter: sleep seven hours; run with Mia twice a week; "
        "hand over one project.",
        updated="2026-10-04",
    )
    put_file(
        user,
        "life-plan/weekly.md",
        "Screens off at ten on Mon, Wed, Fri. Call Mia by Monday.",
        updated="2026-11-22",
    )
    put_file(
        user,
        "sage/patterns.md",
        "After praise at work he takes on more (2026-09-14, 2026-10-19, 2026-11-19).",
        updated="2026-11-22",
    )


def _plan(user: User, day: date, intention: str, priorities: Mapping[str, bool]) -> None:
    DayPlan.unscoped.create(
        user=user,
        date=day,
        intention=intention,
        priorities=[{"text": text, "is_done": is_done} for text, is_done in priorities.items()],
    )
