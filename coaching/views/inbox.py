"""The settings of the library: the address that takes mail, and what became of mail to it."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import success, warning
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from coaching.clock.days import local_day
from coaching.inbox.addresses import (
    SHOWN_DAYS,
    address_of,
    arrived,
    can_send,
    confirmed_address,
    renew_address,
)
from coaching.inbox.place import InboxPlace
from coaching.inbox.taking import BYTES_A_DAY, MAILS_A_DAY, most_bytes
from coaching.people.accounts import load_profile, user_id_of
from coaching.sandbox.limits import MEGABYTE
from sessions_app.errors import Refused


@login_required
@require_safe
def show_inbox(request: HttpRequest) -> HttpResponse:
    """Show the person's address, and what was taken and refused. Not found where no mail comes in."""
    place = _place()
    user_id, profile = user_id_of(request), load_profile(request)
    confirmed = confirmed_address(user_id)
    context = {
        "here": "settings",
        "zone": profile.zone,
        "address": address_of(user_id, place=place),
        "confirmed": confirmed,
        "can_send": can_send(confirmed),
        "arrived": arrived(user_id, today=local_day(timezone.now(), profile.zone)),
        "days": SHOWN_DAYS,
        "mails_a_day": MAILS_A_DAY,
        "megabytes_a_day": BYTES_A_DAY // MEGABYTE,
        "most_megabytes": most_bytes() // MEGABYTE,
        "attached_megabytes": most_bytes() // MEGABYTE * 72 // 100,  # in base64, with its lines
    }
    return render(request, "coaching/pages/settings_library.html", context)


@login_required
@require_POST
def renew(request: HttpRequest) -> HttpResponse:
    """Replace the person's address."""
    _place()
    try:
        renew_address(user_id_of(request))
    except Refused as refusal:
        warning(request, refusal.shown())
    else:
        success(request, _("This is your new address. Mail to the old one is no longer accepted."))
    return redirect("inbox")


def _place() -> InboxPlace:
    if settings.SAGE_INBOX is None:
        raise Http404
    return settings.SAGE_INBOX
