"""The devices that show a person's notifications: added by a page's script, removed by a form."""

import re
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST

from coaching.people.accounts import user_id_of
from coaching.reminders.devices import (
    add_device,
    attempts,
    check_reachable,
    remove_address,
    remove_device,
)
from coaching.views.forms import PushDeviceForm
from coaching.views.parts import back_to, or_404, status_of, with_wait
from sessions_app.database import in_database
from sessions_app.errors import Refused

# The first that is found: most browsers also claim to be another.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "Mac"),
    ("CrOS", "Chromebook"),
    ("Linux", "Linux"),
)


@login_required
@require_POST
async def devices(request: HttpRequest) -> HttpResponse:
    """Store or forget the address of the browser that sends this."""
    form = PushDeviceForm(request.POST)
    user_id = user_id_of(request)
    try:
        if not form.is_valid():
            raise Refused(gettext_noop("Sage couldn’t read that. Please try again."))
        given = form.cleaned_data
        if given["do"] == "forget":
            await in_database(remove_address, user_id=user_id, endpoint=given["endpoint"])
        else:
            attempts.count(user_id)
            name = _device_name(request.headers.get("User-Agent", ""))
            keys = {"p256dh": given["p256dh"], "auth": given["auth"]}
            await check_reachable(given["endpoint"])
            await in_database(add_device, user_id=user_id, endpoint=given["endpoint"], name=name, **keys)
    except Refused as refusal:
        answer = JsonResponse({"error": refusal.shown()}, status=status_of(refusal))
        return with_wait(answer, refusal)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@login_required
@require_POST
def forget(request: HttpRequest, device_id: int) -> HttpResponse:
    with or_404():
        remove_device(user_id=user_id_of(request), device_id=device_id)
    success(request, _("That device no longer gets notifications."))
    return back_to("reminders", "#devices")


def _device_name(agent: str) -> str:
    """Return the browser and the system that a browser says it is, as far as they are known."""
    browser, system = (
        next((name for part, name in known if re.search(rf"\b{part}", agent)), "")
        for known in (BROWSERS, SYSTEMS)
    )
    return ", ".join(filter(None, (browser, system)))
