"""What the texts of environment variables mean.

A `ValueError` says what a variable must be; `sage.env` puts its name before. What may hold a password isn't
repeated.
"""

import re
from base64 import urlsafe_b64decode
from email.utils import parseaddr
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environ import Env
from pydantic import BeforeValidator, ValidationInfo

from coaching.inbox.place import InboxPlace, place_of
from sessions_app.rate import RateLimit

Signup = Literal["open", "closed"]

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
SECONDS_OF_UNIT = {"s": 1, "m": 60, "h": 3600}
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Private keys are smaller (FIPS 186-5)."""
MIN_TOKEN = 16
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")


def is_local(host: str) -> bool:
    """Return whether a host name or address is loopback."""
    name = host.strip("[].").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def is_mail_address(text: str) -> bool:
    """Return whether a text looks like an email address."""
    return bool(re.fullmatch(r"[^\s@<>]+@[^\s@<>]+", text))


def key_bytes(text: str) -> bytes | None:
    """Return the 32 bytes of a key in URL-safe base64; None for any other text."""
    bare = text.rstrip("=")
    return urlsafe_b64decode(f"{bare}=") if re.fullmatch(r"[A-Za-z0-9_-]{43}", bare) else None


def is_vapid_key(text: str) -> bool:
    """Return whether a text is a private key of the curve that web push uses."""
    key = key_bytes(text)
    return key is not None and 0 < int.from_bytes(key) < P256_ORDER


def whole_number(minimum: int, maximum: int) -> BeforeValidator:
    """Return a validator that reads a whole number in these limits."""

    def parse(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", value) or not minimum <= int(value) <= maximum:
            raise ValueError(f"must be a whole number from {minimum} to {maximum}, not {value!r}.")
        return int(value)

    return BeforeValidator(parse)


def _read_flag(value: str) -> bool:
    if value.lower() not in TRUE_WORDS | FALSE_WORDS:
        raise ValueError(f"must be true or false, not {value!r}.")
    return value.lower() in TRUE_WORDS


def url(*schemes: str) -> BeforeValidator:
    """Return a validator of URLs with one of these schemes."""

    def parse(value: str) -> str:
        wrong = f"must be a URL that starts with {' or '.join(schemes)}://."
        try:
            parts = urlsplit(value)
            is_right = parts.scheme in schemes and bool(parts.hostname or parts.scheme == "unix")
            _ = parts.port
        except ValueError:
            raise ValueError(wrong) from None
        if not is_right:
            raise ValueError(wrong)
        return value

    return BeforeValidator(parse)


def _read_database(value: str) -> dict[str, Any]:
    wrong = "must look like postgres://user:password@host:5432/name."
    if urlsplit(value).scheme not in {"postgres", "postgresql", "psql", "pgsql"}:
        raise ValueError(wrong)
    try:
        database: dict[str, Any] = Env.db_url_config(value)
    except (ValueError, TypeError, ImproperlyConfigured):
        raise ValueError(wrong) from None
    if host := database.get("OPTIONS", {}).pop("host", None):
        database["HOST"] = host
    if not database["NAME"]:
        raise ValueError(wrong)
    return database


def _read_email(value: str) -> dict[str, Any]:
    try:
        email: dict[str, Any] = Env.email_url_config(value)
    except (ValueError, TypeError, ImproperlyConfigured):
        raise ValueError("must look like smtp+tls://user:password@host:587.") from None
    return email


def _read_bucket(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{3,255}|arn:[A-Za-z0-9:/._-]{1,500}", value):
        raise ValueError(f"must be the name of a bucket like sage-files, not {value!r}.")
    return value


def _read_token(value: str) -> str:
    if len(value) < MIN_TOKEN:
        raise ValueError(f"must have at least {MIN_TOKEN} characters.")
    return value


def _read_mail_server_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,253}", value):
        # It may be a misplaced SAGE_INBOX_URL, with its password.
        raise ValueError("must be a name like mx.sage.example.")
    return value.lower()


def _read_mail_from(value: str) -> str:
    if not is_mail_address(parseaddr(value)[1]) or "\n" in value or "\r" in value:
        raise ValueError(f"must be an address like Sage <sage@sage.example>, not {value!r}.")
    return value


def _read_vapid_key(value: str) -> str:
    if not is_vapid_key(value):
        raise ValueError("must be a P-256 key: 32 bytes in URL-safe base64.")
    return value.rstrip("=")


def _read_backup_key(value: str) -> bytes:
    if (key := key_bytes(value)) is None:
        raise ValueError("must be 32 bytes in URL-safe base64, as `manage.py backup --new-key` prints them.")
    return key


def _read_vapid_subject(value: str) -> str:
    is_mail = value.startswith("mailto:") and is_mail_address(value.removeprefix("mailto:"))
    if not is_mail and not re.fullmatch(r"https://[^/\s]+/?", value):
        raise ValueError(f"must be like mailto:me@sage.example or https://sage.example, not {value!r}.")
    return value.rstrip("/")


def _read_rate_limit(value: str) -> RateLimit:
    match = re.fullmatch(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})([smh])", value)
    if match is None:
        raise ValueError(f"must look like 20/60s, not {value!r}.")
    turns, count, unit = match.groups()
    return RateLimit(turns=int(turns), seconds=int(count) * SECONDS_OF_UNIT[unit])


def _read_secret(value: str) -> str:
    if len(value) < 32:
        raise ValueError("must have at least 32 characters; unset, Sage makes one itself.")
    return value


def _read_signup(value: str) -> str:
    if value not in get_args(Signup):
        raise ValueError(f"must be open or closed, not {value!r}.")
    return value


def _words(value: str) -> tuple[str, ...]:
    return tuple(word for part in value.split(",") if (word := part.strip()))


def _read_hosts(value: str) -> tuple[str, ...]:
    for host in _words(value):
        if not re.fullmatch(r"\*|\.?[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]", host):
            raise ValueError(f"takes host names without scheme and port, not {host!r}.")
    return _words(value) or LOCAL_HOSTS


def _read_origins(value: str) -> tuple[str, ...]:
    for origin in _words(value):
        if not re.fullmatch(r"https?://[^/\s?#@]+", origin):
            raise ValueError(f"takes origins like https://sage.example, not {origin!r}.")
    return _words(value)


def _read_path(value: str, info: ValidationInfo) -> Path:
    try:
        return Path(str(info.context), Path(value).expanduser()).absolute()
    except RuntimeError:
        raise ValueError(f"names a home folder that doesn't exist: {value!r}.") from None


HttpUrl = Annotated[str, url("http", "https")]
RedisUrl = Annotated[str, url("redis", "rediss", "unix")]
Flag = Annotated[bool, BeforeValidator(_read_flag)]
Database = Annotated[dict[str, Any] | None, BeforeValidator(_read_database)]
MailServer = Annotated[dict[str, Any] | None, BeforeValidator(_read_email)]
Inbox = Annotated[InboxPlace | None, BeforeValidator(place_of)]
ServerName = Annotated[str, BeforeValidator(_read_mail_server_name)]
Sender = Annotated[str, BeforeValidator(_read_mail_from)]
BackupKey = Annotated[bytes | None, BeforeValidator(_read_backup_key)]
VapidKey = Annotated[str, BeforeValidator(_read_vapid_key)]
Contact = Annotated[str, BeforeValidator(_read_vapid_subject)]
Rate = Annotated[RateLimit, BeforeValidator(_read_rate_limit)]
Bucket = Annotated[str, BeforeValidator(_read_bucket)]
Token = Annotated[str, BeforeValidator(_read_token)]
Secret = Annotated[str, BeforeValidator(_read_secret)]
ChosenSignup = Annotated[Signup | None, BeforeValidator(_read_signup)]
Hosts = Annotated[tuple[str, ...], BeforeValidator(_read_hosts)]
Origins = Annotated[tuple[str, ...], BeforeValidator(_read_origins)]
Folder = Annotated[Path, BeforeValidator(_read_path)]
ChosenFile = Annotated[Path | None, BeforeValidator(_read_path)]
