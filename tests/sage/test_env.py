"""The settings: what each variable accepts, and how an invalid one ends the start."""

import errno
import re
import stat
from dataclasses import astuple
from pathlib import Path

import pytest

from sage.chosen_models import choose_models
from sage.data_folder import (
    advice,
    make_next_secret,
    make_vapid_key,
    next_secrets,
    open_data_folder,
    read_or_make_secret,
    use_next_secret,
)
from sage.env import (
    Environment,
    SettingError,
    choose_mail_from,
    choose_vapid_subject,
    read_environment,
)
from sage.env_values import is_vapid_key
from sessions_app.rate import RateLimit
from tests.architecture.variables import EXAMPLE, VARIABLES, env_example, page_with_table
from tests.sage.processes import finished

WRONG_VALUES = [
    ("SAGE_MAX_ROUNDS", "five"),
    ("SAGE_MAX_ROUNDS", "0"),
    ("SAGE_TURN_SECONDS", "-1"),
    ("SAGE_MAX_TOKENS", "1e3"),
    ("SAGE_MAX_UPLOAD_MB", "99999"),
    ("SAGE_DAILY_TOKENS", "many"),
    ("SAGE_RATE_LIMIT", "20 per minute"),
    ("SAGE_RATE_LIMIT", "0/60s"),
    ("SAGE_SIGNUP", "maybe"),
    ("DEBUG", "perhaps"),
    ("SECRET_KEY", "short"),
    ("ALLOWED_HOSTS", "https://sage.example"),
    ("CSRF_TRUSTED_ORIGINS", "sage.example"),
    ("DATABASE_URL", "mysql://localhost/sage"),
    ("DATABASE_URL", "postgres://localhost"),
    ("DATABASE_URL", "postgres://localhost:port/sage"),
    ("REDIS_URL", "localhost:6379"),
    ("ANTHROPIC_BASE_URL", "localhost"),
    ("ANTHROPIC_BASE_URL", "http://host:port"),
    ("SAGE_S3_ENDPOINT_URL", "s3.example"),
    ("EMAIL_URL", "carrier-pigeon://home"),
    ("DEFAULT_FROM_EMAIL", "sage"),
    ("DEFAULT_FROM_EMAIL", "Sage <sage@x.example>\nBcc: a@b.example"),
    ("SAGE_VAPID_PRIVATE_KEY", "short"),
    ("SAGE_VAPID_PRIVATE_KEY", "A" * 43),
    ("SAGE_VAPID_PRIVATE_KEY", "_" * 43),
    ("SAGE_VAPID_SUBJECT", "sage.example"),
    ("SAGE_VAPID_SUBJECT", "mailto:sage"),
    ("SAGE_DATA_DIR", "~nobody-of-that-name/data"),
    ("SAGE_MODEL", "claude\x00"),
    ("SAGE_S3_BUCKET", "sage files"),
    ("SAGE_S3_BUCKET", "s3://sage-files"),
    ("SAGE_METRICS_TOKEN", "fifteen letters"),
]


def _read(**values: str) -> Environment:
    return read_environment(values, Path("/project"))


def test_unset_variables_have_the_defaults_of_the_specification() -> None:
    environment = _read()
    assert environment.model == environment.critic_model == "claude-sonnet-5-5"
    assert environment.brief_model == environment.classify_model == "claude-haiku-5-5"
    assert (environment.max_rounds, environment.turn_seconds, environment.max_tool_calls) == (5, None, 15)
    assert (environment.max_tokens, environment.window_messages, environment.window_step) == (None, 15, 20)
    assert (environment.session_ttl_hours, environment.max_upload_mb) == (24, 25)
    assert environment.rate_limit == RateLimit(turns=20, seconds=60)
    assert environment.daily_tokens is None
    assert environment.data_dir == Path("/project/.data")
    assert environment.database is None
    assert not environment.is_debug
    assert environment.signup == "open"


def test_an_own_model_does_everything_that_no_other_is_set_for() -> None:
    own = choose_models(_read(SAGE_MODEL="own"))
    assert set(astuple(own)) == {"own"}
    two = choose_models(_read(SAGE_MODEL="own", SAGE_BRIEF_MODEL="small", SAGE_SAFETY_MODEL="off"))
    assert astuple(two) == ("own", "small", "own", "own", "")
    for model in ("claude-sonnet-5-5", "claude-haiku-4-5-20251001"):
        known = choose_models(_read(SAGE_MODEL=model))
        assert (known.coach, known.brief, known.critic) == (model, "claude-haiku-5-5", "claude-sonnet-5-5")
        assert known.safety == "claude-haiku-5-5"


def test_a_blank_variable_counts_as_unset() -> None:
    assert _read(SAGE_MAX_ROUNDS="  ", DATABASE_URL="", DEBUG=" ") == _read()


@pytest.mark.parametrize(("name", "value"), WRONG_VALUES)
def test_a_wrong_value_is_refused_in_one_line_that_names_the_variable(name: str, value: str) -> None:
    with pytest.raises(SettingError) as refused:
        _read(**{name: value})
    assert str(refused.value).startswith(name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "name", ["DATABASE_URL", "REDIS_URL", "EMAIL_URL", "SECRET_KEY", "SENTRY_DSN", "SAGE_VAPID_PRIVATE_KEY"]
)
def test_a_refusal_does_not_repeat_what_may_be_a_secret(name: str) -> None:
    with pytest.raises(SettingError) as refused:
        _read(**{name: "wrong://me:hunter2@"})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("hosts", "signup"),
    [
        ("localhost", "open"),
        ("127.0.0.1,[::1],localhost", "open"),
        ("sage.example", "closed"),
        ("localhost,*", "closed"),
        ("localhost,10.0.0.5", "closed"),
    ],
)
def test_strangers_may_sign_up_only_while_just_this_machine_is_allowed(hosts: str, signup: str) -> None:
    assert _read(ALLOWED_HOSTS=hosts).signup == signup


@pytest.mark.parametrize(
    ("values", "sender"),
    [
        ({}, "Sage <sage@localhost>"),
        ({"ALLOWED_HOSTS": "localhost,10.0.0.5,*,[::1]"}, "Sage <sage@localhost>"),
        ({"ALLOWED_HOSTS": "localhost,.sage.example"}, "Sage <sage@sage.example>"),
        ({"EMAIL_URL": "smtp://me:secret@mail.example:25"}, "Sage <sage@localhost>"),
        (
            {
                "EMAIL_URL": "smtp+tls://me%40x.example:secret@mail.example:587",
                "ALLOWED_HOSTS": "sage.example",
            },
            "Sage <me@x.example>",
        ),
        (
            {"DEFAULT_FROM_EMAIL": "Coach <c@y.example>", "ALLOWED_HOSTS": "sage.example"},
            "Coach <c@y.example>",
        ),
    ],
)
def test_mails_come_from_the_address_that_is_said_else_the_servers_else_the_hosts(
    values: dict[str, str], sender: str
) -> None:
    assert choose_mail_from(_read(**values)) == sender


def test_a_database_url_may_name_a_socket_and_a_password_with_special_characters() -> None:
    database = _read(DATABASE_URL="postgres://me:a%2Fb%40c@/sage?host=/run/postgresql").database
    assert database is not None
    assert (database["HOST"], database["NAME"], database["PASSWORD"]) == ("/run/postgresql", "sage", "a/b@c")


def test_the_example_and_the_documentation_say_what_the_variables_are() -> None:
    made_anew = "python -m tests.architecture.variables"
    assert EXAMPLE.read_text() == env_example(), made_anew
    assert VARIABLES.read_text() == page_with_table(VARIABLES.read_text()), made_anew
    assert all(field.description for field in Environment.model_fields.values())


def test_the_example_shows_the_defaults() -> None:
    shown = dict(re.findall(r"^#([A-Z][A-Z0-9_]+)=(.+)$", EXAMPLE.read_text(), re.MULTILINE))
    assert shown
    assert _read(**shown) == _read()


@pytest.mark.slow
def test_a_wrong_value_ends_a_command_with_one_line_and_code_1(tmp_path: Path) -> None:
    environment = {"SAGE_MAX_ROUNDS": "many", "SAGE_DATA_DIR": str(tmp_path)}
    code, output = finished("manage.py", "check", environment=environment)
    assert code == 1
    assert output.strip().splitlines() == [
        "Sage can't start: SAGE_MAX_ROUNDS must be a whole number from 1 to 50, not 'many'."
    ]


@pytest.mark.slow
def test_a_data_folder_that_can_not_be_made_ends_a_command_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code, output = finished("manage.py", "up", environment={"SAGE_DATA_DIR": str(tmp_path / "file" / "data")})
    assert code == 1
    assert len(output.strip().splitlines()) == 1
    assert "set SAGE_DATA_DIR" in output


@pytest.mark.parametrize(
    ("number", "what"), [(errno.ENOSPC, "free some space"), (errno.EACCES, "that this user can write")]
)
def test_the_advice_for_a_data_folder_fits_its_fault(number: int, what: str) -> None:
    assert what in advice(OSError(number, "a fault"))


@pytest.mark.slow
def test_importing_the_settings_starts_no_database(tmp_path: Path) -> None:
    code, output = finished("-c", "import sage.settings", environment={"SAGE_DATA_DIR": str(tmp_path)})
    assert (code, output) == (0, "")
    assert not (tmp_path / "postgres").exists()


def test_the_secret_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    open_data_folder(folder)
    secret = read_or_make_secret(folder / "secret_key")
    assert len(secret) >= 50
    assert read_or_make_secret(folder / "secret_key") == secret
    assert stat.S_IMODE((folder / "secret_key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == ["secret_key"]


def test_a_prepared_secret_is_put_into_place_once_whoever_is_first(tmp_path: Path) -> None:
    assert next_secrets(tmp_path) == []
    read_or_make_secret(tmp_path / "secret_key")
    secret = make_next_secret(tmp_path)
    assert next_secrets(tmp_path) == [secret]
    for _ in range(2):
        use_next_secret(tmp_path)
    assert read_or_make_secret(tmp_path / "secret_key") == secret
    assert next_secrets(tmp_path) == []


def test_the_key_of_web_push_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "vapid_private_key"
    key = read_or_make_secret(path, make_vapid_key)
    assert is_vapid_key(key)
    assert read_or_make_secret(path, make_vapid_key) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert _read(SAGE_VAPID_PRIVATE_KEY=f"{key}=").vapid_private_key == key


def test_push_services_contact_the_sender_of_mails_unless_another_is_named() -> None:
    mail_from = {"DEFAULT_FROM_EMAIL": "Sage <sage@sage.example>"}
    assert choose_vapid_subject(_read(**mail_from)) == "mailto:sage@sage.example"
    subject = "https://sage.example"
    assert choose_vapid_subject(_read(**mail_from, SAGE_VAPID_SUBJECT=f"{subject}/")) == subject
