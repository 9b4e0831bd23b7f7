"""The choice of a letter a month, which Home asks for once and the settings change."""

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from coaching.letters.choice import switch_letters
from coaching.people.accounts import user_id_of
from coaching.views.forms import LettersForm
from coaching.views.parts import back_to


@login_required
@require_POST
def letters(request: HttpRequest) -> HttpResponse:
    """Switch letters on or off."""
    form = LettersForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(_("Choose whether you want letters."), content_type="text/plain")
    is_on = form.cleaned_data["wanted"] == "1"
    switch_letters(user_id=user_id_of(request), is_on=is_on, now=timezone.now())
    success(
        request,
        _(
            "Sage will write to you at the beginning of each month. You’ll find the letters on Home and "
            "in Files."
        )
        if is_on
        else _("Sage won’t write letters. You can switch them on in the settings."),
    )
    return back_to("home") if form.cleaned_data["then"] == "home" else back_to("settings", "#letters")
