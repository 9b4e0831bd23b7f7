"""Captures from programs."""

from django.http import HttpRequest
from django.utils import timezone

from coaching.api.keys import client_id_of
from coaching.api.requests import caller_of, page, zone_of
from coaching.api.values import KeptCapture, NewCapture
from coaching.life.captures import keep_capture
from coaching.people.danger_scans import danger_in_now
from coaching.views.capture_cards import begin_look


def add_capture(request: HttpRequest, given: NewCapture) -> KeptCapture:
    """Add a capture to the person's inbox, with the name of the program.

    Sent again with the same `Idempotency-Key`, it is stored once.
    """
    caller = caller_of(request)
    kept = keep_capture(
        user_id=caller.user_id,
        text=given.text,
        client_id=client_id_of(request, caller),
        now=timezone.now(),
        timezone=zone_of(caller),
        danger=danger_in_now(given.text, user_id=caller.user_id),
        program=caller.name,
    )
    begin_look(caller.user_id)
    return KeptCapture(id=kept.pk, captured_at=kept.captured_at, page=page(request, "captures"))
