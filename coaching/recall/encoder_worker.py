"""Runs in a process of its own: encodes texts, one request a line. Imports nothing of ours.

Loading the packages takes ten seconds or more and most of a gigabyte, and would hold up the event loop of the
process that did it.
"""

import json
import sys
from typing import Any

import torch
from sentence_transformers import SentenceTransformer

DIGITS = 6


def main() -> None:
    """Say that the model is loaded, then answer each list of texts with their vectors, of length 1."""
    sink = sys.stdout
    sys.stdout = sys.stderr  # what the packages print is no answer
    torch.set_num_threads(1)  # the other cores are for people who wait
    model: Any = SentenceTransformer(sys.argv[1], device="cpu")
    _write(sink, [])
    for line in sys.stdin:
        vectors = model.encode(json.loads(line), normalize_embeddings=True, show_progress_bar=False)
        _write(sink, [[round(float(value), DIGITS) for value in vector] for vector in vectors])


def _write(sink: Any, answer: list[list[float]]) -> None:
    sink.write(json.dumps(answer) + "\n")
    sink.flush()


if __name__ == "__main__":
    main()
