"""The manifest, the service worker and the offline page are the same for everybody."""

import json
import re
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import Client
from PIL import Image

from coaching.safety.lines import shipped_offer
from coaching.templatetags.bundles import script_files
from coaching.views.shell import OFFLINE_FILES


def shell_of(client: Client) -> dict[str, object]:
    """Return what the service worker is given."""
    text = client.get("/service-worker.js").content.decode()
    found = re.search(r"self\.shell = (\{.*\});\nimportScripts\(\"[^\"]+service-worker[^\"]*\.js\"\);", text)
    assert found is not None
    shell: dict[str, object] = json.loads(found[1])
    return shell


def test_the_manifest_names_icons_of_the_sizes_that_it_says(client: Client) -> None:
    answer = client.get("/manifest.webmanifest")
    assert answer["Content-Type"] == "application/manifest+json"
    manifest = answer.json()
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == ("/", "/", "standalone")
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    for icon in manifest["icons"]:
        path = finders.find(icon["src"].removeprefix("/static/"))
        with Image.open(str(path)) as image:
            assert f"{image.width}x{image.height}" == icon["sizes"]
            assert (image.format, icon["type"]) == ("PNG", "image/png")


def test_the_worker_is_never_stored_and_serves_the_whole_site(client: Client) -> None:
    answer = client.get("/service-worker.js")
    assert answer["Content-Type"] == "text/javascript"
    assert "no-store" in answer["Cache-Control"]
    assert "script-src 'self'" in answer["Content-Security-Policy"]


def test_the_worker_stores_all_that_the_offline_page_loads_and_only_static_files(client: Client) -> None:
    page = client.get("/offline/").content.decode()
    loaded = set(re.findall(r'(?:href|src)="(/static/[^"#]+)', page))
    files = shell_of(client)["files"]
    assert isinstance(files, list)
    assert loaded <= set(files)
    assert all(file.startswith("/static/") for file in files)
    for name in (*script_files("offline"), *OFFLINE_FILES):
        assert finders.find(name), name


@pytest.mark.django_db
def test_the_offline_page_is_nobodys(client: Client, user: User) -> None:
    before = client.get("/offline/")
    client.force_login(user)
    after = client.get("/offline/")
    assert before.content == after.content
    assert not after.cookies
    assert after["Cache-Control"] == "public, no-cache"
    assert "no-store" in client.post("/offline/")["Cache-Control"]
    assert client.post("/offline/").status_code == HTTPStatus.METHOD_NOT_ALLOWED


@pytest.mark.parametrize("template", ["500.html", "busy.html", "coaching/pages/offline.html"])
def test_pages_without_sage_dial_the_emergency_numbers_in_one_tap(template: str) -> None:
    page = render_to_string(template, {"title": "Busy", "message": "Please wait."})
    said = re.findall(r'href="tel:(\d+)".*?class="call-now-name">([^<]+)<', page, re.DOTALL)
    assert said == [(line.dialled, line.name) for line in shipped_offer().emergency]
