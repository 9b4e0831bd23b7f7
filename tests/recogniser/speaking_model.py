"""A model file for whisper.cpp that says the same words in every thirty seconds, whatever it hears.

No weights of a real model are in the package indexes, so this is the smallest that the true library loads and
runs: its encoder and attention are zero, and the decoder's positions alone decide which token comes next.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np

WIDTH, LAYERS, MELS, FREQUENCIES, CONTEXT, POSITIONS = 64, 4, 80, 201, 1500, 448
VOCABULARY, WRITTEN, END, FIRST_TIME = 51_864, 50_256, 50_256, 50_363
"""Of English models: so many tokens, of which the file writes so many; those with times come last."""
_CERTAIN = 20.0


def write_model(path: Path, words: str, *, seconds: float = 2.0) -> Path:
    """Write a model that says these words from the beginning of each window to so many seconds."""
    spoken = [f" {word}" for word in words.split()]
    tokens = [FIRST_TIME, *range(1, len(spoken) + 1), FIRST_TIME + round(seconds / 0.02), END]
    with path.open("wb") as file:
        sizes = (VOCABULARY, CONTEXT, WIDTH, 1, LAYERS, POSITIONS, WIDTH, 1, LAYERS, MELS, 1)
        file.write(struct.pack("<I11i", 0x67676D6C, *sizes))
        file.write(struct.pack("<2i", MELS, FREQUENCIES) + bytes(MELS * FREQUENCIES * 4))
        file.write(struct.pack("<i", WRITTEN))
        for token in [" ", *spoken, *[""] * (WRITTEN - 1 - len(spoken))]:  # Whisper needs the first one
            file.write(struct.pack("<i", len(token)) + token.encode())
        for name, values in _tensors(tokens).items():
            is_half = name.endswith("weight") and values.ndim > 1
            head = struct.pack("<3i", values.ndim, len(name), int(is_half))
            shape = struct.pack(f"<{values.ndim}i", *reversed(values.shape))
            file.write(head + shape + name.encode() + values.astype("<f2" if is_half else "<f4").tobytes())
    return path


def _tensors(tokens: list[int]) -> dict[str, Any]:
    embedding, positions = _zeros(VOCABULARY, WIDTH), _zeros(POSITIONS, WIDTH)
    for place, token in enumerate(tokens):
        positions[place, place] = _CERTAIN
        embedding[token, place] = 1.0
    positions[len(tokens) :, len(tokens) - 1] = _CERTAIN
    found = {
        "encoder.positional_embedding": _zeros(CONTEXT, WIDTH),
        "encoder.conv1.weight": _zeros(WIDTH, MELS, 3),
        "encoder.conv1.bias": _zeros(WIDTH, 1),
        "encoder.conv2.weight": _zeros(WIDTH, WIDTH, 3),
        "encoder.conv2.bias": _zeros(WIDTH, 1),
        "encoder.ln_post.weight": _zeros(WIDTH),
        "encoder.ln_post.bias": _zeros(WIDTH),
        "decoder.positional_embedding": positions,
        "decoder.token_embedding.weight": embedding,
        "decoder.ln.weight": np.full(WIDTH, _CERTAIN, np.float32),
        "decoder.ln.bias": _zeros(WIDTH),
    }
    for layer in range(LAYERS):
        found |= _layer(f"encoder.blocks.{layer}", ("attn",))
        found |= _layer(f"decoder.blocks.{layer}", ("attn", "cross_attn"))
    return found


def _layer(name: str, attentions: tuple[str, ...]) -> dict[str, Any]:
    found = {
        f"{name}.mlp.0.weight": _zeros(4 * WIDTH, WIDTH),
        f"{name}.mlp.0.bias": _zeros(4 * WIDTH),
        f"{name}.mlp.2.weight": _zeros(WIDTH, 4 * WIDTH),
        f"{name}.mlp.2.bias": _zeros(WIDTH),
    }
    for norm in (*(f"{attention}_ln" for attention in attentions), "mlp_ln"):
        found |= {f"{name}.{norm}.weight": _zeros(WIDTH), f"{name}.{norm}.bias": _zeros(WIDTH)}
    for attention in attentions:
        for part in ("query", "key", "value", "out"):
            found[f"{name}.{attention}.{part}.weight"] = _zeros(WIDTH, WIDTH)
            if part != "key":
                found[f"{name}.{attention}.{part}.bias"] = _zeros(WIDTH)
    return found


def _zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)
