"""Health, readiness and metrics by any name: who asks them names an address, which ALLOWED_HOSTS lacks.

They say the same whatever the name, and link to nothing, so the check of hosts protects nobody there.
"""

from django.conf import settings
from django.http import HttpRequest

from sage.logs import UNLOGGED_PATHS
from sage.middleware import Steps, middleware


@middleware
def asked_by_any_name(request: HttpRequest) -> Steps:
    """Give requests for these paths an allowed host."""
    if request.path_info in UNLOGGED_PATHS:
        named = (host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*")
        request.META["HTTP_HOST"] = next(named, "localhost")
    return (yield)
