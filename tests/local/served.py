"""llama.cpp's server as `up` starts it, but with answers that don't vary.

It reads two lines of JSON: the options, and a chat template that replaces the model's, or an empty one.
"""

import json
import sys

from sage.llama_server import params_of, serve

if __name__ == "__main__":
    params = params_of(json.loads(sys.stdin.readline()))
    if template := json.loads(sys.stdin.readline()):
        params.chat_template = template
    params.sampling.temp = 0.0
    params.cpuparams.n_threads = 1
    params.warmup = False
    serve(params)
