"""`/leave/`: names the host that a link of a rendered text leads to, with a button that goes there."""

from http import HTTPStatus
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_required
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from coaching.sandbox.leaving import target_of


@login_required
@require_safe
def leave(request: HttpRequest) -> HttpResponse:
    """Show where the link in `?to=` leads. Nothing but a click on the page goes there."""
    context: dict[str, object] = {"back": _page_before(request)}
    try:
        address = target_of(request.GET.get("to", ""))
    except BadSignature:
        return render(request, "coaching/pages/leave.html", context, status=HTTPStatus.BAD_REQUEST)
    parts = urlsplit(address)
    is_mail = parts.scheme == "mailto"
    host = parts.path if is_mail else parts.netloc.lower()
    before, _, after = address.partition(":" if is_mail else "//")
    context |= {
        "address": address,
        "host": host,
        "host_in_letters": _in_letters(parts.hostname or ""),
        "before": before + (":" if is_mail else "//"),
        "after": after[len(host) :],
        "is_mail": is_mail,
        "is_open": parts.scheme == "http",
    }
    response = render(request, "coaching/pages/leave.html", context)
    response["Referrer-Policy"] = "no-referrer"
    return response


def _page_before(request: HttpRequest) -> str:
    """Return the page of ours whose link was followed, otherwise the home page."""
    before = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(before, {request.get_host()}, require_https=request.is_secure()):
        return reverse("home")
    parts = urlsplit(before)
    back = parts.path + (f"?{parts.query}" if parts.query else "")
    # A path that begins with two slashes would be a link to another host.
    return back if url_has_allowed_host_and_scheme(back, None) else reverse("home")


def _in_letters(host: str) -> str:
    """Return a host with the letters that its ASCII form stands for; empty if there are none."""
    try:
        letters = host.encode("ascii").decode("idna")
    except UnicodeError:
        return ""
    return "" if letters == host else letters
