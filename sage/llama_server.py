"""llama.cpp's server as a program of its own: what `up --model-file` starts.

It reads one line of JSON (`Options`), prints one with its address once the model is loaded, and ends when its
standard input does, so that it outlives nobody. It imports nothing of Sage that takes time.
"""

import json
import os
import sys
from typing import Never, TypedDict

import psutil
import xllamacpp

BATCH_TOKENS = 128
"""A request that is given up ends with its batch: with llama.cpp's 2,048 that took a minute on two cores.

On one core a token takes as long in batches of 64, 128 and 256."""
NICENESS = 5
"""Pages and the database come first. One core is theirs, too: llama.cpp's threads wait for each other, so one
that shares its core slows all of them down, on two busy cores to a fifth."""


class Options(TypedDict):
    """`port` 0 takes a free one. `context_tokens` is the most: a model that can read less gets less."""

    path: str
    name: str
    port: int
    api_key: str
    context_tokens: int


def params_of(options: Options) -> "xllamacpp.CommonParams":
    """Return llama.cpp's parameters for Sage."""
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
    params.cpuparams.n_threads = max(1, (psutil.cpu_count(logical=False) or 2) - 1)
    params.ui = False
    params.endpoint_slots = False  # would show what people write
    return params


def serve(params: "xllamacpp.CommonParams") -> Never:
    """Load the model, print the address, and serve until the standard input ends.

    Raises `RuntimeError` after llama.cpp has printed why it can't load it.
    """
    server = xllamacpp.Server(params)
    print(json.dumps({"url": server.listening_address}), flush=True)  # noqa: T201 - it is the answer
    sys.stdin.read()
    # Its own end waits for the request that it works on.
    os._exit(0)


if __name__ == "__main__":
    os.nice(NICENESS)
    try:
        serve(params_of(json.loads(sys.stdin.readline())))
    except RuntimeError:
        sys.exit(1)
