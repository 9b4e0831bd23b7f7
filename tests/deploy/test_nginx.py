"""deploy/nginx: both sites are valid, stream, and have no smaller limits than Sage."""

import re
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.conf import settings

from sage.env import StartError, read_environment
from tests.deploy.nginx_site import FOLDER, PROXY, SITES, placed, prepared
from tests.live_sage import free_port
from tests.sage.processes import PROJECT


@pytest.mark.slow
@pytest.mark.parametrize("site", SITES)
def test_nginx_accepts_the_site_and_what_is_left_to_choose_in_it(tmp_path: Path, site: str) -> None:
    command = [*prepared(tmp_path, site), "-t"]
    chosen, count = re.subn(r"^# (\w+ \S+;)$", r"\1", (tmp_path / PROXY).read_text(), flags=re.MULTILINE)
    assert count == 3
    (tmp_path / PROXY).write_text(chosen)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


class Serving(BaseHTTPRequestHandler):
    """A process of one version: it has its own static file, and one that both have."""

    own: str

    def do_GET(self) -> None:
        self.send_response(200 if self.path in {self.own, "/static/both.css"} else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None: ...


@contextmanager
def started(folder: Path, site: str, ports: Sequence[int]) -> Iterator[HTTPSConnection]:
    """Run nginx with a site in front of processes at `ports`; yield a connection to it."""
    own = free_port()
    command = prepared(folder, site, placed(own, ports))
    with subprocess.Popen([*command, "-g", "daemon off;"]) as nginx:
        try:
            while not (folder / "pid").exists():  # written once it listens
                assert nginx.poll() is None
                time.sleep(0.01)
            trusting = ssl._create_unverified_context()
            with closing(HTTPSConnection("127.0.0.1", own, timeout=5, context=trusting)) as connection:
                yield connection
        finally:
            nginx.send_signal(signal.SIGQUIT)


def status_of(connection: HTTPSConnection, path: str) -> int:
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    return answer.status


@pytest.mark.slow
@pytest.mark.parametrize("site", SITES)
def test_pages_of_both_versions_find_their_files_while_only_one_process_has_them(
    tmp_path: Path, site: str
) -> None:
    versions = [type("Version", (Serving,), {"own": f"/static/{name}.css"}) for name in ("old", "new")]
    with ExitStack() as stack:
        servers = [
            stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), version)) for version in versions
        ]
        for server in servers:
            threading.Thread(target=server.serve_forever, args=(0.01,)).start()
            stack.callback(server.shutdown)
        with started(tmp_path, site, [server.server_port for server in servers]) as nginx:
            for name in ("old", "new", "both") * 2:
                assert status_of(nginx, f"/static/{name}.css") == 200
            assert status_of(nginx, "/static/neither.css") == 404
            # Only static files: a page that isn't there is asked for once.
            assert {status_of(nginx, "/page") for _ in range(2)} == {404}


@pytest.mark.slow
@pytest.mark.parametrize("site", SITES)
def test_no_log_repeats_words_or_names_or_tokens_even_where_no_process_answers(
    tmp_path: Path, site: str
) -> None:
    with started(tmp_path, site, [free_port()]) as nginx:
        for path in (
            "/search/?q=secretword",
            "/library/secretword.pdf",
            "/leave/?to=secretword",
            "/secretword",
        ):
            assert status_of(nginx, path) == 502
    logged = (tmp_path / "sage.log").read_text()
    assert re.findall(r'"GET (\S+) ', logged) == ["/search/", "/library/", "/leave/", "/"]
    assert "secretword" not in logged + (tmp_path / "sage-error.log").read_text()


def test_no_limit_is_smaller_than_that_of_sage_and_nothing_is_collected_before_it_is_passed_on() -> None:
    text = (FOLDER / PROXY).read_text()
    megabytes = re.search(r"client_max_body_size (\d+)m;", text)
    assert megabytes
    assert int(megabytes[1]) << 20 >= max(settings.SAGE_UPLOAD_BYTES.values())
    # The largest that may be set, and its form.
    read_environment({"SAGE_MAX_UPLOAD_MB": "1024"}, PROJECT)
    with pytest.raises(StartError):
        read_environment({"SAGE_MAX_UPLOAD_MB": "1025"}, PROJECT)
    assert int(megabytes[1]) > 1024 + 1
    seconds = re.search(r"proxy_read_timeout (\d+)s;", text)
    assert seconds
    assert int(seconds[1]) > 60
    for line in ("proxy_buffering off;", "proxy_request_buffering off;", "proxy_http_version 1.1;"):
        assert line in text


@pytest.mark.parametrize("site", SITES)
def test_each_site_passes_on_sockets_and_logs_no_query(site: str) -> None:
    text = (FOLDER / site).read_text()
    assert f"include /etc/nginx/{PROXY};" in text
    (logged,) = re.findall(r"log_format sage (.+);", text)
    assert not set(re.findall(r"\$\w+", logged)) & {
        "$request",
        "$request_uri",
        "$uri",
        "$args",
        "$http_referer",
    }
    assert re.search(r"error_log \S+ crit;", text)
    assert all(" sage;" in line or " off;" in line for line in re.findall(r"access_log.*", text))
    assert "map $http_upgrade $sage_connection" in text
    headers = (FOLDER / PROXY).read_text()
    # What the client sends in this header isn't passed on.
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in headers
