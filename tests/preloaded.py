"""What a web process imports from others and what knows nothing of settings: a forked process has it already.

Not the reactor, which belongs to one process, and nothing of ours. Only `tests.forked` names this module.
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
# Which reactor there is, the web process decides.
assert "twisted.internet.reactor" not in sys.modules

gc.collect()
gc.freeze()
