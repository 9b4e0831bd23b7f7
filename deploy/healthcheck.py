"""Ends with 0 if the web process of this container answers: the image's health check.

The request needs a host name that Sage accepts, so it has the first one of ALLOWED_HOSTS.
"""

import os
import sys
from http.client import HTTPConnection

PORT = 8000


def main() -> int:
    """Return 0 if `/healthz` says 200."""
    host = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".")
    connection = HTTPConnection("127.0.0.1", PORT, timeout=4)
    try:
        connection.request(
            "GET", "/healthz", headers={"Host": host if host not in {"", "*"} else "localhost"}
        )
        return int(connection.getresponse().status != 200)
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
