"""Django's settings, derived from `sage.env`.

Importing them may create the data folder and its secrets, but never starts or connects to a server. An
invalid value ends the process with one line. Over 300 lines, because it is a list.
"""

import os
import sys
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from coaching.sandbox.limits import MEGABYTE
from sage.chosen_models import choose_models, choose_speech_model, practice_models
from sage.data_folder import make_vapid_key, next_secrets, open_data_folder, read_or_make_secret
from sage.embedded_postgres import describe_embedded_database
from sage.env import StartError, choose_mail_from, choose_vapid_subject, read_environment
from sage.env_file import read_env_file, unknown_names
from sage.local_model import choose_server
from sage.logs import build_logging
from sage.version import read_version

BASE_DIR = Path(__file__).resolve().parent.parent

try:
    _given = dict(os.environ)
    UNKNOWN_NAMES = unknown_names(_given, read_env_file(BASE_DIR / ".env"))
    ENVIRONMENT = read_environment(os.environ, BASE_DIR)
    IS_EMBEDDED_DATABASE = ENVIRONMENT.database is None
    HAS_DATA_FOLDER = bool(
        IS_EMBEDDED_DATABASE
        or ENVIRONMENT.model_file
        or not ENVIRONMENT.secret_key
        or not ENVIRONMENT.s3_bucket
    )
    SAGE_VAPID_PRIVATE_KEY = ENVIRONMENT.vapid_private_key
    if HAS_DATA_FOLDER:
        open_data_folder(ENVIRONMENT.data_dir)
        # Without a folder that all processes share there is no web push, unless the key is set.
        SAGE_VAPID_PRIVATE_KEY = SAGE_VAPID_PRIVATE_KEY or read_or_make_secret(
            ENVIRONMENT.data_dir / "vapid_private_key", make_vapid_key
        )
    # What a restore has prepared: second factors of a restored database are encrypted with it. Read first,
    # because another process may just be putting it into place (`sage.restored_secret`).
    SECRET_KEY_FALLBACKS = [] if ENVIRONMENT.secret_key else next_secrets(ENVIRONMENT.data_dir)
    SECRET_KEY = ENVIRONMENT.secret_key or read_or_make_secret(ENVIRONMENT.data_dir / "secret_key")
    _database = ENVIRONMENT.database or describe_embedded_database(ENVIRONMENT.data_dir)
except StartError as error:
    raise SystemExit(f"Sage can't start: {error}") from None

# --- Sage's own -----------------------------------------------------------------------------------

SAGE_VERSION = read_version(BASE_DIR)
SAGE_MODEL_FILE = ENVIRONMENT.model_file
_server = choose_server(ENVIRONMENT)
ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL = _server.api_key, _server.url
IS_PRACTICE_MODEL = not (ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL)
PRACTICE_MODEL = "sage-practice"
# Practice turns get their own model name and no price.
_models = practice_models(ENVIRONMENT, PRACTICE_MODEL) if IS_PRACTICE_MODEL else choose_models(ENVIRONMENT)
SAGE_MODEL = _models.coach
SAGE_BRIEF_MODEL = _models.brief
SAGE_CLASSIFY_MODEL = _models.classify
SAGE_CRITIC_MODEL = _models.critic
SAGE_SAFETY_MODEL = _models.safety
SAGE_DATA_DIR = ENVIRONMENT.data_dir
SAGE_BACKUP_DIR = ENVIRONMENT.backup_dir
SAGE_BACKUP_KEY = ENVIRONMENT.backup_key
SAGE_MAX_ROUNDS = ENVIRONMENT.max_rounds
# None: as long as the model needs, see `coaching.model_client.patience`.
SAGE_TURN_SECONDS = ENVIRONMENT.turn_seconds
SAGE_MAX_TOKENS = ENVIRONMENT.max_tokens
SAGE_MAX_TOOL_CALLS = ENVIRONMENT.max_tool_calls
SAGE_MODEL_CONCURRENCY = ENVIRONMENT.model_concurrency
SAGE_CONTEXT_TOKENS = ENVIRONMENT.context_tokens
SAGE_WINDOW_MESSAGES = ENVIRONMENT.window_messages
SAGE_WINDOW_STEP = ENVIRONMENT.window_step
SAGE_SESSION_TTL_HOURS = ENVIRONMENT.session_ttl_hours
SAGE_RATE_LIMIT = ENVIRONMENT.rate_limit
SAGE_API_RATE = ENVIRONMENT.api_rate
SAGE_SIGNUP = ENVIRONMENT.signup
SAGE_DAILY_TOKENS = ENVIRONMENT.daily_tokens
SAGE_MAX_UPLOAD_MB = ENVIRONMENT.max_upload_mb
SAGE_MAX_FILES = ENVIRONMENT.max_files
SAGE_MAX_FILES_MB = ENVIRONMENT.max_files_mb
SAGE_METRICS_TOKEN = ENVIRONMENT.metrics_token
SAGE_EMBEDDING_MODEL = ENVIRONMENT.embedding_model
SAGE_VAPID_SUBJECT = choose_vapid_subject(ENVIRONMENT)
# Without the name of its server no mail can be trusted, so both are needed.
SAGE_INBOX = ENVIRONMENT.inbox if ENVIRONMENT.inbox_server else None
SAGE_INBOX_AUTHSERV_ID = ENVIRONMENT.inbox_server
SAGE_TRANSCRIBE_URL = ENVIRONMENT.transcribe_url
SAGE_TRANSCRIBE_KEY = ENVIRONMENT.transcribe_key
SAGE_TRANSCRIBE_MODEL = ENVIRONMENT.transcribe_model
SAGE_TRANSCRIBE_FILE = choose_speech_model(ENVIRONMENT, BASE_DIR)
REDIS_URL = ENVIRONMENT.redis_url

# --- Django ---------------------------------------------------------------------------------------

DEBUG = ENVIRONMENT.is_debug
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(ENVIRONMENT.csrf_trusted_origins)
IS_BEHIND_HTTPS = any(origin.startswith("https://") for origin in CSRF_TRUSTED_ORIGINS)

INSTALLED_APPS = [
    "sage.apps.SageConfig",
    "sessions_app.apps.SessionsAppConfig",
    "coaching.apps.CoachingConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.idp.oidc",
    "allauth.mfa",
    "channels",
    "csp",
    "django_htmx",
    "django_structlog",
    "procrastinate.contrib.django",
    "simple_history",
    "storages",
]

MIDDLEWARE = [
    # Outermost, so that its span covers the whole request.
    "sage.telemetry.trace_requests",
    # Before anything that looks at the host.
    "sage.probes.asked_by_any_name",
    "django.middleware.security.SecurityMiddleware",
    # Before static files, so that every response has the policy.
    "csp.middleware.CSPMiddleware",
    "sage.permissions_policy.microphone_allowed",
    "sage.static_files.StaticFilesMiddleware",
    "sage.no_store.never_stored",
    # Before anything that reads a cookie.
    "sage.programs.without_cookies",
    # Before anything that answers.
    "sage.language.in_browser_language",
    # Before anything that queries the database.
    "sage.load_limits.admitted",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "sage.load_limits.PersonMiddleware",
    # Once the person is loaded, and around everything that changes who it is.
    "sage.device_copies.copies_of_others_erased",
    "sage.language.in_own_language",
    "sage.logs.RequestLogMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "sage.not_allowed.not_allowed_page",
    "sage.sign_in_return.sign_in_leads_to_page",
]

ROOT_URLCONF = "sage.urls"
ASGI_APPLICATION = "sage.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "sage.context_processors.installation",
                "sage.context_processors.device_copy",
            ]
        },
    }
]

# --- Database -------------------------------------------------------------------------------------

# Enough for all threads that can hold a connection: `sessions_app.database.THREADS` and `UNHURRIED_THREADS`,
# the one for incoming mail, `coaching.people.in_flight.MAX_RUNNING`, and some for socket handshakes.
DATABASE_POOL = {"min_size": 1, "max_size": 32, "timeout": 5}
# A runner that freezes inside a transaction must not block its take-over. No statement or lock of ours takes
# seconds; migrations, removals and archives lift all three limits.
DATABASE_SESSION_OPTIONS = (
    "-c idle_in_transaction_session_timeout=5000 -c statement_timeout=20000 -c lock_timeout=10000"
)

# For statements of `sessions_app.queries`; the ORM's are never prepared.
PREPARE_THRESHOLD = 2

DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        **_database,
        "ENGINE": "sage.embedded_backend" if IS_EMBEDDED_DATABASE else "sage.pooled_backend",
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            "connect_timeout": 5,
            "options": DATABASE_SESSION_OPTIONS,
            "pool": DATABASE_POOL,
            "prepare_threshold": PREPARE_THRESHOLD,
            **_database.get("OPTIONS", {}),
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Background jobs ------------------------------------------------------------------------------

# Imported by code that runs or enqueues jobs, not by every command.
PROCRASTINATE_AUTODISCOVER_MODULE_NAME = ""
PROCRASTINATE_IMPORT_PATHS = [
    "coaching.jobs.tasks",
    "coaching.library.jobs.reading",
    "coaching.library.jobs.analysis",
    "coaching.jobs.imports",
    "coaching.jobs.letters",
    "coaching.jobs.programs",
    "coaching.jobs.reminders",
    "coaching.jobs.voice",
    *(["sage.backups.daily"] if SAGE_BACKUP_DIR else []),
]
if SAGE_INBOX:
    PROCRASTINATE_IMPORT_PATHS.append("coaching.jobs.inbox")
PROCRASTINATE_ON_APP_READY = "coaching.job_queue.queue.use_our_threads"

# --- Cache and channel layer ----------------------------------------------------------------------

if REDIS_URL:
    CACHES: dict[str, dict[str, Any]] = {
        "default": {
            "BACKEND": "sage.shared_cache.SharedCache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": "sage",
            "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
        }
    }
    # Publish and subscribe: nothing is queued in Redis, so a flush loses nothing.
    CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL], "prefix": "sage"},
        }
    }
else:
    # The limits of sign-in are counted in it: a crowd must not push them out.
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "OPTIONS": {"MAX_ENTRIES": 100_000},
        }
    }
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

# --- Files ----------------------------------------------------------------------------------------

FILES_DIR = SAGE_DATA_DIR / "files"

STORAGES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "coaching.files.disk_storage.DiskObjectStorage",
        "OPTIONS": {
            "location": FILES_DIR,
            "base_url": None,
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
if ENVIRONMENT.s3_bucket:
    STORAGES["default"] = {
        "BACKEND": "coaching.files.s3_storage.S3ObjectStorage",
        "OPTIONS": {
            "bucket_name": ENVIRONMENT.s3_bucket,
            "endpoint_url": ENVIRONMENT.s3_endpoint_url or None,
            "access_key": ENVIRONMENT.aws_access_key_id or None,
            "secret_key": ENVIRONMENT.aws_secret_access_key or None,
            "security_token": ENVIRONMENT.aws_session_token or None,
            "region_name": ENVIRONMENT.aws_region or None,
            "default_acl": None,
            "querystring_auth": True,
        },
    }

# Collected when a web process starts. Names contain a content hash, so browsers may cache them forever.
STATIC_URL = "/static/"
STATIC_ROOT = SAGE_DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_USE_FINDERS = DEBUG
# Pages load the bundles in static/dist, with DEBUG their modules (coaching/templatetags/bundles.py).
SAGE_BUNDLES = not DEBUG
if DEBUG:
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}

# The body of an upload in bytes, including its form. Any other body over 1 MB is refused unread.
SAGE_UPLOAD_BYTES = {
    "/library/upload/": max(100, SAGE_MAX_UPLOAD_MB + 1) * MEGABYTE,
    "/journal/photos/": max(100, SAGE_MAX_UPLOAD_MB + 1) * MEGABYTE,
    "/settings/calendar/upload/": (SAGE_MAX_UPLOAD_MB + 1) * MEGABYTE,
    "/settings/import/": 501 * MEGABYTE,
    "/voice/recordings/": 26 * MEGABYTE,
}

# The body of a form; files are counted separately.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1 * MEGABYTE
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 50
FILE_UPLOAD_MAX_MEMORY_SIZE = 1 * MEGABYTE
FILE_UPLOAD_PERMISSIONS = 0o600

# --- Accounts -------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = ["sage.sign_in.OneCheckBackend"]
PASSWORD_HASHERS = [
    "sage.hashing.PBKDF2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.BCryptSHA256PasswordHasher",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "sage.passwords.NewPasswordValidator"},
    *(
        {"NAME": f"django.contrib.auth.password_validation.{name}"}
        for name in (
            "UserAttributeSimilarityValidator",
            "CommonPasswordValidator",
            "NumericPasswordValidator",
        )
    ),
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_SIGNUP_REDIRECT_URL = "/welcome/"
LOGOUT_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "sage.accounts.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email", "username"}
ACCOUNT_SIGNUP_FORM_CLASS = "coaching.people.signup.SignupForm"
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_FORMS = {
    "login": "sage.account_forms.LoginForm",
    "signup": "sage.account_forms.SignupForm",
    "reset_password": "sage.account_forms.ResetPasswordForm",
    "reset_password_from_key": "sage.account_forms.ResetPasswordKeyForm",
    "change_password": "sage.account_forms.ChangePasswordForm",
    "set_password": "sage.account_forms.SetPasswordForm",
    "reauthenticate": "sage.account_forms.ReauthenticateForm",
    "add_email": "sage.account_forms.ChangeAddressForm",
}
HAS_MAIL = ENVIRONMENT.email is not None
# Without a mail server nobody could open a verification link.
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if HAS_MAIL else "none"
# Strict: an unconfirmed account doesn't stop anybody from signing up with its address.
ACCOUNT_PREVENT_ENUMERATION = "strict" if HAS_MAIL else True
ACCOUNT_EMAIL_NOTIFICATIONS = HAS_MAIL
# One address per account; a new one replaces the old one once it is confirmed.
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True

# By address only: allauth's count by account would let anybody keep its owner out (see `sign_in_attempts`).
ACCOUNT_RATE_LIMITS: dict[str, str] | bool = {"login_failed": "10/m/ip"}

MFA_ADAPTER = "sage.second_factor.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
# Always: what a second step asks a device to sign is also taken where a passkey signs in alone.
MFA_WEBAUTHN_USER_VERIFICATION = "required"
MFA_TOTP_ISSUER = "Sage"
# The code before and the one after count, too: clocks differ, and typing takes time.
MFA_TOTP_TOLERANCE = 1
# Signing in already needs a confirmed address where mail can be sent, and a pending one keeps nobody out.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# As often as a password; each attempt takes two requests.
MFA_RATE_LIMITS: dict[str, str] | bool = {"webauthn_login": "60/m/ip"}
MFA_FORMS = {
    "authenticate": "sage.second_factor_forms.SignInCodeForm",
    "authenticate_webauthn": "sage.second_factor_forms.SecondStepPasskeyForm",
    "set_password": "sage.account_forms.SetPasswordForm",
    "reauthenticate": "sage.second_factor_forms.ConfirmCodeForm",
    "reauthenticate_webauthn": "sage.second_factor_forms.ConfirmPasskeyForm",
    "login_webauthn": "sage.second_factor_forms.SignInPasskeyForm",
    "activate_totp": "sage.second_factor_forms.ActivateAppForm",
    "add_webauthn": "sage.second_factor_forms.AddPasskeyForm",
    "edit_webauthn": "sage.second_factor_forms.RenamePasskeyForm",
}

# For other programs: `coaching.oauth`. Nothing is fetched to know a client, and all are public.
IDP_OIDC_AUTH_METHODS = ["none"]
IDP_OIDC_CIMD_ENABLED = False
IDP_OIDC_ACCESS_TOKEN_EXPIRES_IN = 3600
IDP_OIDC_REFRESH_TOKEN_EXPIRES_IN = 90 * 24 * 3600
IDP_OIDC_ROTATE_REFRESH_TOKEN = True
IDP_OIDC_RATE_LIMITS: dict[str, str] | bool = {"client_registration": "5/m/ip,60/h/ip"}

EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = choose_mail_from(ENVIRONMENT)
for _name, _value in (ENVIRONMENT.email or {}).items():
    if _name.startswith("EMAIL_") and _value is not None:
        globals()[_name] = _value
if EMAIL_BACKEND == "django.core.mail.backends.smtp.EmailBackend":
    EMAIL_BACKEND = "sage.noted_mail.NotedEmailBackend"

# --- Browser security -----------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "sage.error_pages.csrf_failure"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_BEHIND_HTTPS
if IS_BEHIND_HTTPS:
    # A trusted https origin means that a proxy terminates TLS; it must set X-Forwarded-Proto and -For.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    ALLAUTH_TRUSTED_PROXY_COUNT = 1
# Whether other names of the domain are bound to https is its owner's decision.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# --- Language, time, logs -------------------------------------------------------------------------

LANGUAGE_CODE = "en"
# By their own names, as people choose from them.
LANGUAGES = [("de", "Deutsch"), ("en", "English"), ("es", "Español")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "sage.formats"
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

LOGGING = build_logging(is_terminal=sys.stderr.isatty())
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = 10
