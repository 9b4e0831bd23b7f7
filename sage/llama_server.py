"""llama.cpp's server as a program of its own: what `up --model-file` starts.

It reads one line of JSON (`Options`), prints one with its address once the model is loaded, and ends when its
standard input does, so that it outlives nobody. It imports nothing of Sage that takes time.
"""

import json
import os
import sys
from typing import TypedDict

import xllamacpp

BATCH_TOKENS = 256
"""A request that is given up ends with its batch: with llama.cpp's 2,048 that took a minute on two cores."""
NICENESS = 5
"""It works for minutes on all cores; pages and the database come first."""


class Options(TypedDict):
    """`port` 0 takes a free one. `context_tokens` is the most: a model that can read less gets less."""

    path: str
    name: str
    port: int
    api_key: str
    context_tokens: int


def start(options: Options) -> "xllamacpp.Server":
    """Load the model and serve it. Raises `RuntimeError` after llama.cpp has printed why it can't."""
    params = xllamacpp.CommonParams()
    params.model.path = options["path"]
    params.model_alias = {options["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = options["port"]
    # Every user of this machine reaches the port, and so does every web page that they open.
    params.api_keys = [options["api_key"]]
    params.n_ctx = options["context_tokens"]
    # One request at a time has the whole context; the others wait.
    params.n_parallel = 1
    params.n_batch = BATCH_TOKENS
    params.ui = False
    params.endpoint_slots = False  # would show what people write
    return xllamacpp.Server(params)


def _main() -> None:
    os.nice(NICENESS)
    server = start(json.loads(sys.stdin.readline()))
    print(json.dumps({"url": server.listening_address}), flush=True)  # noqa: T201 - it is the answer
    sys.stdin.read()
    # Its own end waits for the request that it works on.
    os._exit(0)


if __name__ == "__main__":
    try:
        _main()
    except RuntimeError:
        sys.exit(1)
