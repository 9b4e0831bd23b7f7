"""Puts right what was given in a walk: all of it, a part that a correction names, or one of several items."""

import re
from collections.abc import Sequence
from dataclasses import replace

from coaching.practice.coach.conversation import Exchange
from coaching.practice.coach.hearing import (
    ADDED,
    MAX_ITEMS,
    MAX_LINE_CHARACTERS,
    Heard,
    Kind,
    items_in,
    one_line,
    whole,
)
from coaching.practice.coach.state import State
from coaching.practice.coach.tables import Given, Slot
from coaching.practice.coach.texts import Choice

_FEW_WORDS = 3
_PHRASE = re.compile(r"\b(my|the|a|mein\w{0,2}|d(?:er|ie|as|en)|mi|la|el|una?) \w+", re.IGNORECASE)
_FILLING = re.compile(r"(?<!\s)\s+(?:actually|instead|rather|eigentlich|en realidad)\W*\Z", re.IGNORECASE)


def choice_in(text: str, choices: Sequence[Choice]) -> Choice | None:
    """Return the choice whose label a text is, word for word."""
    plain = text.strip(" .!,\"'“”«»").casefold()
    return next((choice for choice in choices if plain == choice[0].casefold().strip("…")), None)


def given_in(answer: str, slot: Slot, at: int) -> tuple[Given | None, Kind]:
    """Return what a typed answer gives to a slot, or what is wrong with it."""
    if slot.kind == "pulse" or (slot.kind == "choice" and slot.is_fixed):
        return None, "choose"
    if slot.kind == "items":
        items = items_in(answer)
        if len(items) > MAX_ITEMS:
            return None, "many"
        is_long = not items or any(len(item) >= MAX_LINE_CHARACTERS for item in items)
        return (None, "long") if is_long else (Given(words=answer.strip(), items=items, at=at), "answer")
    if slot.kind == "line" and len(answer) > MAX_LINE_CHARACTERS:
        return None, "long"
    words = " ".join(answer.split()) if slot.kind == "words" else one_line(answer)
    return Given(words=words, at=at), "answer"


def correct(state: State, exchange: Exchange) -> None:
    """Replace what was given, in whole or in part; without new words ask again."""
    heard = state.heard or Heard(kind="correction")
    slot = next((slot for slot in state.walk.slots if slot.name == (heard.about or state.last)), None)
    if slot is None or slot.name not in state.given:
        state.heard = Heard(kind="correction", words=heard.words)
        return
    state.is_picking = False
    before = state.given[slot.name]
    if heard.old == ADDED:
        _add(state, slot, heard, exchange.position)
        return
    if heard.old and not heard.words and (left := _without(before, heard.old)):
        state.given[slot.name] = replace(left, at=exchange.position)
        state.heard = replace(heard, words=left.text, about=slot.name)
        return
    if not heard.words:
        state.settled.discard(slot.name)
        return
    if heard.old:
        parts = before.items or (before.words,)
        words = ", ".join(_with_part(part, heard.old, heard.words) for part in parts)
        heard = replace(heard, words=words, about=slot.name)
    elif swapped := _with_phrase(before.words, heard.words):
        heard = replace(heard, words=swapped, about=slot.name)
    elif len(before.items) > 1 and len(items_in(heard.words)) < len(before.items):
        state.which = replace(heard, about=slot.name)
        return
    choice = choice_in(heard.words, slot.choices)
    given, problem = given_in(heard.words, slot, exchange.position)
    if choice is not None:
        given = Given(words=choice[0], value=choice[1], at=exchange.position)
    if given is None:
        state.settled.discard(slot.name)
        state.heard = Heard(kind=problem)
        return
    state.given[slot.name], state.last = given, slot.name
    state.settled.add(slot.name)
    state.heard = Heard(kind="correction", about=slot.name, words=given.text)


def _with_part(before: str, old: str, new: str) -> str:
    """Return words with a part put right, or a whole item that begins alike: "call Ana, not mum"."""
    named = whole(old)
    is_item = before.lower().startswith(f"{new.split(maxsplit=1)[0].lower()} ")
    return new if named.search(before) and is_item else named.sub(lambda _: new, before)


def _with_phrase(before: str, words: str) -> str:
    """Return an answer with the one phrase of it that a few words put right: "my sister", "my stepsister"."""
    words = _FILLING.sub("", words)
    new, old = _PHRASE.match(words), list(_PHRASE.finditer(before))
    alike = [each for each in old if new and each[1].lower() == new[1].lower()]
    if len(alike) != 1 or len(words.split()) > _FEW_WORDS or len(before.split()) <= len(words.split()):
        return ""
    start, end = alike[0].span()
    return before[:start] + words + before[end:]


def _add(state: State, slot: Slot, heard: Heard, at: int) -> None:
    items = (*state.given[slot.name].items, *items_in(heard.words))
    if len(items) > MAX_ITEMS:
        state.heard = Heard(kind="many")
        return
    given = Given(words=", ".join(items), items=items, at=at)
    state.given[slot.name] = given
    state.heard = replace(heard, words=given.text)


def _without(before: Given, dropped: str) -> Given | None:
    """Return a list without the item that is dropped; None if it isn't in the list, or nothing else is."""
    left = [item for item in before.items if not whole(dropped).search(item)]
    return Given(words=", ".join(left), items=tuple(left)) if left and len(left) < len(before.items) else None


def replace_item(state: State, exchange: Exchange, which: Heard) -> None:
    """Replace the item that was chosen by the words of the correction."""
    state.which = None
    before, new = state.given[which.about].items, items_in(which.words)
    typed = choice_in(exchange.answer, [(item, item) for item in before])
    chosen = exchange.value or (typed[1] if typed else "")
    if chosen not in {*before, "all"}:
        return
    items = new if chosen == "all" else [each for old in before for each in (new if old == chosen else [old])]
    given = Given(words=", ".join(items), items=tuple(dict.fromkeys(items)), at=exchange.position)
    state.given[which.about] = given
    state.heard = Heard(kind="correction", about=which.about, words=given.words)
