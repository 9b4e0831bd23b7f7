"""Settings → Model: the model's name for everybody, and for operators what its server says and does."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from coaching.model_client.context_size import context_tokens_of, is_compact
from coaching.model_client.pace import Pace, pace_of
from coaching.model_client.places import PlacesNow, places_now
from coaching.model_client.servers import known_server, model_server
from coaching.people.accounts import load_profile

_PURPOSES = {
    "SAGE_MODEL": gettext_lazy("Conversations"),
    "SAGE_BRIEF_MODEL": gettext_lazy("Remembering long conversations"),
    "SAGE_CLASSIFY_MODEL": gettext_lazy("Filing documents"),
    "SAGE_CRITIC_MODEL": gettext_lazy("Checking documents"),
    "SAGE_SAFETY_MODEL": gettext_lazy("Safety checks"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A model, and the variable that names it."""

    purpose: str
    variable: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What an operator sees of the server. `address` has no user name, password or path."""

    kind: str
    address: str
    context: str
    is_compact: bool
    pace: Pace
    reads: str
    writes: str
    queue: PlacesNow | None
    models: Sequence[Used]


@login_required
@require_safe
def model(request: HttpRequest) -> HttpResponse:
    """Show the name of the model that answers; to operators, its server, too."""
    is_operator = isinstance(request.user, User) and request.user.is_staff
    context = {
        "here": "settings",
        "zone": load_profile(request).zone,
        "server": _server() if is_operator else None,
        "model": model_name(),
    }
    return render(request, "coaching/pages/settings_model.html", context)


def model_name() -> str:
    """Return the name of the model that answers, as its server says it where it was asked."""
    server = known_server()
    return server.model if server is not None and server.model else settings.SAGE_MODEL


def _server() -> Server:
    kind = model_server().kind  # waits, a few seconds at most
    name = settings.SAGE_MODEL
    pace = pace_of(name)
    return Server(
        kind=_("unknown") if kind == "other" else {"anthropic": "Anthropic"}.get(kind, kind),
        address=urlsplit(settings.ANTHROPIC_BASE_URL).netloc.rpartition("@")[2],
        context=number_format(context_tokens_of(name), force_grouping=True),
        is_compact=is_compact(name),
        pace=pace,
        reads=_written(pace.read_per_second),
        writes=_written(pace.written_per_second),
        queue=places_now(),
        models=[
            Used(purpose=str(purpose), variable=variable, model=getattr(settings, variable) or _("none"))
            for variable, purpose in _PURPOSES.items()
        ],
    )


def _written(rate: float | None) -> str:
    return "" if rate is None else number_format(rate, decimal_pos=0 if rate >= 10 else 1)
