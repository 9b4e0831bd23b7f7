"""System checks of the settings."""

import os
import re
from pathlib import Path

import pytest
from django.core.checks import WARNING
from pytest_django import Settings

from sage.checks import (
    check_places,
    warn_of_foreign_origins,
    warn_of_mail_settings,
    warn_of_retired_models,
)
from tests.sage.processes import PROJECT, finished


def test_the_documented_production_environment_is_clean(tmp_path: Path) -> None:
    environment = {
        "SAGE_DATA_DIR": str(tmp_path),
        "SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "ALLOWED_HOSTS": "sage.example",
        "CSRF_TRUSTED_ORIGINS": "https://sage.example",
        "DATABASE_URL": "postgres://sage:password@database.example/sage",
        "REDIS_URL": "redis://redis.example/0",
        "SAGE_S3_BUCKET": "sage",
        "EMAIL_URL": "smtp+tls://sage:password@mail.example:587",
        "ANTHROPIC_API_KEY": "key",
        "SAGE_SIGNUP": "closed",
    }
    page = (PROJECT / "docs/operating/variables.md").read_text()
    documented = page.partition("## A production environment")[2]
    block = documented.partition("```sh\n")[2].partition("```")[0]
    assert set(re.findall(r"^([A-Z_0-9]+)=", block, re.MULTILINE)) == set(environment) - {"SAGE_DATA_DIR"}
    models = {"SAGE_CLASSIFY_MODEL": "claude-sonnet-5-5", "SAGE_CRITIC_MODEL": "claude-haiku-5-5"}
    code, output = finished(
        "manage.py", "check", "--deploy", "--fail-level", "WARNING", environment=environment | models
    )
    assert (code, output.strip()) == (0, "System check identified no issues (2 silenced).")


@pytest.mark.parametrize(("model", "count"), [("claude-2.1", 1), ("claude-sonnet-5-5", 0)])
def test_a_model_that_the_sdk_deprecates_is_warned_of(model: str, count: int, settings: Settings) -> None:
    settings.SAGE_BRIEF_MODEL = model
    warnings = warn_of_retired_models()
    assert len(warnings) == count
    assert all("SAGE_BRIEF_MODEL is claude-2.1" in warning.msg for warning in warnings)


def test_a_sender_that_mail_servers_refuse_and_links_to_any_host_are_warned_of(settings: Settings) -> None:
    settings.HAS_MAIL = True
    settings.ALLOWED_HOSTS = ["*"]
    assert [warning.id for warning in warn_of_mail_settings()] == ["sage.W003", "sage.W004"]
    settings.DEFAULT_FROM_EMAIL, settings.ALLOWED_HOSTS = "Sage <sage@sage.example>", ["sage.example"]
    assert warn_of_mail_settings() == []


def test_accounts_that_nobody_confirms_are_warned_of_where_the_operator_opens_them(
    settings: Settings,
) -> None:
    assert warn_of_mail_settings() == []
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"chosen_signup": "open"})
    assert [warning.id for warning in warn_of_mail_settings()] == ["sage.W005"]


def test_a_misspelt_variable_is_warned_of(tmp_path: Path) -> None:
    environment = {"SAGE_DATA_DIR": str(tmp_path), "SAGE_SINGUP": "closed"}
    code, output = finished("manage.py", "check", environment=environment)
    assert code == 0
    assert "(sage.W010) SAGE_SINGUP in the environment is no variable of Sage and is ignored." in output
    assert "Did you mean SAGE_SIGNUP?" in output


def test_places_that_can_not_be_what_was_meant_are_told(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    wrong = {
        "backup_dir": tmp_path / "file" / "backups",
        "model_file": tmp_path / "none.gguf",
        "anthropic_base_url": "http://127.0.0.1:8080/v1/",
    }
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update=wrong)
    told = check_places()
    assert [message.id for message in told] == ["sage.W011", "sage.W012", "sage.W013"]
    assert f"{tmp_path}/file/backups, which this process can't make or write." in told[0].msg
    assert {message.level for message in told} == {WARNING}
    (tmp_path / "file").rename(tmp_path / "model.gguf")
    right = {
        "backup_dir": tmp_path / "a" / "b",
        "model_file": tmp_path / "model.gguf",
        "anthropic_base_url": "http://127.0.0.1:8080",
    }
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update=right)
    assert check_places() == []
    assert [path.name for path in tmp_path.iterdir()] == ["model.gguf"]


def test_a_folder_for_backups_that_is_there_and_can_not_be_written_is_told(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a read-only filesystem, which a test can't mount.
    monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"backup_dir": tmp_path})
    assert [message.id for message in check_places()] == ["sage.W011"]


@pytest.mark.parametrize(
    ("origin", "hosts", "count"),
    [
        ("https://sage.example", ["sage.example"], 0),
        ("https://sage.example:8443", [".sage.example"], 0),
        ("https://*.sage.example", [".sage.example"], 0),
        ("https://*.sage.example", ["a.sage.example", "b.sage.example"], 0),
        ("https://*.sage.example", [".example"], 0),
        ("https://*.sage.example", ["sage.example"], 1),
        ("http://[::1]:8000", ["[::1]"], 0),
        ("https://anything.example", ["*"], 0),
        ("https://sage.example", ["localhost", "sage.exmaple"], 1),
    ],
)
def test_an_origin_whose_host_is_refused_is_warned_of(
    origin: str, hosts: list[str], count: int, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS = hosts, [origin]
    assert [warning.id for warning in warn_of_foreign_origins()] == ["sage.W014"] * count
