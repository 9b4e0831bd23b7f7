"""Sage's settings with faster tests: weak hashing, no collected static files, no rate limits.

Nothing here may change what a person sees.
"""

import os

from coaching.library.extractors.recognition_data import FOLDER_VARIABLE
from sage.settings import *  # noqa: F403
from sage.settings import DATABASES, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    **STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Tests hold transactions open while the code under test runs, which takes longer on a busy machine.
DATABASES["default"]["OPTIONS"]["options"] = (
    "-c idle_in_transaction_session_timeout=60000 -c statement_timeout=300000"
)
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
ACCOUNT_RATE_LIMITS = False
MFA_RATE_LIMITS = False
# Tests of the second look switch it on: others count what is asked and stored.
SAGE_SAFETY_MODEL = ""
# Scans stay unread, whatever this machine has: tests of text recognition ask for it.
os.environ[FOLDER_VARIABLE] = "/nonexistent"
