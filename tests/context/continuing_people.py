"""Five people who have talked with Sage before, and what each writes next: more of `docs/requests/`."""

from collections.abc import Mapping
from datetime import date, timedelta

from django.contrib.auth.models import User

from coaching.models import Client, ClientType, Import, ImportFormat, PulseRating, SessionScope
from coaching.people.profile_changes import offer_library
from sessions_app.import_metadata import IMPORT_KEY
from sessions_app.models import Session, SessionBrief, SessionKind, SessionStatus
from tests.context.conftest import put_file
from tests.context.five_people import TUESDAY, Scene, profile_of, seed_a_week
from tests.context.kept_steps import keep_step
from tests.recall.history import talk


def seed_day_two(user: User) -> None:
    """Somebody whose first conversation, yesterday evening, has no summary yet."""
    profile_of(user, "Maya", "Europe/London")
    session = _talked(
        user,
        "Hi. A friend said I should try this. What is it?",
        "A coach to think things through with. What matters most to you at the moment?",
        "My mother moves in with us in January, and I haven't told the children.",
        "What makes it hard to tell them?",
        "I don't know how they'll take it. I'll tell them on Sunday, at lunch.",
        "On Sunday at lunch, then.",
        hours_ago=17,
    )
    keep_step(
        user,
        "Tell the children about their grandmother",
        at=TUESDAY - timedelta(hours=17),
        session=session,
        number=5,
        quote="I'll tell them on Sunday, at lunch.",
        due_date=date(2026, 11, 29),
    )


def seed_three_conversations(user: User) -> None:
    """Somebody who talked three times last week, about one thing and another."""
    profile_of(user, "Tom", "Europe/Berlin")
    words = "Tom, 44, teacher in Kassel, married to Ines, one daughter (Lea, 12)."
    put_file(user, "sage/context.md", words, updated="2026-11-18")
    _summarised(
        user,
        "Ines wants to live apart for a while. You don't want to decide anything before the two of you see "
        "the counsellor on Thursday 2026-11-26. What weighs most is what to tell your daughter Lea.",
        hours_ago=6 * 24,
        left_open="You see the counsellor together on Thursday 2026-11-26, and want to have written down "
        "beforehand what to tell Lea",
    )
    _summarised(
        user,
        "You closed a long day at school. The parents' evening went better than you had feared.",
        hours_ago=5 * 24,
        kind=SessionKind.CLOSE_DAY,
        status=SessionStatus.COMPLETED,
        ended_at=TUESDAY - timedelta(hours=5 * 24),
    )
    session = _summarised(
        user,
        "You slept in the study and couldn't stop going over the quarrel with Ines on Thursday 2026-11-19. "
        "You noticed that you went quiet as your father did. On Saturday 2026-11-28 you will ask Ines for a "
        "walk.",
        hours_ago=3 * 24,
        left_open="On Saturday 2026-11-28 you will ask Ines for a walk",
    )
    keep_step(
        user,
        "Ask Ines for a walk",
        at=TUESDAY - timedelta(days=3),
        session=session,
        number=5,
        quote="I'll ask Ines for a walk next Saturday.",
        due_date=date(2026, 11, 28),
    )


def seed_taps(user: User) -> None:
    """Somebody who answers by taps and ratings more than in words."""
    profile_of(user, "Nadia", "America/New_York")
    for rating, hours_ago in ((3, 9 * 24), (2, 26)):
        rated_at = TUESDAY - timedelta(hours=hours_ago)
        PulseRating.unscoped.create(user=user, domain="health", rating=rating, rated_at=rated_at)
    session = _summarised(
        user,
        "You rated your health 2, down from 3, and noted: “The nights decide it all.” Of three ideas you "
        "chose screens off at ten, without a reminder.",
        hours_ago=26,
        left_open="You chose “Screens off at ten” and wanted to see how the week would go",
    )
    SessionBrief.unscoped.filter(session=session).update(
        left_open="You chose “Screens off at ten” and wanted to see how the week would go [4]",
        text="- You rated health 2 (3 before): “The nights decide it all.” [2]\n"
        "- You chose “Screens off at ten” and wanted to see how the week would go [4]\n"
        "- You said no to a reminder for it [6]",
    )


def seed_imported(user: User) -> None:
    """Somebody who has brought what they wrote to another program, and hasn't said anything here yet."""
    profile_of(user, "Luca", "Europe/Rome")
    made = Import.of(user.pk).create(file_name="export.zip", file_format=ImportFormat.CHATGPT)
    for words, last, weeks in (
        ("How do I tell my boss that I want to leave?", "I'll wait until the bonus is paid in March.", 7),
        ("Make me a running plan for ten kilometres.", "Three runs a week is too much. Make it two.", 12),
    ):
        session = _talked(user, words, "Here is how.", last, "All right.", hours_ago=weeks * 7 * 24)
        Session.unscoped.filter(id=session.id).update(
            imported_until=session.last_message_number, metadata={IMPORT_KEY: made.pk}
        )


def seed_client(user: User) -> None:
    """Somebody who coaches others, in a conversation that was opened from one of them."""
    profile_of(user, "Elena", "Europe/Madrid")
    offer_library(user.pk)
    # Fixed ids, because the sequence moves with other tests, and longer ids count more tokens.
    clients = [
        Client.of(user.pk).create(id=number, name=name, client_type=ClientType.PERSON)
        for number, name in enumerate(("Bruno", "Carla"), start=1)
    ]
    bruno = (
        "Bruno wants to lead the team and is afraid of the numbers. You meant to ask him on Tuesday "
        "2026-11-24 what a month of them would look like."
    )
    for client, summary in zip(clients, (bruno, "Carla is on leave until December."), strict=True):
        session = _summarised(user, summary, hours_ago=50)
        SessionScope.unscoped.create(session=session, client=client)
        if client.name == "Bruno":
            keep_step(
                user,
                "Ask Bruno what a month of the numbers would look like",
                at=TUESDAY - timedelta(hours=50),
                session=session,
                number=5,
                client=client,
                quote="On Tuesday I'll ask him what a month of them would look like.",
                due_date=TUESDAY.date(),
            )
    _summarised(user, "You were tired after four sessions and want Fridays free from December.", hours_ago=20)


CONTINUING: Mapping[str, Scene] = {
    "day-two": Scene(at=TUESDAY, text="Good morning.", seed=seed_day_two),
    "three-conversations": Scene(at=TUESDAY, text="Hi. I'm back.", seed=seed_three_conversations),
    "taps": Scene(at=TUESDAY + timedelta(hours=6), text="Morning. Seven hours!", seed=seed_taps),
    "imported": Scene(at=TUESDAY, text="Ciao. Can we talk about work?", seed=seed_imported),
    "client": Scene(
        at=TUESDAY, text="I see Bruno at eleven. Where were we?", seed=seed_client, client="Bruno"
    ),
    "compact": Scene(
        at=TUESDAY,
        text="Morning. I slept badly again.",
        seed=seed_a_week,
        kind=SessionKind.OPEN_DAY,
        context_tokens=8_192,
    ),
}


def _talked(user: User, *texts: str, hours_ago: int, **fields: object) -> Session:
    at = TUESDAY - timedelta(hours=hours_ago)
    session = talk(user, *texts, at=at)
    Session.unscoped.filter(id=session.id).update(started_at=at, last_active_at=at, **fields)
    return session


def _summarised(
    user: User, summary: str, *, hours_ago: int, left_open: str = "", **fields: object
) -> Session:
    """Let a session have taken place that has a summary, and perhaps a brief with an open line."""
    session = _talked(
        user, "I have something.", "Yes?", "It's this.", "I see.", "Thanks.", "Of course.",
        hours_ago=hours_ago, summary=summary, summary_covers=6, **fields,
    )  # fmt: skip
    if left_open:
        SessionBrief.unscoped.create(
            session=session, version=1, text=f"- {left_open} [5]", left_open=f"{left_open} [5]",
            covers_from=1, covers_until=6, input_version=1,
        )  # fmt: skip
    return session
