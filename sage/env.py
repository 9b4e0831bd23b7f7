"""All environment variables of Sage: read once, typed, with their defaults.

This is the only module that reads the environment. It is pure: it creates no files, starts no server and
doesn't import Django's settings, so that tests can pass any mapping. An invalid value raises `SettingError`,
whose text is the one line that the operator sees.

A little over 300 lines: a list of all variables and their parsers.
"""

import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parseaddr
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environ import Env

from sessions_app.rate import RateLimit

Signup = Literal["open", "closed"]
ValueT = TypeVar("ValueT")

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
SECONDS_OF_UNIT = {"s": 1, "m": 60, "h": 3600}
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Private keys are smaller (FIPS 186-5)."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")


class StartError(Exception):
    """Sage can't start. The text is one line that says what to do."""


class SettingError(StartError):
    """A variable has an unusable value. The text names it and says what would work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The typed environment. An empty string means that the variable is unset."""

    anthropic_api_key: str
    anthropic_base_url: str
    model: str
    brief_model: str
    classify_model: str
    critic_model: str
    safety_model: str
    database: dict[str, Any] | None
    redis_url: str
    s3_bucket: str
    s3_endpoint_url: str
    aws_access_key_id: str
    aws_secret_access_key: str
    aws_session_token: str
    aws_region: str
    data_dir: Path
    secret_key: str
    is_debug: bool
    allowed_hosts: tuple[str, ...]
    csrf_trusted_origins: tuple[str, ...]
    max_rounds: int
    turn_seconds: int
    max_tool_calls: int
    max_tokens: int
    window_messages: int
    window_step: int
    session_ttl_hours: int
    rate_limit: RateLimit
    email: dict[str, Any] | None
    signup: Signup
    is_signup_chosen: bool
    mail_from: str
    vapid_private_key: str
    vapid_subject: str
    daily_tokens: int | None
    max_upload_mb: int
    max_files: int
    max_files_mb: int
    embedding_model: str
    metrics_token: str
    sentry_dsn: str
    otlp_endpoint: str


class _Reader:
    """Reads variables from a mapping; blank counts as unset; records the names."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.names: list[str] = []
        self._env = Env()
        self._env.ENVIRON = {name: value.strip() for name, value in values.items() if value.strip()}

    def text(self, name: str, default: str = "") -> str:
        self.names.append(name)
        if "\x00" in (value := str(self._env.str(name, default=default))):
            raise SettingError(f"{name} holds a NUL character.")
        return value

    def number(self, name: str, default: int, minimum: int, maximum: int) -> int:
        def parse(value: str) -> int:
            if not re.fullmatch(r"[0-9]{1,12}", value) or not minimum <= int(value) <= maximum:
                raise SettingError(
                    f"{name} must be a whole number from {minimum} to {maximum}, not {value!r}."
                )
            return int(value)

        return self.parsed(name, parse, default)

    def flag(self, name: str) -> bool:
        def parse(value: str) -> bool:
            if value.lower() not in TRUE_WORDS | FALSE_WORDS:
                raise SettingError(f"{name} must be true or false, not {value!r}.")
            return value.lower() in TRUE_WORDS

        return self.parsed(name, parse, False)

    def words(self, name: str) -> tuple[str, ...]:
        return tuple(word for part in self.text(name).split(",") if (word := part.strip()))

    def parsed(self, name: str, parse: Callable[[str], ValueT], default: ValueT) -> ValueT:
        value = self.text(name)
        return parse(value) if value else default


def read_environment(values: Mapping[str, str], project_dir: Path) -> Environment:
    """Read all variables in `values`. Raises `SettingError`. Relative paths start at `project_dir`."""
    return _read(_Reader(values), project_dir)


def variable_names() -> tuple[str, ...]:
    """Return the names of all variables, in order."""
    reader = _Reader({})
    _read(reader, Path("/"))
    return tuple(dict.fromkeys(reader.names))


def _read(reader: _Reader, project_dir: Path) -> Environment:
    # Ordered as in `.env.example`; every call is unconditional, so that `variable_names` sees all of them.
    allowed_hosts = reader.words("ALLOWED_HOSTS") or LOCAL_HOSTS
    return Environment(
        anthropic_api_key=reader.text("ANTHROPIC_API_KEY"),
        anthropic_base_url=reader.parsed("ANTHROPIC_BASE_URL", _url("ANTHROPIC_BASE_URL"), ""),
        model=reader.text("SAGE_MODEL", "claude-sonnet-5-5"),
        brief_model=reader.text("SAGE_BRIEF_MODEL", "claude-haiku-5-5"),
        classify_model=reader.text("SAGE_CLASSIFY_MODEL", "claude-haiku-5-5"),
        critic_model=reader.text("SAGE_CRITIC_MODEL", "claude-sonnet-5-5"),
        safety_model=reader.text("SAGE_SAFETY_MODEL"),
        database=reader.parsed("DATABASE_URL", _database, None),
        redis_url=reader.parsed("REDIS_URL", _url("REDIS_URL", ("redis", "rediss", "unix")), ""),
        s3_bucket=reader.text("SAGE_S3_BUCKET"),
        s3_endpoint_url=reader.parsed("SAGE_S3_ENDPOINT_URL", _url("SAGE_S3_ENDPOINT_URL"), ""),
        aws_access_key_id=reader.text("AWS_ACCESS_KEY_ID"),
        aws_secret_access_key=reader.text("AWS_SECRET_ACCESS_KEY"),
        aws_session_token=reader.text("AWS_SESSION_TOKEN"),
        aws_region=reader.text("AWS_REGION") or reader.text("AWS_DEFAULT_REGION"),
        data_dir=_folder(reader.text("SAGE_DATA_DIR", ".data"), project_dir),
        secret_key=reader.parsed("SECRET_KEY", _secret, ""),
        is_debug=reader.flag("DEBUG"),
        allowed_hosts=_hosts(allowed_hosts),
        csrf_trusted_origins=_origins(reader.words("CSRF_TRUSTED_ORIGINS")),
        max_rounds=reader.number("SAGE_MAX_ROUNDS", 5, 1, 50),
        turn_seconds=reader.number("SAGE_TURN_SECONDS", 55, 1, 3600),
        max_tool_calls=reader.number("SAGE_MAX_TOOL_CALLS", 15, 1, 200),
        max_tokens=reader.number("SAGE_MAX_TOKENS", 8192, 1, 200_000),
        window_messages=reader.number("SAGE_WINDOW_MESSAGES", 15, 1, 1000),
        window_step=reader.number("SAGE_WINDOW_STEP", 20, 1, 1000),
        session_ttl_hours=reader.number("SAGE_SESSION_TTL_HOURS", 24, 1, 8760),
        rate_limit=reader.parsed("SAGE_RATE_LIMIT", _rate_limit, RateLimit(turns=20, seconds=60)),
        email=reader.parsed("EMAIL_URL", _email, None),
        mail_from=reader.parsed("DEFAULT_FROM_EMAIL", _mail_from, ""),
        vapid_private_key=reader.parsed("SAGE_VAPID_PRIVATE_KEY", _vapid_key, ""),
        vapid_subject=reader.parsed("SAGE_VAPID_SUBJECT", _vapid_subject, ""),
        signup=reader.parsed(
            "SAGE_SIGNUP", _signup, "open" if all(map(is_local, allowed_hosts)) else "closed"
        ),
        is_signup_chosen=bool(reader.text("SAGE_SIGNUP")),
        daily_tokens=reader.number("SAGE_DAILY_TOKENS", 0, 1, 10**11) or None,
        max_upload_mb=reader.number("SAGE_MAX_UPLOAD_MB", 25, 1, 1024),
        max_files=reader.number("SAGE_MAX_FILES", 5_000, 1, 10**9),
        max_files_mb=reader.number("SAGE_MAX_FILES_MB", 1_000, 1, 10**9),
        embedding_model=reader.text("SAGE_EMBEDDING_MODEL"),
        metrics_token=reader.text("SAGE_METRICS_TOKEN"),
        sentry_dsn=reader.parsed("SENTRY_DSN", _url("SENTRY_DSN"), ""),
        otlp_endpoint=reader.parsed("OTEL_EXPORTER_OTLP_ENDPOINT", _url("OTEL_EXPORTER_OTLP_ENDPOINT"), ""),
    )


def _url(name: str, schemes: tuple[str, ...] = ("http", "https")) -> Callable[[str], str]:
    def parse(value: str) -> str:
        # Don't repeat the value: such a URL may contain a password.
        wrong = SettingError(f"{name} must be a URL that starts with {' or '.join(schemes)}://.")
        try:
            parts = urlsplit(value)
            is_right = parts.scheme in schemes and bool(parts.hostname or parts.scheme == "unix")
            _ = parts.port
        except ValueError:
            raise wrong from None
        if not is_right:
            raise wrong
        return value

    return parse


def _database(value: str) -> dict[str, Any]:
    wrong = SettingError("DATABASE_URL must look like postgres://user:password@host:5432/name.")
    if urlsplit(value).scheme not in {"postgres", "postgresql", "psql", "pgsql"}:
        raise wrong
    try:
        database: dict[str, Any] = Env.db_url_config(value)
    except (ValueError, TypeError, ImproperlyConfigured):
        raise wrong from None
    if host := database.get("OPTIONS", {}).pop("host", None):
        database["HOST"] = host
    if not database["NAME"]:
        raise wrong
    return database


def _email(value: str) -> dict[str, Any]:
    try:
        email: dict[str, Any] = Env.email_url_config(value)
    except (ValueError, TypeError, ImproperlyConfigured):
        raise SettingError("EMAIL_URL must look like smtp+tls://user:password@host:587.") from None
    return email


def _mail_from(value: str) -> str:
    if not is_mail_address(parseaddr(value)[1]) or "\n" in value or "\r" in value:
        raise SettingError(
            f"DEFAULT_FROM_EMAIL must be an address like Sage <sage@sage.example>, not {value!r}."
        )
    return value


def _vapid_key(value: str) -> str:
    if not is_vapid_key(value):
        # Don't repeat the value: it is a secret.
        raise SettingError("SAGE_VAPID_PRIVATE_KEY must be a P-256 key: 32 bytes in URL-safe base64.")
    return value.rstrip("=")


def is_vapid_key(text: str) -> bool:
    """Return whether a text is a private key of the curve that web push uses."""
    bare = text.rstrip("=")
    if not re.fullmatch(r"[A-Za-z0-9_-]{43}", bare):
        return False
    return 0 < int.from_bytes(urlsafe_b64decode(f"{bare}=")) < P256_ORDER


def _vapid_subject(value: str) -> str:
    is_mail = value.startswith("mailto:") and is_mail_address(value.removeprefix("mailto:"))
    if not is_mail and not re.fullmatch(r"https://[^/\s]+/?", value):
        raise SettingError(
            f"SAGE_VAPID_SUBJECT must be like mailto:me@sage.example or https://sage.example, not {value!r}."
        )
    return value.rstrip("/")


def choose_vapid_subject(environment: Environment) -> str:
    """Return whom push services can contact: `SAGE_VAPID_SUBJECT`, otherwise the sender of all mails."""
    return environment.vapid_subject or f"mailto:{parseaddr(choose_mail_from(environment))[1]}"


def is_mail_address(text: str) -> bool:
    """Return whether a text looks like an email address."""
    return bool(re.fullmatch(r"[^\s@<>]+@[^\s@<>]+", text))


def choose_mail_from(environment: Environment) -> str:
    """Return the sender of all mails.

    It is `DEFAULT_FROM_EMAIL`, otherwise the address in `EMAIL_URL`, otherwise `sage@` the first public host,
    otherwise one that mail servers may refuse (`manage.py check --deploy` warns).
    """
    if environment.mail_from:
        return environment.mail_from
    account = str((environment.email or {}).get("EMAIL_HOST_USER") or "")
    if is_mail_address(account):
        return f"Sage <{account}>"
    public = (host.lstrip(".") for host in environment.allowed_hosts if _is_public_name(host))
    return f"Sage <sage@{next(public, 'localhost')}>"


def _is_public_name(host: str) -> bool:
    return "." in host.strip(".") and not host.startswith("[") and not re.fullmatch(r"[0-9.]+", host)


def _rate_limit(value: str) -> RateLimit:
    match = re.fullmatch(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})([smh])", value)
    if match is None:
        raise SettingError(f"SAGE_RATE_LIMIT must look like 20/60s, not {value!r}.")
    turns, count, unit = match.groups()
    return RateLimit(turns=int(turns), seconds=int(count) * SECONDS_OF_UNIT[unit])


def _secret(value: str) -> str:
    if len(value) < 32:
        raise SettingError("SECRET_KEY must have at least 32 characters; unset, Sage makes one itself.")
    return value


def _signup(value: str) -> Signup:
    if value not in get_args(Signup):
        raise SettingError(f"SAGE_SIGNUP must be open or closed, not {value!r}.")
    return "open" if value == "open" else "closed"


def _hosts(hosts: tuple[str, ...]) -> tuple[str, ...]:
    for host in hosts:
        if not re.fullmatch(r"\*|\.?[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]", host):
            raise SettingError(f"ALLOWED_HOSTS takes host names without scheme and port, not {host!r}.")
    return hosts


def _origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        if not re.fullmatch(r"https?://[^/\s?#@]+", origin):
            raise SettingError(
                f"CSRF_TRUSTED_ORIGINS takes origins like https://sage.example, not {origin!r}."
            )
    return origins


def _folder(value: str, project_dir: Path) -> Path:
    try:
        return (project_dir / Path(value).expanduser()).absolute()
    except RuntimeError:
        raise SettingError(f"SAGE_DATA_DIR names a home folder that doesn't exist: {value!r}.") from None


def is_local(host: str) -> bool:
    """Return whether a host name or address is loopback."""
    name = host.strip("[].").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
