"""The drill's S3 server, as Sage sees it: a process in front of the one that keeps the objects in memory.

Killing this one cuts its connections and loses no object, as with a server that stores them on disk.
"""

import argparse
import signal
import threading

from tests.files.s3_server import FaultProxy

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.drill.storage")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--behind", type=int, required=True, help="the port of the server with the objects")
    given = parser.parse_args()
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    front = FaultProxy(given.behind, own_port=given.port)
    is_over.wait()
    front.stop()
