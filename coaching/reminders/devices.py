"""The browsers that show a person's notifications, and what is sent to them."""

import asyncio
import json
from base64 import urlsafe_b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_noop

from coaching.calendar.addresses import checked_address, is_public
from coaching.calendar.connection_rule import ConnectionRule, ForbiddenAddressError
from coaching.models import PushDevice, SentReminder
from coaching.people.attempts import AttemptLimit
from coaching.people.languages import in_language_of
from coaching.reminders.due import is_late, wanted
from coaching.reminders.steps import words_of
from sessions_app.errors import Refused

MAX_DEVICES = 10
"""For each person; one more replaces the oldest."""
MAX_FAILURES = 20
"""A browser that couldn't be reached as often in a row is forgotten."""
PUBLIC_KEY_BYTES = 65
SECRET_BYTES = 16
_INNER_DOMAINS = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""Names that only a local network knows (RFC 6761, 6762, 8375, and common practice)."""
UNUSABLE = gettext_noop("Sage can’t send notifications to this browser.")

RESOLVE_SECONDS = 5.0

attempts = AttemptLimit(attempts=20, seconds=3600)
_rule = ConnectionRule()


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """A message to a browser. `topic` names what it replaces if the browser hasn't received that yet."""

    device_id: int
    endpoint: str
    p256dh: str
    auth: str
    topic: str
    payload: str


def devices_of(user_id: int) -> Sequence[PushDevice]:
    """Return the person's devices, the oldest first."""
    return list(PushDevice.of(user_id).order_by("added_at", "id"))


async def check_reachable(endpoint: str) -> None:
    """Refuse an address that no message would be sent to. Raises `Refused`.

    A name that isn't found now may be found when a message is sent, which checks the address again.
    """
    host = checked_address(endpoint).raw_host or ""
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            await (await _rule.current()).addresses_of(host, 443)
    except ForbiddenAddressError:
        raise Refused(UNUSABLE) from None
    except (OSError, UnicodeError):
        return


@transaction.atomic
def add_device(*, user_id: int, endpoint: str, p256dh: str, auth: str, name: str) -> PushDevice:
    """Store a browser's address, which may have been another person's until now. Raises `Refused`."""
    _check(endpoint, p256dh, auth)
    PushDevice.unscoped.filter(endpoint=endpoint).exclude(user_id=user_id).delete()
    keys = {"p256dh": p256dh, "auth": auth, "name": name[:60], "failures": 0}
    device, _is_new = PushDevice.of(user_id).update_or_create(endpoint=endpoint, defaults=keys)
    others = PushDevice.of(user_id).exclude(pk=device.pk).order_by("-added_at", "-id")
    PushDevice.of(user_id).filter(pk__in=[other.pk for other in others[MAX_DEVICES - 1 :]]).delete()
    return device


def remove_device(*, user_id: int, device_id: int) -> None:
    """Forget one of the person's devices. Raises `PushDevice.DoesNotExist`."""
    PushDevice.of(user_id).get(pk=device_id).delete()


def remove_address(*, user_id: int, endpoint: str) -> None:
    """Forget the browser that sends this, if it is one of the person's."""
    PushDevice.of(user_id).filter(endpoint=endpoint).delete()


def read_push(*, device_id: int, kind: str, day: date, now: datetime, at: time | None = None) -> Push | None:
    """Return what to send; None if it came too late or isn't wanted any more. `at` is the time of steps."""
    device = PushDevice.unscoped.filter(pk=device_id).first()
    if device is None:
        return None
    sent = SentReminder.of(device.user_id).filter(kind=kind, day=day, at=at).first()
    if sent is None or is_late(sent, now):
        return None
    on = wanted(kind, day, at=at, due_at=sent.due_at).filter(user_id=device.user_id, by_push=True)
    reminder = on.select_related("user__profile").first()
    if reminder is None:
        return None
    name = f"{kind}-{at:%H%M}" if at else kind
    with in_language_of(reminder.user):
        words = words_of(reminder, sent, now=now)
        payload = {"kind": kind, "name": name, "title": str(words.title), "text": str(words.text)}
    return Push(
        device_id=device.pk,
        endpoint=device.endpoint,
        p256dh=device.p256dh,
        auth=device.auth,
        topic=f"sage-{name}",
        payload=json.dumps(payload),
    )


def forget_device(device_id: int) -> None:
    """Forget a browser whose push service no longer knows it."""
    PushDevice.unscoped.filter(pk=device_id).delete()


def note_reached(device_id: int) -> None:
    """Start counting failures anew."""
    PushDevice.unscoped.filter(pk=device_id, failures__gt=0).update(failures=0)


def note_failure(device_id: int) -> None:
    """Count a failure, and forget the browser after too many of them."""
    PushDevice.unscoped.filter(pk=device_id).update(failures=F("failures") + 1)
    PushDevice.unscoped.filter(pk=device_id, failures__gte=MAX_FAILURES).delete()


def _check(endpoint: str, p256dh: str, auth: str) -> None:
    url = checked_address(endpoint)
    is_plain = url.scheme == "https" and endpoint.startswith("https://") and endpoint.isascii()
    if not is_plain or url.explicit_port is not None or _is_inside(url.raw_host or ""):
        raise Refused(UNUSABLE)
    if _length(p256dh) != PUBLIC_KEY_BYTES or _length(auth) != SECRET_BYTES:
        raise Refused(UNUSABLE)


def _is_inside(host: str) -> bool:
    if _is_number(host):
        return not is_public(host)
    name = host.rstrip(".").lower()
    return "." not in name or name.endswith(_INNER_DOMAINS)


def _is_number(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


def _length(text: str) -> int:
    try:
        return len(urlsafe_b64decode(f"{text}{'=' * (-len(text) % 4)}")) if len(text) <= 100 else 0
    except ValueError:
        return 0
