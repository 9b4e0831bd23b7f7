"""The sites of deploy/nginx, written into a folder with other ports and processes, and a certificate."""

import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.bench.relay.machine import free_port
from tests.groups import require
from tests.sage.processes import PROJECT

FOLDER = PROJECT / "deploy" / "nginx"
SITES = ("sage.conf", "container.conf.template")
PROXY = "sage-proxy.conf"
RETRIED = " max_fails=1 fail_timeout=1s"
"""The options of each process in the site for systemd."""
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


def prepared(folder: Path, site: str, changes: Mapping[str, str] = MappingProxyType({})) -> Sequence[str]:
    """Write a site with its changed places into a folder; return the command that starts nginx with it."""
    require("deploy", NGINX is not None, "Debian's package nginx-light")
    assert NGINX
    put_certificate(folder / "tls")
    text = (FOLDER / site).read_text()
    for there, here in {
        "${NGINX_LOCAL_RESOLVERS}": "127.0.0.11",
        "/etc/nginx/": f"{folder}/",
        "/var/log/nginx/": f"{folder}/",
        "/dev/stdout": f"{folder}/sage.log",
        "/dev/stderr": f"{folder}/sage-error.log",
        **changes,
    }.items():
        text = text.replace(there, here)
    (folder / "site.conf").write_text(text)
    shutil.copy(FOLDER / PROXY, folder)
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid;\nworker_processes 1;\nevents {{}}\nhttp {{ include {folder}/site.conf; }}\n"
    )
    return [NGINX, "-q", "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def placed(own: int, ports: Sequence[int], *, options: str = "") -> Mapping[str, str]:
    """Return the changes that let either site listen on `own`, in front of processes at `ports`.

    `options` are those of each process in the site's `upstream`.
    """
    servers = " ".join(f"server 127.0.0.1:{port}{options};" for port in ports)
    changes = {"listen 80;": "", "listen [::]:80;": f"listen 127.0.0.1:{free_port()};"}
    changes |= {"listen [::]:443 ssl;": "", "listen 443 ssl;": f"listen 127.0.0.1:{own} ssl;"}
    changes |= {"listen 8443 ssl;": f"listen 127.0.0.1:{own} ssl;"}
    changes |= {"listen 8080;": f"listen 127.0.0.1:{free_port()};"}
    changes |= {"set $sage_web web:8000;": "set $sage_web web;"}
    changes |= {f"server 127.0.0.1:800{number}{RETRIED};": "" for number in (1, 2)}
    changes |= {"upstream sage {": f"upstream sage {{ {servers}"}
    return changes | {"log_format sage": f"upstream web {{ {servers} }}\nlog_format sage"}
