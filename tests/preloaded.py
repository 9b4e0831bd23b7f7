"""Third-party modules of a web process that don't depend on settings; forked processes have them already.

Not the reactor, which belongs to one process, and none of ours. Only `tests.forked` names this module.
"""

import gc
import sys
from importlib import import_module

NAMES = """
    anthropic asgiref.typing autobahn.twisted.websocket botocore.exceptions channels_redis.core croniter
    dateutil.parser django.contrib.admin.utils django.core.handlers.asgi django.core.management
    django.db.backends.postgresql.base environ markdown_it orjson procrastinate psutil psycopg.types.hstore
    psycopg_pool redis.asyncio service_identity structlog twisted.internet._sslverify
    twisted.internet.asyncioreactor twisted.web.http yaml
"""

for name in NAMES.split():
    import_module(name)
# The web process chooses the reactor.
assert "twisted.internet.reactor" not in sys.modules

gc.collect()
gc.freeze()
