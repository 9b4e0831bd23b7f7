"""`Idempotency-Key`: the same key of a program with the same body twice is one request."""

from hashlib import sha256

from django.http import HttpRequest
from django.utils.translation import gettext_noop

from coaching.programs.callers import Caller
from sessions_app.errors import Refused

HEADER = "Idempotency-Key"
MAX_CHARACTERS = 200


def client_id_of(request: HttpRequest, caller: Caller) -> str | None:
    """Return the id under which a request is stored, None without a key. Raises `Refused`.

    It is never one of a browser's or another program's: those are kept apart by the hash. So are other bodies
    with the same key: answered as the first one, they would be lost.
    """
    key = request.headers.get(HEADER, "")
    if not key:
        return None
    if len(key) > MAX_CHARACTERS or not key.isascii() or not key.isprintable():
        raise Refused(
            gettext_noop("An Idempotency-Key can have 1 to %(most)s printable ASCII characters."),
            most=MAX_CHARACTERS,
        )
    request_digest = sha256(f"{caller.key} {key}\n".encode() + request.body)
    return f"program-{request_digest.hexdigest()}"
