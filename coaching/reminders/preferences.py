"""A person's choice of reminders, and the links that switch one off without signing in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time

from django.core import signing
from django.db import transaction

from coaching.models import Profile, Reminder, ReminderKind
from sessions_app.errors import Refused

USUAL_TIMES: Mapping[str, time] = {
    ReminderKind.DAY: time(8),
    ReminderKind.EVENING: time(21),
    ReminderKind.CHECK_IN: time(17),
    ReminderKind.STEPS: time(8),
}
_SALT = "coaching.reminders.off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """When and how a person is reminded; by neither way, they aren't. `with_words`: it quotes what is due."""

    at: time
    by_push: bool = False
    by_mail: bool = False
    with_words: bool = False


def read_choices(user_id: int) -> Mapping[str, Choice]:
    found = {reminder.kind: reminder for reminder in Reminder.of(user_id)}
    return {
        kind: _choice(row) if (row := found.get(kind)) else Choice(at=USUAL_TIMES[kind])
        for kind in ReminderKind.values
    }


def is_reminded_of_steps(user_id: int) -> bool:
    """Say whether a person wants to be reminded of their next steps."""
    return any(reminder.is_on for reminder in Reminder.of(user_id).filter(kind=ReminderKind.STEPS))


@transaction.atomic
def choose_reminders(*, user_id: int, choices: Mapping[str, Choice], origin: str, now: datetime) -> None:
    """Store a person's choices. What was due before a change isn't sent any more."""
    Profile.of(user_id).select_for_update().first()  # one form of the person after the other
    stored = {row.kind: row for row in Reminder.of(user_id).select_for_update()}
    for kind, choice in choices.items():
        row = stored.get(kind)
        if row is not None and _choice(row) == choice and row.origin == origin:
            continue
        if row is None:
            row = Reminder(user_id=user_id, kind=kind, changed_at=now)
        if row.at != choice.at or not row.is_on:
            row.changed_at = now
        row.at, row.by_push, row.by_mail, row.origin = choice.at, choice.by_push, choice.by_mail, origin
        row.with_words = choice.with_words
        row.save()


def off_token(*, user_id: int, kind: str) -> str:
    """Return what a link needs to switch a kind off. It doesn't expire, as mails are kept for years."""
    return signing.Signer(salt=_SALT).sign_object([user_id, kind])


def read_off_token(token: str) -> tuple[int, str]:
    """Return the user's id and the kind. Raises `Refused` for anything that isn't of ours."""
    try:
        user_id, kind = signing.Signer(salt=_SALT).unsign_object(token)
    except signing.BadSignature:
        raise Refused("The link is incomplete.") from None
    return int(user_id), str(kind)


def switch_off(*, user_id: int, kind: str) -> None:
    """Switch a kind off, by push and by mail; nothing happens if it is, or if the person is gone."""
    Reminder.of(user_id).filter(kind=kind).update(by_push=False, by_mail=False)


def _choice(row: Reminder) -> Choice:
    return Choice(at=row.at, by_push=row.by_push, by_mail=row.by_mail, with_words=row.with_words)
