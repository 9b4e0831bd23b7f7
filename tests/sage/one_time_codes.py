"""Codes of an authenticator app, computed as RFC 6238 says and not by the library under test."""

import base64
import hashlib
import hmac
import time

PERIOD_SECONDS = 30


def code_of(secret: str, *, periods_later: int = 0) -> str:
    """Return the code that an app shows now, or so many periods later."""
    counter = int(time.time()) // PERIOD_SECONDS + periods_later
    digest = hmac.new(base64.b32decode(secret), counter.to_bytes(8, "big"), hashlib.sha1).digest()
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"
