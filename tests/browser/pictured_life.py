"""Somebody's life for pictures: a map, three weeks of days, conversations, and a file of two versions."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from coaching.models import DayPlan, FileType, LifeDomain, Profile, PulseRating, TimezoneSource
from coaching.models.life import DomainStatus
from sessions_app.models import Session, SessionKind

KeepFile = Callable[..., object]

DOMAINS = {
    LifeDomain.CAREER: (DomainStatus.OKAY, 3, 3, "The work is good, the hours aren’t."),
    LifeDomain.RELATIONSHIPS: (DomainStatus.GOOD, 3, 4, "Ines and the choir; Mum every Sunday."),
    LifeDomain.HEALTH: (DomainStatus.NEEDS_ATTENTION, 2, 3, "Too little sleep, more running."),
    LifeDomain.FINANCES: (DomainStatus.OKAY, 3, 3, "Enough, and no plan for it yet."),
    LifeDomain.LEARNING: (DomainStatus.GOOD, 4, 4, "Spanish, a little every morning."),
    LifeDomain.CREATIVITY: (DomainStatus.THRIVING, 3, 5, "The piano is open again."),
    LifeDomain.PLAY: (DomainStatus.NEEDS_ATTENTION, 1, 2, "Nothing planned without a reason."),
    LifeDomain.MEANING: (DomainStatus.GOOD, 4, 4, "Being useful to somebody, weekly."),
}
DAYS = (
    ("calm", "good", "Finish early, then the piano", "Left at five and played for an hour."),
    ("tense", "low", "One thing at a time", "Two meetings too many, but I said no to the third."),
    ("content", "okay", "Call Mum before noon", "The call did both of us good."),
    ("good", "high", "Run before breakfast", "Ran along the river in the fog."),
    ("tired", "very low", "Only what has to be", "Slept badly. The report went out all the same."),
    ("happy", "good", "Cook something new", "Ines stayed for dinner."),
)
TITLES = (
    ("Saying no to the third meeting", SessionKind.OPEN_CONVERSATION, 0),
    ("A quieter Sunday", SessionKind.OPEN_CONVERSATION, 1),
    ("What the piano is for", SessionKind.OPEN_CONVERSATION, 2),
    ("Weekly check-in", SessionKind.WEEKLY_CHECKIN, 4),
    ("Asking for Thursdays off", SessionKind.OPEN_CONVERSATION, 9),
    ("Mapping my life", SessionKind.LIFE_MAPPING, 20),
)
OVERVIEW = """\
Most of it works, and sleep decides how the rest feels.

- [x] Put the piano back into the living room
- [ ] Ask about Thursdays
- [ ] Plan one thing a month that is only for fun
"""


def live(user: User, keep_file: KeepFile) -> None:
    """Store it all, up to today."""
    now = timezone.now()
    Profile.unscoped.create(
        user=user,
        name="Noor",
        timezone="Europe/Berlin",
        timezone_source=TimezoneSource.USER,
        country="DE",
    )
    _map(user, keep_file, now)
    _days(user, keep_file, now)
    for plan in DayPlan.of(user.pk):
        done = 1 if plan.date == now.date() else 1 + plan.date.toordinal() % 3
        plan.priorities = [each | {"is_done": place < done} for place, each in enumerate(plan.priorities)]
        plan.save()
    # Saved check-ins move it.
    Profile.of(user.pk).update(next_checkin_on=now.date() + timedelta(days=3))
    for title, kind, days in TITLES:
        Session.of(user.pk).create(
            title=title,
            kind=kind,
            last_message_number=8,
            started_at=now - timedelta(days=days, minutes=40),
            last_active_at=now - timedelta(days=days, minutes=5),
            pinned_at=now if days == 9 else None,
        )


def _map(user: User, keep_file: KeepFile, now: datetime) -> None:
    for domain, (status, first, latest, line) in DOMAINS.items():
        keep_file(
            user, FileType.DOMAIN, line, name=domain.value, status=status.value, preview_line=line, now=now
        )
        steps = (first, first, (first + latest) // 2, latest)
        for weeks, rating in zip((8, 5, 3, 1), steps, strict=True):
            PulseRating.of(user.pk).create(
                user=user, domain=domain, rating=rating, rated_at=now - timedelta(weeks=weeks)
            )
    keep_file(user, FileType.OVERVIEW, OVERVIEW, now=now - timedelta(days=12))
    better = OVERVIEW.replace("decides how the rest feels", "decides the rest").replace("[ ] Ask", "[x] Ask")
    keep_file(user, FileType.OVERVIEW, f"{better}- [ ] A tuner for the piano\n", now=now)
    keep_file(user, FileType.LIFE_PLAN, "A year with fewer evenings at work.", now=now)


def _days(user: User, keep_file: KeepFile, now: datetime) -> None:
    for number in range(1, 24):
        day = now.date() - timedelta(days=number)
        mood, energy, intention, words = DAYS[number % len(DAYS)]
        if number % 7 != 3:
            _plan(user, keep_file, day, intention)
        if number % 5 != 4:
            keep_file(
                user,
                FileType.DAILY_LOG,
                words,
                name=day.isoformat(),
                mood_signal=mood,
                energy=energy,
                preview_line=words,
                now=_at(now, day, 21),
            )
        if number % 7 == 1:
            keep_file(
                user,
                FileType.CHECK_IN,
                "A week of early mornings. What helped was leaving on time twice.",
                name=day.isoformat(),
                themes=["leaving on time", "sleep"],
                now=_at(now, day, 19),
            )
    _plan(user, keep_file, now.date(), "Leave at five, whatever happens")
    keep_file(user, FileType.CAPTURE, "Ask Ines for the name of her piano tuner", now=now)


def _plan(user: User, keep_file: KeepFile, day: date, intention: str) -> None:
    keep_file(
        user,
        FileType.DAY_PLAN,
        intention,
        intention=intention,
        priorities=["Finish the report", "Twenty minutes of piano", "Call Mum"],
        now=_at(timezone.now(), day, 8),
    )


def _at(now: datetime, day: date, hour: int) -> datetime:
    return datetime.combine(day, time(hour), now.tzinfo)
