"""Measures the CPU time of a refused request alone: `python -m tests.bench.programs.refusals`.

The server runs in this process without a database, a client in another one.
"""

import argparse
import os
from importlib import import_module

import django

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.programs.refusals")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; 0: as many as possible")
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
    django.setup()
    import_module("tests.bench.programs.refusing").serve(seconds=given.seconds, rate=given.rate)
