"""deploy/nginx: both sites are valid, stream, and have no smaller limits than Sage."""

import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.conf import settings

from tests.groups import require
from tests.sage.processes import PROJECT

FOLDER = PROJECT / "deploy" / "nginx"
SITES = ("sage.conf", "container.conf.template")
PROXY = "sage-proxy.conf"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def put_certificate(folder: Path) -> None:
    """Write a self-signed certificate and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sage.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    folder.mkdir()
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("site", SITES)
def test_nginx_accepts_the_site(tmp_path: Path, site: str) -> None:
    require("deploy", NGINX is not None, "Debian's package nginx-light")
    assert NGINX
    put_certificate(tmp_path / "tls")
    text = (FOLDER / site).read_text().replace("${NGINX_LOCAL_RESOLVERS}", "127.0.0.11")
    for there, here in (("/etc/nginx/", f"{tmp_path}/"), ("/var/log/nginx/", f"{tmp_path}/")):
        text = text.replace(there, here)
    (tmp_path / "site.conf").write_text(text)
    shutil.copy(FOLDER / PROXY, tmp_path)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{ include {tmp_path}/site.conf; }}\n"
    )
    command = [NGINX, "-t", "-q", "-e", "stderr", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_limit_is_smaller_than_that_of_sage_and_nothing_is_collected_before_it_is_passed_on() -> None:
    text = (FOLDER / PROXY).read_text()
    megabytes = re.search(r"client_max_body_size (\d+)m;", text)
    assert megabytes
    assert int(megabytes[1]) << 20 >= max(settings.SAGE_UPLOAD_BYTES.values())
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
    assert not set(re.findall(r"\$\w+", logged)) & {"$request", "$request_uri", "$args", "$http_referer"}
    assert all(" sage;" in line or " off;" in line for line in re.findall(r"access_log.*", text))
    assert "map $http_upgrade $sage_connection" in text
    headers = (FOLDER / PROXY).read_text()
    # What the client sends in this header isn't passed on.
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in headers
