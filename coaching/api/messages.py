"""`POST /conversations/<id>/messages`: asynchronous, because a request may wait for Sage's answer."""

import uuid
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Status
from ninja.params.functions import Header

from coaching.api.conversations import read_answer, send, wait_for
from coaching.api.keys import client_id_of
from coaching.api.requests import caller_of
from coaching.api.values import Answer, NewMessage
from sessions_app.database import in_database

MAX_WAIT = 57


async def send_message(
    request: HttpRequest,
    response: HttpResponse,
    conversation_id: uuid.UUID,
    given: NewMessage,
    prefer: str = Header("", description="`wait=30` waits that many seconds for the answer, at most 57."),
) -> Status[Answer]:
    """Send a message, which Sage answers: 202, and `Location` for what becomes of it; 200 if that is known.

    Sent again with the same `Idempotency-Key`, it is one message. While Sage waits for the person's answer or
    yes, the conversation takes no message: 409, and `page` is where they answer. In a conversation that has
    ended, it begins a new one, which the answer names.
    """
    caller = caller_of(request)
    sent = await send(request, conversation_id, given.text, client_id_of(request, caller))
    if seconds := _wait_in(prefer):
        await wait_for(caller, sent, seconds=seconds)
        response["Preference-Applied"] = f"wait={seconds}"
    answer = await in_database(read_answer, request, sent)
    place = {"conversation_id": sent.session_id, "turn_id": sent.turn_id}
    response["Location"] = request.build_absolute_uri(reverse("api:get_answer", kwargs=place))
    is_over = answer.status != "running"
    return Status(HTTPStatus.OK if is_over else HTTPStatus.ACCEPTED, answer)


def _wait_in(prefer: str) -> int:
    """Return the seconds that a `Prefer` header asks to wait, 0 without."""
    for part in prefer.replace(";", ",").split(","):
        name, _, value = part.strip().partition("=")
        digits = value.strip(' "')
        if name.strip().lower() == "wait" and digits.isascii() and digits.isdecimal():
            return min(int(digits[:4]), MAX_WAIT)
    return 0
