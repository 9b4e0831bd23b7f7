"""Modules of a web process that don't depend on settings; forked processes have them already.

Not the reactor, which belongs to one process. Of ours, those that take longest. Only `tests.forked` names
this module.
"""

import sys
from importlib import import_module

from sage.garbage import collect_as_usual, collect_rarely

NAMES = """
    allauth.core.ratelimit anthropic asgiref.typing autobahn.twisted.websocket botocore.exceptions
    channels.auth channels.generic.websocket channels_redis.core croniter dateutil.parser
    django.contrib.admin.utils django.contrib.auth.hashers django.contrib.auth.password_validation
    django.contrib.postgres.search django.contrib.staticfiles.storage django.core.handlers.asgi
    django.core.management django.db.backends.postgresql.base django.db.migrations.executor
    django_htmx.http environ fido2.server markdown_it orjson procrastinate prometheus_client psutil
    psycopg.types.hstore psycopg_pool rapidfuzz redis.asyncio service_identity structlog
    twisted.internet._sslverify twisted.internet.asyncioreactor twisted.web.http whitenoise.storage yaml
    coaching.context.fences coaching.engine.part coaching.engine.setup coaching.events coaching.live.hub
    coaching.safety.card coaching.safety.second_look sage.http_limits
"""

collect_rarely()
for name in NAMES.split():
    import_module(name)
import_module("coaching.safety.danger").read_words()  # compiles a thousand patterns, as each web process does
# The web process chooses the reactor.
assert "twisted.internet.reactor" not in sys.modules

collect_as_usual()
