"""Routes for programs ignore cookies, and refuse what programs send too much before Django.

The cookies are dropped before anything reads them, so these requests are counted and answered like those of
a client that never signed in: a page of another site can't use a person's sign-in there.
"""

import json
import math
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import override

from coaching.people.attempts import TooOften
from coaching.people.languages import browser_language
from coaching.programs.early_counts import early_counts
from coaching.views.programs import is_for_programs
from sage.clients import client_address
from sage.http_requests import Refusal, Sender
from sage.middleware import Steps, middleware


def refused_early(sender: Sender) -> Refusal | None:
    """Count a request; return its refusal, in its language, if it is one too many."""
    one_too_many = early_counts.count(sender.authorization, _address_of(sender))
    if not one_too_many:
        return None
    seconds = math.ceil(one_too_many.wait)
    body = _body(seconds, browser_language(sender.accepted) if sender.accepted else settings.LANGUAGE_CODE)
    return Refusal(seconds=seconds, body=body, delay=one_too_many.delay, by=one_too_many.by)


@lru_cache(maxsize=1_000)
def _body(seconds: int, language: str) -> bytes:
    with override(language):
        return json.dumps({"error": TooOften(seconds).shown()}).encode()


def count_unknown(sender: Sender) -> None:
    """Count a request whose token doesn't hold. One without any has cost no query."""
    if sender.authorization:
        early_counts.count_unknown(_address_of(sender))


def _address_of(sender: Sender) -> str:
    return client_address(sender.forwarded, sender.peer)


@middleware
def without_cookies(request: HttpRequest) -> Steps:
    """Drop the cookies of requests to programs' routes."""
    if is_for_programs(request):
        request.META.pop("HTTP_COOKIE", None)
        request.COOKIES = {}
    return (yield)
