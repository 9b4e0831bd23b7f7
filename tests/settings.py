"""Sage's own settings with what makes tests quick: weak hashing, no collected static files, no rate limits.

Nothing here may change what a person sees.
"""

from sage.settings import *  # noqa: F403
from sage.settings import DATABASES, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    **STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# A test holds its transaction open while the code under test works, on a busy machine for a while.
DATABASES["default"]["OPTIONS"]["options"] = (
    "-c idle_in_transaction_session_timeout=60000 -c statement_timeout=300000"
)
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
ACCOUNT_RATE_LIMITS = False
