"""Where a program may have a person sent back to: an https address, or a program on the person's own device.

Addresses are so simple that a browser and Python read the same host in them: the person is shown this host,
and the page's policy names its origin, which can't be an address of IPv6. Private schemes (`app:`) are
refused: any program can claim one.
"""

import re

from sessions_app.errors import Refused

MAX_ADDRESS = 500
MAX_PORT = 65_535
_ADDRESS = re.compile(
    r"(?P<origin>https://(?P<host>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::(?P<port>[0-9]{1,5}))?"
    r"|http://(?P<loopback>127\.0\.0\.1|localhost)(?::(?P<loopback_port>[0-9]{1,5}))?)"
    r"(?:[/?][A-Za-z0-9._~/?%&=+:@!$*()'-]*+)?",
    re.ASCII,
)
NOT_SIMPLE = (
    "A redirect address is https://host/path, or http://127.0.0.1:port/path for a program on the same "
    "device, in lower-case ASCII without a name, a password or a fragment."
)
NO_IPV6 = "Use http://127.0.0.1 instead of http://[::1]: no page can allow browsers to go there."


class Redirect:
    """An address to go back to. Raises `Refused` for one that isn't simple."""

    def __init__(self, address: str) -> None:
        found = _ADDRESS.fullmatch(address) if len(address) <= MAX_ADDRESS else None
        if found is None or int(found["port"] or found["loopback_port"] or 0) > MAX_PORT:
            raise Refused(NO_IPV6 if address.startswith("http://[::1]") else NOT_SIMPLE)
        self.address = address
        self.origin = found["origin"]
        self.host = self.origin.partition("://")[2]
        self.is_on_device = found["loopback"] is not None
        path = address.removeprefix(self.origin)
        self.without_port = f"http://{found['loopback']}{path}" if self.is_on_device else address

    def is_same(self, registered: str) -> bool:
        """Return whether it is an address that was registered. On the device the port may be another one."""
        try:
            return self.without_port == Redirect(registered).without_port
        except Refused:
            return False
