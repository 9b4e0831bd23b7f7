"""Runs the practice model alone: `python -m coaching.practice --port 8899 --rate 50`.

Prints one line with the URL when it is ready, and stops cleanly on SIGINT and SIGTERM.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence

from coaching.practice.api.server import HUMAN_TOKENS_PER_SECOND
from coaching.practice.server import PracticeServer


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m coaching.practice", description="Serve the practice model."
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument(
        "--rate",
        type=float,
        default=HUMAN_TOKENS_PER_SECOND,
        help="tokens per second of each stream; 0 writes as fast as it can",
    )
    parser.add_argument("--first-token-delay", type=float, default=0.0, metavar="SECONDS")
    return parser.parse_args(arguments)


async def serve(options: argparse.Namespace) -> None:
    """Serve until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    server = PracticeServer(
        host=options.host,
        port=options.port,
        tokens_per_second=options.rate,
        first_token_seconds=options.first_token_delay,
    )
    try:
        await server.open()
    except OSError as error:
        raise SystemExit(f"Can't serve on {options.host}:{options.port}: {error.strerror}") from error
    try:
        sys.stdout.write(f"practice model on {server.url}\n")
        sys.stdout.flush()
        await stop.wait()
    finally:
        await server.close()


if __name__ == "__main__":
    asyncio.run(serve(read_arguments()))
