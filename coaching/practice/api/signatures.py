"""Signatures of thinking blocks: issued with an answer, checked when a block is sent back.

A signature binds its block to the model, to everything before it, and to its siblings. It is sealed instead
of stored, so a turn that waits for its user survives a restart of the server. Earlier turns' thinking isn't
part of the binding: a finished turn's thinking may always be left out as a whole.
"""

import base64
import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import orjson

from coaching.practice.api.errors import invalid
from coaching.practice.api.prefix import (
    THINKING_TYPES,
    Json,
    Unit,
    content_blocks,
    extend_digest,
    opens_turn,
)

_MAX_REMEMBERED_ANSWERS = 50_000
_SEPARATOR = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a thinking block is bound to. `position` is its index among its answer's thinking blocks."""

    model: str
    prefix: str
    position: int
    siblings: int
    effort: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    path: str
    message_index: int
    digest: bytes
    binding: Binding


class SignatureBook:
    """Issues and checks signatures under one secret."""

    def __init__(self, secret: bytes = b"practice") -> None:
        self._secret = secret
        self._thinking_by_answer: OrderedDict[bytes, int] = OrderedDict()

    def sign(self, thinking: str, binding: Binding) -> str:
        payload = orjson.dumps(
            [
                binding.model,
                binding.prefix,
                binding.position,
                binding.siblings,
                binding.effort,
            ]
        )
        seal = self._seal(thinking, payload)
        encoded = base64.b64encode(payload).decode()
        return encoded + _SEPARATOR + base64.b64encode(seal).decode()

    def remember_answer(self, blocks: Sequence[Json]) -> None:
        """Remember how many thinking blocks an answer had, to detect when all are left out."""
        key = _words_digest(blocks)
        count = count_thinking(blocks)
        self._thinking_by_answer[key] = min(count, self._thinking_by_answer.get(key, count))
        while len(self._thinking_by_answer) > _MAX_REMEMBERED_ANSWERS:
            self._thinking_by_answer.popitem(last=False)

    def check(self, body: Json, units: Sequence[Unit], *, effort: str, is_bound: bool) -> bytes:
        """Check every thinking block of a request and return the digest of its whole prefix.

        `effort` is empty unless the request's thinking is `between_tools`, where it may not change.
        """
        found, digest = self._read(body, units)
        is_dropping = _is_dropping(body)
        if is_bound and not is_dropping:
            for block in found:
                _check_binding(block, body["model"], effort)
            self._check_siblings(body["messages"], found)
        return digest

    def _read(self, body: Json, units: Sequence[Unit]) -> tuple[list[_Found], bytes]:
        """Walk the prefix once, with and without thinking: a turn starts from the latter."""
        found: list[_Found] = []
        without = b""
        with_turn = b""
        messages = body["messages"]
        for unit in units:
            is_message_start = unit.block_index == 0
            if is_message_start and opens_turn(messages[unit.message_index]):
                with_turn = without
            if unit.is_thinking:
                path = f"messages.{unit.message_index}.content.{unit.block_index}"
                binding = self._open(unit.block, path)
                found.append(
                    _Found(
                        path=path,
                        message_index=unit.message_index,
                        digest=with_turn,
                        binding=binding,
                    )
                )
                with_turn = extend_digest(with_turn, unit.content)
                continue
            content, is_same = unit.content, with_turn == without
            without = extend_digest(without, content)
            with_turn = without if is_same else extend_digest(with_turn, content)
        return found, with_turn

    def _open(self, block: Json, path: str) -> Binding:
        """Return a block's binding; refuse a block that this server didn't write."""
        refusal = invalid(f"{path}: Invalid `signature` in `thinking` block")
        if block["type"] != "thinking":
            raise refusal
        payload_text, _, seal_text = block["signature"].partition(_SEPARATOR)
        try:
            payload = base64.b64decode(payload_text, validate=True)
            seal = base64.b64decode(seal_text, validate=True)
        except ValueError as error:
            raise refusal from error
        if not hmac.compare_digest(seal, self._seal(block["thinking"], payload)):
            raise refusal
        model, prefix, position, siblings, effort = orjson.loads(payload)
        return Binding(model=model, prefix=prefix, position=position, siblings=siblings, effort=effort)

    def _seal(self, thinking: str, payload: bytes) -> bytes:
        return hmac.digest(self._secret, payload + b"\0" + thinking.encode(), hashlib.sha256)

    def _check_siblings(self, messages: Sequence[Json], found: Sequence[_Found]) -> None:
        """Refuse a turn that sends back some of its thinking but leaves out what followed."""
        turns = _turn_of_each_message(messages)
        has_thinking_before: set[int] = set()
        for index, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            present = [block.binding for block in found if block.message_index == index]
            if not present and turns[index] not in has_thinking_before:
                continue
            has_thinking_before.add(turns[index])
            words = _words_digest(content_blocks(message["content"]))
            if len(present) < self._thinking_by_answer.get(words, 0) or not _are_whole(present):
                raise invalid(
                    f"messages.{index}: `thinking` or `redacted_thinking` blocks in the latest "
                    "assistant message cannot be modified. These blocks must remain as they were "
                    "in the original response."
                )


def prefix_name(digest: bytes) -> str:
    """Return a prefix's digest as used in a signature."""
    return base64.b64encode(digest[:18]).decode()


def count_thinking(blocks: Iterable[Json]) -> int:
    return sum(block["type"] in THINKING_TYPES for block in blocks)


def _check_binding(found: _Found, model: str, effort: str) -> None:
    binding = found.binding
    if binding.model != model:
        raise invalid(
            f"{found.path}: Invalid `signature` in `thinking` block. "
            f"The block is bound to a different model: {binding.model}."
        )
    if binding.prefix != prefix_name(found.digest):
        raise invalid(
            f"{found.path}: Invalid `signature` in `thinking` block. The block is bound to a "
            "different conversation. Remove the block, or set "
            '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
        )
    if binding.effort and effort and binding.effort != effort:
        raise invalid(
            f"{found.path}: `output_config.effort` can't change within a conversation that uses "
            f"\"thinking.type.between_tools\": it was '{binding.effort}' and is '{effort}'."
        )


def _are_whole(bindings: Sequence[Binding]) -> bool:
    """Return whether these blocks are all of one answer, or of several: one that paused and what followed."""
    due, siblings = 0, 0
    for binding in bindings:
        siblings = siblings if due else binding.siblings
        if (binding.position, binding.siblings) != (due, siblings):
            return False
        due = (due + 1) % siblings
    return due == 0


def _words_digest(blocks: Iterable[Json]) -> bytes:
    digest = b""
    for block in blocks:
        unit = Unit(section="messages", role="assistant", block=block)
        if not unit.is_thinking:
            digest = extend_digest(digest, unit.content)
    return digest


def _is_dropping(body: Json) -> bool:
    binding = (body.get("thinking") or {}).get("block_binding") or {}
    return bool(binding.get("prefix_mismatch_behavior") == "drop_block")


def _turn_of_each_message(messages: Sequence[Json]) -> list[int]:
    return list(accumulate(int(opens_turn(message)) for message in messages))
