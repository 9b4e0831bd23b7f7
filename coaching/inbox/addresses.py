"""A person's address for mail to their library, and what became of mail to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from allauth.account.models import EmailAddress

from coaching.inbox.place import InboxPlace
from coaching.models import InboxAddress, InboxMail, InboxRefusal, InboxWaiting
from coaching.models.inbox import new_token
from coaching.people.attempts import AttemptLimit

SHOWN_MAILS = 20
SHOWN_DAYS = 30

renewals = AttemptLimit(attempts=10, seconds=600.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """What became of a person's mail: `taken` are the newest of `taken_count`."""

    taken: Sequence[InboxMail]
    taken_count: int
    refused: Sequence[InboxRefusal]
    waiting: int
    waits_until: datetime | None


def address_of(user_id: int, *, place: InboxPlace) -> str:
    """Return a person's address, made on first use."""
    address, _ = InboxAddress.of(user_id).get_or_create(user_id=user_id)
    return place.address_of(address.token)


def renew_address(user_id: int) -> None:
    """Replace a person's address; mail to the old one is refused from now on. Raises `TooOften`."""
    renewals.count(user_id)
    InboxAddress.of(user_id).update_or_create(user_id=user_id, defaults={"token": new_token()})


def confirmed_address(user_id: int) -> str:
    """Return the address that a person's mail is taken from; empty without a confirmed one."""
    confirmed = EmailAddress.objects.filter(user_id=user_id, verified=True).order_by("-primary", "pk")
    return confirmed.values_list("email", flat=True).first() or ""


def can_send(confirmed: str) -> bool:
    """Whether mail can come from a confirmed address: only senders in ASCII are compared."""
    return bool(confirmed) and confirmed.isascii()


def arrived(user_id: int, *, today: date) -> Arrived:
    """Return what became of a person's mail lately."""
    mails = InboxMail.of(user_id)
    waiting = InboxWaiting.of(user_id)
    return Arrived(
        taken=list(mails.select_related("document")[:SHOWN_MAILS]),
        taken_count=mails.count(),
        refused=list(InboxRefusal.of(user_id).filter(day__gt=today - timedelta(days=SHOWN_DAYS))),
        waiting=waiting.count(),
        waits_until=waiting.order_by("due_at").values_list("due_at", flat=True).first(),
    )
