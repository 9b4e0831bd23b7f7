"""Next steps of the people in `docs/requests/`, kept and resolved as the product does it."""

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any

import time_machine
from django.contrib.auth.models import User
from django.core.management.color import no_style
from django.db import connection

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.library.resolutions import Resolution, resolve
from coaching.models import ActionItem, Client, MadeBy
from sessions_app.models import Session

OVERDUE = (
    "Return the ladder", "Book the boiler service", "Renew the passport", "Write to Aunt Ruth",
    "Sort the photos", "Cancel the gym", "Ask for the school report", "Mend the shed door",
    "Read the pension letter", "Send Tom the book", "Clear the hall", "Order new running shoes",
)  # fmt: skip
SOME_DAY = (
    "Learn the chords", "Sort the garage", "Try the climbing hall", "Plan a week by the sea", "Write a will",
    "Fix the bike", "Print a family album", "Look at the loan", "Frame the map", "Cook through one book",
    "Ask Dad about the allotment", "Sell the camera", "Paint the kitchen", "Read the Russians",
    "Visit Sam in York", "Build a bird box", "Back up the laptop", "Learn to say no to Friday meetings",
)  # fmt: skip


def keep_step(
    user: User, title: str, *, at: datetime, session: Session | None = None, number: int = 1, **values: Any
) -> ActionItem:
    """Keep a step as its tool would, at a moment, from what was said in a message of a session.

    The first one of a test has id 1, because the sequence moves with other tests, and longer ids take more
    tokens.
    """
    if not ActionItem.unscoped.exists():
        _restart_ids()
    # An own client gets an id of its own when it is first needed.
    client = values.pop("client", None)
    client_id = client.pk if isinstance(client, Client) else own_client(user.pk).pk
    new = NewAction(client_id=client_id, title=title, **values)
    if session:
        new = replace(new, session_id=session.id, message_number=number)
    with time_machine.travel(at, tick=False):
        return propose(user_id=user.pk, new=new, made_by=MadeBy.CHAT, is_accepted=True)


def close_step(user: User, step: ActionItem, *, at: datetime, outcome: str) -> None:
    resolution = Resolution(becomes="done", today=at.date(), now=at, outcome=outcome, quote=outcome)
    with time_machine.travel(at, tick=False):
        resolve(user_id=user.pk, step_id=step.pk, resolution=resolution)


def keep_forty_steps(user: User, said_in: Session, *, now: datetime) -> None:
    """Keep forty open steps: a dozen long overdue, some of these days, and the rest without a date."""
    today, sunday = now.date(), now - timedelta(days=2)

    def said(title: str, quote: str, due: date | None, number: int, **more: object) -> ActionItem:
        return keep_step(
            user, title, at=sunday, session=said_in, number=number, quote=quote, due_date=due, **more
        )

    offer = said("Send the offer", "I'll send the offer tomorrow.", today - timedelta(days=1), 1)
    close_step(user, offer, at=now - timedelta(hours=19), outcome="Sent it before lunch, at last.")
    said("Call Mia", "I'll call Mia by Monday.", today - timedelta(days=1), 1)
    said("Take the X-rays along", "I'll take the X-rays to the dentist.", today, 3, due_time=time(15, 30))
    said("Answer Priya about the project", "On Tuesday I'll tell Priya yes or no.", today, 3)
    said("Screens off at ten", "Screens off at ten on Wednesday.", today + timedelta(days=1), 3)
    said("Hand the survey to Lena", "On Friday I'll hand the survey to Lena.", today + timedelta(days=3), 5)
    said("Talk with Ben about his maths", "I'll talk with Ben on Sunday.", today + timedelta(days=5), 5)
    for age, title in enumerate(OVERDUE):
        due = today - timedelta(days=12 + 5 * age)
        keep_step(user, title, at=now - timedelta(days=80), due_date=due)
    for age, title in enumerate(SOME_DAY):
        keep_step(user, title, at=now - timedelta(days=60 - 2 * age))
    for weeks, title in enumerate(("Tax return", "MOT for the car", "Parents' evening", "New insurance"), 3):
        keep_step(user, title, at=now - timedelta(days=20), due_date=today + timedelta(weeks=weeks))


def _restart_ids() -> None:
    sequences = [{"table": ActionItem._meta.db_table, "column": "id"}]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_by_name_sql(no_style(), sequences):
            cursor.execute(statement)
