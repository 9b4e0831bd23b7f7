"""What a web process imports from others and what knows nothing of settings: a forked process has it already.

Not the reactor, which belongs to one process, and nothing of ours. Only `tests.forked` names this module.
"""

import gc

import anthropic  # noqa: F401
import autobahn.websocket.protocol  # noqa: F401
import channels_redis.core  # noqa: F401
import django.contrib.admin.utils
import django.core.handlers.asgi
import django.core.management
import django.db.backends.postgresql.base  # noqa: F401
import markdown_it  # noqa: F401
import psycopg_pool  # noqa: F401
import redis.asyncio  # noqa: F401
import structlog  # noqa: F401

gc.collect()
gc.freeze()
