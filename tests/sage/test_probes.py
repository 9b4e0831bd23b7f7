"""Who watches Sage asks it by an address; pages are for the names in ALLOWED_HOSTS only."""

from http import HTTPStatus

import pytest
from django.core.management import CommandError, call_command
from django.test import AsyncClient, Client
from pytest_django import Settings

from sage.web_process import _address

pytestmark = pytest.mark.django_db(transaction=True)

BY_ADDRESS = {"host": "127.0.0.1:8001"}


@pytest.fixture(autouse=True)
def public(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["sage.example"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://sage.example"]


@pytest.mark.parametrize("hosts", [["sage.example"], [".sage.example"], ["*"]])
async def test_probes_answer_by_an_address(hosts: list[str], settings: Settings) -> None:
    settings.ALLOWED_HOSTS = hosts
    settings.SAGE_METRICS_TOKEN = "a token of the metrics server"
    client = AsyncClient()
    for path in ("/healthz", "/readyz", "/metrics"):
        headers = {**BY_ADDRESS, "authorization": f"Bearer {settings.SAGE_METRICS_TOKEN}"}
        assert (await client.get(path, headers=headers)).status_code == HTTPStatus.OK


def test_pages_are_refused_by_another_name() -> None:
    assert Client().get("/accounts/login/", headers=BY_ADDRESS).status_code == HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize(
    ("hosts", "origins", "address"),
    [
        (["localhost"], [], "http://localhost:8001/"),
        (["*"], [], "http://localhost:8001/"),
        (["sage.example"], ["https://sage.example"], "https://sage.example/"),
        ([".sage.example"], [], "http://sage.example:8001/"),
        ([".sage.example"], ["https://*.sage.example"], "http://sage.example:8001/"),
        ([".sage.example"], ["https://*.sage.example", "https://sage.example"], "https://sage.example/"),
    ],
)
def test_the_address_that_is_printed_works(
    hosts: list[str], origins: list[str], address: str, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS = hosts, origins
    assert _address("0.0.0.0", 8001) == address


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_a_port_that_is_none_is_named(port: str) -> None:
    with pytest.raises(CommandError, match=f"must be a number from 0 to 65535, not '{port}'"):
        call_command("web", f"--port={port}")
