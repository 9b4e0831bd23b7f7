"""System checks for settings that are valid but won't work as expected."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.http.request import split_domain_port, validate_host

from coaching.engine.retirements import RETIREMENTS
from coaching.sandbox.trial import missing_layers
from coaching.voice.transcription import speech_problem

MODEL_SETTINGS = (
    "SAGE_MODEL",
    "SAGE_BRIEF_MODEL",
    "SAGE_CLASSIFY_MODEL",
    "SAGE_CRITIC_MODEL",
    "SAGE_SAFETY_MODEL",
)


def warn_of_retired_models(**_: object) -> list[checks.CheckMessage]:
    """Warn if a configured model is deprecated in the SDK."""
    return [
        checks.Warning(
            f"{name} is {model}, which the SDK lists as deprecated (end of life: {date}).",
            hint="Choose a newer model.",
            id="sage.W001",
        )
        for name in MODEL_SETTINGS
        if (model := getattr(settings, name)) and (date := RETIREMENTS.get(model))
    ]


def warn_of_unknown_names(**_: object) -> list[checks.CheckMessage]:
    """Warn of variables that are misspelt, and so ignored."""
    hint = "See docs/operating/variables.md."
    return [checks.Warning(sentence, hint=hint, id="sage.W010") for sentence in settings.UNKNOWN_NAMES]


def check_places(**_: object) -> list[checks.CheckMessage]:
    """Report files, folders and addresses in settings that can't be what was meant."""
    environment = settings.ENVIRONMENT
    found: list[checks.CheckMessage] = []
    if (folder := environment.backup_dir) and not _is_writable(folder):
        found.append(
            checks.Warning(
                f"SAGE_BACKUP_DIR is {folder}, which this process can't make or write.",
                hint="Name a folder that workers can write.",
                id="sage.W011",
            )
        )
    if (path := environment.model_file) and not path.is_file():
        found.append(
            checks.Warning(
                f"SAGE_MODEL_FILE is {path}, and there is no such file.",
                hint="Give the path of a GGUF file.",
                id="sage.W012",
            )
        )
    if environment.anthropic_base_url.rstrip("/").endswith("/v1"):
        found.append(
            checks.Warning(
                "ANTHROPIC_BASE_URL ends in /v1, which Sage adds itself.",
                hint="Leave it out (docs/models.md).",
                id="sage.W013",
            )
        )
    return found


def _is_writable(folder: Path) -> bool:
    """Return whether a folder, or the nearest one above it that is there, can be written. Makes none."""
    there = next(each for each in (folder, *folder.parents) if os.access(each, os.F_OK))
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def warn_of_foreign_origins(**_: object) -> list[checks.CheckMessage]:
    """Warn of origins whose host is refused: forms of those pages never arrive."""
    return [
        checks.Warning(
            f"CSRF_TRUSTED_ORIGINS has {origin}, whose host isn't in ALLOWED_HOSTS.",
            hint="Add it there, or correct it.",
            id="sage.W014",
        )
        for origin in settings.CSRF_TRUSTED_ORIGINS
        if not _is_allowed(origin)
    ]


def _is_allowed(origin: str) -> bool:
    """Return whether the host of an origin is allowed; with an asterisk, whether one of its hosts is."""
    place = urlsplit(origin).netloc
    host, _ = split_domain_port(place.removeprefix("*."))
    if not place.startswith("*."):
        return validate_host(host, settings.ALLOWED_HOSTS)
    is_one_allowed = any(each.lower().endswith(f".{host}") for each in settings.ALLOWED_HOSTS)
    return is_one_allowed or validate_host(f"any.{host}", settings.ALLOWED_HOSTS)


def warn_of_mail_settings(**_: object) -> list[checks.CheckMessage]:
    """Warn before a deployment about settings that lose mails or leave accounts unsafe."""
    environment = settings.ENVIRONMENT
    found: list[checks.CheckMessage] = []
    if settings.HAS_MAIL and settings.DEFAULT_FROM_EMAIL.endswith("@localhost>"):
        found.append(
            checks.Warning(
                f"Mails are sent from {settings.DEFAULT_FROM_EMAIL}, which mail servers refuse.",
                hint="Set DEFAULT_FROM_EMAIL.",
                id="sage.W003",
            )
        )
    if settings.HAS_MAIL and "*" in settings.ALLOWED_HOSTS:
        found.append(
            checks.Warning(
                "ALLOWED_HOSTS holds *, so whoever asks for a mail decides where its links lead.",
                hint="Name the hosts.",
                id="sage.W004",
            )
        )
    if not settings.HAS_MAIL and environment.is_signup_chosen and environment.signup == "open":
        found.append(
            checks.Warning(
                "SAGE_SIGNUP is open and EMAIL_URL is unset, so nobody's email address is confirmed.",
                hint="Set EMAIL_URL, or SAGE_SIGNUP=closed.",
                id="sage.W005",
            )
        )
    return found


def check_inbox(**_: object) -> list[checks.CheckMessage]:
    """Report settings of incoming mail with which none is ever taken."""
    environment = settings.ENVIRONMENT
    has_place, has_server = environment.inbox is not None, bool(environment.inbox_server)
    found: list[checks.CheckMessage] = []
    if has_place != has_server:
        given, missing = ("SAGE_INBOX_URL", "SAGE_INBOX_AUTHSERV_ID")[:: 1 if has_place else -1]
        found.append(
            checks.Error(
                f"{given} is set and {missing} isn’t, so no mail is read.",
                hint="Set both, or neither.",
                id="sage.E007",
            )
        )
    elif has_place and not settings.HAS_MAIL:
        found.append(
            checks.Warning(
                "SAGE_INBOX_URL is set and EMAIL_URL isn’t: no address is confirmed, so no mail is taken.",
                hint="Set EMAIL_URL.",
                id="sage.W008",
            )
        )
    return found


def warn_of_speech_model(**_: object) -> list[checks.CheckMessage]:
    """Warn if the file that is to turn recordings into words can't: pages then have no microphone."""
    problem = speech_problem()
    hint = "See docs/operating/voice.md. Until then, pages have no microphone."
    return [checks.Warning(problem, hint=hint, id="sage.W009")] if problem else []


def warn_of_plain_backups(**_: object) -> list[checks.CheckMessage]:
    """Warn before a deployment if daily backups can be read by whoever gets hold of them."""
    if not settings.SAGE_BACKUP_DIR or settings.SAGE_BACKUP_KEY:
        return []
    return [
        checks.Warning(
            "SAGE_BACKUP_DIR is set and SAGE_BACKUP_KEY isn't, so backups aren't encrypted.",
            hint="Set SAGE_BACKUP_KEY: manage.py backup --new-key prints one.",
            id="sage.W007",
        )
    ]


def warn_of_missing_layers(**_: object) -> list[checks.CheckMessage]:
    """Warn before a deployment if the system lets readers of untrusted files keep rights."""
    missing = missing_layers()
    if missing is None:
        said = "No process that reads untrusted files could be started."
    elif missing:
        said = f"This system refuses layers of the sandbox of untrusted files: {', '.join(missing)}."
    else:
        return []
    return [checks.Warning(said, hint="See docs/operating/sandbox.md.", id="sage.W006")]
