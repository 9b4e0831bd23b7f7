"""The program behind a request, and addresses of pages for the person behind the program."""

from typing import cast
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.urls import reverse

from coaching.models import Profile
from coaching.programs.callers import Caller


def caller_of(request: HttpRequest) -> Caller:
    """Return the program that was let in for this request."""
    return cast("Caller", request.auth)  # type: ignore[attr-defined]  # set by the interface


def profile_of(caller: Caller) -> Profile:
    """Return the profile of the program's person, made on first use. Sync ORM code."""
    profile, _made = Profile.of(caller.user_id).get_or_create()
    return profile


def zone_of(caller: Caller) -> ZoneInfo:
    return profile_of(caller).zone


def page(request: HttpRequest, name: str, *args: object, anchor: str = "") -> str:
    """Return the whole address of a page by its name."""
    return request.build_absolute_uri(reverse(name, args=args) + anchor)
