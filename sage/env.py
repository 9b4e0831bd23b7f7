"""All variables of Sage: each is declared once, with its type, its default and what it is for.

`python -m tests.architecture.variables` writes `.env.example` and the table in
`docs/operating/variables.md` from it. This is the only module that reads the environment. It creates no
files, starts no server and doesn't import Django's settings, so that tests can pass any mapping. An invalid
value raises `SettingError`, whose text is the one line that the operator sees.

A plain pydantic model: Sage loads pydantic anyway, and `pydantic_settings` takes another third of a second of
CPU at every start. Over 300 lines, because it is a list.
"""

import re
from collections.abc import Mapping, Sequence
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from sage.env_values import (
    LOCAL_HOSTS,
    BackupKey,
    Bucket,
    ChosenFile,
    ChosenSignup,
    Contact,
    Database,
    Flag,
    Folder,
    Hosts,
    HttpUrl,
    Inbox,
    MailServer,
    Origins,
    Rate,
    RedisUrl,
    Secret,
    Sender,
    ServerName,
    Signup,
    Token,
    VapidKey,
    is_local,
    is_mail_address,
    whole_number,
)
from sessions_app.rate import RateLimit


class StartError(Exception):
    """Sage can't start. The text is one line that says what to do."""


class SettingError(StartError):
    """A variable has an unusable value. The text names it and says what would work."""


class Environment(BaseModel):
    """The typed environment. An empty string means that the variable is unset."""

    model_config = ConfigDict(frozen=True)

    anthropic_api_key: str = Field(
        "",
        alias="ANTHROPIC_API_KEY",
        description="The key of the model's API. Without a key and a base URL, the scripted practice model "
        "answers: free, and labelled on every page.",
    )
    anthropic_base_url: HttpUrl = Field(
        "",
        alias="ANTHROPIC_BASE_URL",
        description="Another server that implements the Messages API, without /v1 (docs/models.md).",
    )
    model_file: ChosenFile = Field(
        None,
        alias="SAGE_MODEL_FILE",
        description="A model in a GGUF file, which up serves itself with llama.cpp and uses for everything "
        "(uv run --extra local manage.py up). Instead of a key and a base URL. Relative to the project.",
    )
    model: str = Field(
        "claude-sonnet-5-5",
        alias="SAGE_MODEL",
        description="Talks with people. The models below that are unset are this one, too, unless it is one "
        "of Anthropic's that Sage knows.",
    )
    brief_model: str = Field(
        "claude-haiku-5-5", alias="SAGE_BRIEF_MODEL", description="Writes briefs, summaries and titles."
    )
    classify_model: str = Field(
        "claude-haiku-5-5",
        alias="SAGE_CLASSIFY_MODEL",
        description="Says what documents are, eight in a call.",
    )
    critic_model: str = Field(
        "claude-sonnet-5-5",
        alias="SAGE_CRITIC_MODEL",
        description="Reads documents again that the one before was unsure of.",
    )
    safety_model: str = Field(
        "",
        alias="SAGE_SAFETY_MODEL",
        description="Takes a second look at messages for danger. Unset: the model in SAGE_BRIEF_MODEL; off: "
        "no second look.",
    )
    database: Database = Field(
        None,
        alias="DATABASE_URL",
        description="Like postgres://user:password@host:5432/name. Not through a PgBouncer in transaction "
        "mode: it breaks session locks (docs/operating/database.md). "
        "Unset: the embedded PostgreSQL, in the data folder.",
    )
    redis_url: RedisUrl = Field(
        "",
        alias="REDIS_URL",
        description="Like redis://localhost:6379/0, for any number of web processes. Unset: a single one.",
    )
    s3_bucket: Bucket = Field(
        "", alias="SAGE_S3_BUCKET", description="Where files are stored. Unset: on disk, in the data folder."
    )
    s3_endpoint_url: HttpUrl = Field(
        "", alias="SAGE_S3_ENDPOINT_URL", description="For S3 servers other than Amazon's."
    )
    aws_access_key_id: str = Field(
        "", alias="AWS_ACCESS_KEY_ID", description="The key of the S3 account, if it needs one."
    )
    aws_secret_access_key: str = Field(
        "", alias="AWS_SECRET_ACCESS_KEY", description="The secret of that key."
    )
    aws_session_token: str = Field(
        "", alias="AWS_SESSION_TOKEN", description="The token of a key that is valid for a while."
    )
    aws_region: str = Field(
        "",
        validation_alias=AliasChoices("AWS_REGION", "AWS_DEFAULT_REGION"),
        description="The bucket's region.",
    )
    data_dir: Folder = Field(
        Path(".data"),
        alias="SAGE_DATA_DIR",
        validate_default=True,
        description="Holds the embedded database, files and secrets: keep it private. Relative to the "
        "project.",
    )
    backup_dir: ChosenFile = Field(
        None,
        alias="SAGE_BACKUP_DIR",
        description="Where a worker puts a backup each night; each stays for a week. Keep it private and on "
        "another disk. Relative to the project. Unset: no daily backups.",
    )
    backup_key: BackupKey = Field(
        None,
        alias="SAGE_BACKUP_KEY",
        description="Encrypts backups: manage.py backup --new-key prints one. Keep a copy elsewhere: without "
        "it they can't be restored. Unset: backups aren't encrypted.",
    )
    secret_key: Secret = Field(
        "",
        alias="SECRET_KEY",
        description="Signs cookies and links; at least 32 characters. Unset: generated once and stored in "
        "the data folder.",
    )
    is_debug: Flag = Field(
        False,
        alias="DEBUG",
        description="Shows errors in full and reads static files unhashed: for development only.",
    )
    allowed_hosts: Hosts = Field(
        LOCAL_HOSTS, alias="ALLOWED_HOSTS", description="Comma-separated host names, without scheme and port."
    )
    csrf_trusted_origins: Origins = Field(
        (),
        alias="CSRF_TRUSTED_ORIGINS",
        description="Comma-separated, like https://sage.example. An https origin means that a proxy "
        "terminates TLS and sets X-Forwarded-Proto and X-Forwarded-For: cookies become secure and "
        "http is redirected.",
    )
    email: MailServer = Field(
        None,
        alias="EMAIL_URL",
        description="Like smtp+tls://user:password@host:587. New accounts and changed addresses must then be "
        "confirmed by a link. Unset: mails are printed to the log.",
    )
    mail_from: Sender = Field(
        "",
        alias="DEFAULT_FROM_EMAIL",
        description="The sender of all mails, like Sage <sage@sage.example>. Unset: the address in "
        "EMAIL_URL, otherwise sage@ the first public name in ALLOWED_HOSTS.",
    )
    inbox: Inbox = Field(
        None,
        alias="SAGE_INBOX_URL",
        description="The mailbox whose mails become documents, like "
        "imaps://sage%40sage.example:password@host:993/INBOX. Needs the next variable and EMAIL_URL "
        "(docs/operating/mail.md). Unset: no mail comes in.",
    )
    inbox_server: ServerName = Field(
        "",
        alias="SAGE_INBOX_AUTHSERV_ID",
        description="The name that the mailbox’s own server gives itself in Authentication-Results headers, "
        "like mx.sage.example.",
    )
    vapid_private_key: VapidKey = Field(
        "",
        alias="SAGE_VAPID_PRIVATE_KEY",
        description="Signs notifications (web push): 32 bytes in URL-safe base64. Unset: generated once and "
        "stored in the data folder. Without one (database, secret key and files elsewhere) there "
        "are no notifications until it is set.",
    )
    vapid_subject: Contact = Field(
        "",
        alias="SAGE_VAPID_SUBJECT",
        description="Whom push services contact about them, like mailto:me@sage.example. Unset: the sender "
        "of all mails.",
    )
    chosen_signup: ChosenSignup = Field(
        None,
        alias="SAGE_SIGNUP",
        description="open or closed. Unset: open if ALLOWED_HOSTS and the bound address are local to this "
        "machine, otherwise closed.",
    )
    max_rounds: Annotated[int, whole_number(1, 50)] = Field(
        5, alias="SAGE_MAX_ROUNDS", description="Requests to the model in a part of a turn."
    )
    model_concurrency: Annotated[int | None, whole_number(1, 1000)] = Field(
        None,
        alias="SAGE_MODEL_CONCURRENCY",
        description="Calls to the model at once, of all processes together; others wait, and what a person "
        "waits for goes first. Unset: 1 for a local server, otherwise any number.",
    )
    turn_seconds: Annotated[int | None, whole_number(1, 3600)] = Field(
        None,
        alias="SAGE_TURN_SECONDS",
        description="How long a part of a turn may take. A part ends where Sage waits for an answer. Unset: "
        "55, and 300 for a server that runs the model itself (llama.cpp, Ollama).",
    )
    max_tool_calls: Annotated[int, whole_number(1, 200)] = Field(
        15, alias="SAGE_MAX_TOOL_CALLS", description="Tool calls in a part of a turn."
    )
    max_tokens: Annotated[int | None, whole_number(1, 200_000)] = Field(
        None,
        alias="SAGE_MAX_TOKENS",
        description="The longest reply to one request of a turn, in tokens. Unset: 8,192, and 1,024 for a "
        "server that runs the model itself.",
    )
    context_tokens: Annotated[int | None, whole_number(4_000, 10_000_000)] = Field(
        None,
        alias="SAGE_CONTEXT_TOKENS",
        description="How many tokens a model takes at once, prompt and reply together. Unset: what is known "
        "of the model, otherwise 32,000. Below 16,000 requests are compact (docs/models.md).",
    )
    window_messages: Annotated[int, whole_number(1, 1000)] = Field(
        15,
        alias="SAGE_WINDOW_MESSAGES",
        description="The least messages that a request has word for word; the brief covers those before.",
    )
    window_step: Annotated[int, whole_number(1, 1000)] = Field(
        20,
        alias="SAGE_WINDOW_STEP",
        description="How many messages leave the window at a time; fewer leave more of the cache unused.",
    )
    session_ttl_hours: Annotated[int, whole_number(1, 8760)] = Field(
        24,
        alias="SAGE_SESSION_TTL_HOURS",
        description="After so many idle hours an arc session expires, and an open conversation leaves its "
        "arc.",
    )
    rate_limit: Rate = Field(
        RateLimit(turns=20, seconds=60),
        alias="SAGE_RATE_LIMIT",
        description="Turns per user in a period: s, m or h.",
    )
    api_rate: Rate = Field(
        RateLimit(turns=120, seconds=60),
        alias="SAGE_API_RATE",
        description="Requests of a program in a period, like 120/60s. All programs of a person together may "
        "send two and a half times as many.",
    )
    daily_tokens: Annotated[int | None, whole_number(1, 10**11)] = Field(
        None, alias="SAGE_DAILY_TOKENS", description="Tokens per user and day. Unset: no budget."
    )
    max_upload_mb: Annotated[int, whole_number(1, 1024)] = Field(
        25, alias="SAGE_MAX_UPLOAD_MB", description="The largest document or calendar file, in megabytes."
    )
    max_files: Annotated[int, whole_number(1, 10**9)] = Field(
        5_000, alias="SAGE_MAX_FILES", description="Files per user."
    )
    max_files_mb: Annotated[int, whole_number(1, 10**9)] = Field(
        1_000, alias="SAGE_MAX_FILES_MB", description="Megabytes per user, including all versions."
    )
    embedding_model: str = Field(
        "",
        alias="SAGE_EMBEDDING_MODEL",
        description="Recall by meaning too: the name or folder of a sentence-transformers model. Unset: by "
        "words only. Needs pgvector and an extra: uv sync --extra semantic",
    )
    transcribe_url: HttpUrl = Field(
        "",
        alias="SAGE_TRANSCRIBE_URL",
        description="The server that turns recordings into words by OpenAI's /v1/audio/transcriptions, like "
        "https://api.openai.com (docs/operating/voice.md). Unset: the file in SAGE_TRANSCRIBE_MODEL does "
        "that; without one, pages have no microphone.",
    )
    transcribe_key: str = Field(
        "", alias="SAGE_TRANSCRIBE_KEY", description="The key of that server, if it needs one."
    )
    transcribe_model: str = Field(
        "whisper-1",
        alias="SAGE_TRANSCRIBE_MODEL",
        description="The model that it uses for them. Without a server: a model file of whisper.cpp, like "
        "ggml-base.bin, relative to the project. Needs an extra: uv sync --extra voice",
    )
    metrics_token: Token = Field(
        "",
        alias="SAGE_METRICS_TOKEN",
        description="The bearer token of a Prometheus server that reads /metrics, at least 16 "
        "characters. Unset: only signed-in staff may read it.",
    )
    sentry_dsn: HttpUrl = Field(
        "",
        alias="SENTRY_DSN",
        description="Errors to Sentry, without what people wrote. Needs an extra: uv sync --extra sentry",
    )
    otlp_endpoint: HttpUrl = Field(
        "",
        alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="Traces to an OpenTelemetry collector, like http://localhost:4318. Needs an extra: uv "
        "sync --extra otel",
    )

    @property
    def is_signup_chosen(self) -> bool:
        return self.chosen_signup is not None

    @property
    def is_local(self) -> bool:
        """Whether only this machine is allowed to ask, so that nobody else uses Sage."""
        return all(map(is_local, self.allowed_hosts))

    @property
    def signup(self) -> Signup:
        return self.chosen_signup or ("open" if self.is_local else "closed")


def read_environment(values: Mapping[str, str], project_dir: Path) -> Environment:
    """Read all variables in `values`; blank counts as unset. Raises `SettingError`.

    Relative paths start at `project_dir`.
    """
    stripped = ((name, values.get(name, "").strip()) for name in variable_names())
    given = {name: value for name, value in stripped if value}
    for name, value in given.items():
        if "\x00" in value:
            raise SettingError(f"{name} holds a NUL character.")
    try:
        return Environment.model_validate(given, context=project_dir)
    except ValidationError as refused:
        error = refused.errors()[0]
        raise SettingError(f"{error['loc'][0]} {error['ctx']['error']}") from None


def variable_names() -> Sequence[str]:
    """Return the names of all variables, in order."""
    return [name for field in Environment.model_fields.values() for name in names_of(field)]


def names_of(field: FieldInfo) -> Sequence[str]:
    """Return the names of a variable: the first that is set counts."""
    if isinstance(field.validation_alias, AliasChoices):
        return [str(name) for name in field.validation_alias.choices]
    return [str(field.alias)]


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


def choose_vapid_subject(environment: Environment) -> str:
    """Return whom push services can contact: `SAGE_VAPID_SUBJECT`, otherwise the sender of all mails."""
    return environment.vapid_subject or f"mailto:{parseaddr(choose_mail_from(environment))[1]}"
