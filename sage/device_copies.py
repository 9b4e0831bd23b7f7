"""Erases what a browser keeps for reading offline where its person signs out or another account is signed in.

Signing out, an account's end and another person's sign-in are requests themselves. The header empties all of
Sage's storage in that browser, in every open tab: its service worker, notifications and the chosen colour
scheme, too. So it isn't sent where a session has ended by itself: unsent words stay for the same person, and
scripts erase the copy alone (`static/js/device-copy.js`). A browser without the cookie costs nothing.
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

from coaching.people.device_copies import begin_copy, end_copy, has_copy, has_copy_of
from sage.logs import UNLOGGED_PATHS
from sage.middleware import Steps, middleware


@middleware
def copies_of_others_erased(request: HttpRequest) -> Steps:
    """Have the browser erase a copy at sign-out and for another account. The user must be loaded already."""
    before = _user_id_of(request)
    response = yield
    return _erasing(request, response, before)


def _user_id_of(request: HttpRequest) -> int | None:
    # Monitoring loads no user.
    if not has_copy(request) or request.path_info in UNLOGGED_PATHS:
        return None
    return request.user.pk


def _erasing(request: HttpRequest, response: HttpResponseBase, before: int | None) -> HttpResponseBase:
    after = _user_id_of(request)
    if after is not None and has_copy_of(request, after):
        if before is None:
            begin_copy(response, user_id=after)  # the choice holds for as long as its person signs in
        return response
    # Whoever signs out on a page from before the session's end means it.
    is_sign_out = request.method == "POST" and request.path_info == reverse("account_logout")
    is_unchanged = before is None and after is None and not is_sign_out
    if has_copy(request) and not is_unchanged:
        response["Clear-Site-Data"] = '"storage"'
        end_copy(response)
    return response
