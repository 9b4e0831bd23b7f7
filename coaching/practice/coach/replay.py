"""Replays a walk from the history: what was given for each slot, and how the newest words were heard.

The tour keeps no state. The slot that words answer is the one whose question was asked last.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from coaching.practice.coach import texts
from coaching.practice.coach.acts import plain_act
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.fitting import asks_about_slot, part_named
from coaching.practice.coach.hearing import (
    ADDED,
    MAX_ITEMS,
    MAX_LINE_CHARACTERS,
    Heard,
    Kind,
    hear,
    items_in,
    one_line,
)
from coaching.practice.coach.resting import begin_rest, is_next, label_in, stays_at_rest, take_beside
from coaching.practice.coach.state import State, changeable, settle
from coaching.practice.coach.tables import LATER, Given, Slot, Walk
from coaching.practice.coach.texts import Choice
from coaching.safety.card import danger_in

_PLAIN_STATE = re.compile(
    r"\W*(?:fine|(?:pretty |quite |very |all )?good|great|ok(?:ay)?|not bad|so[- ]so|bad|perfect"
    r"|(?:ganz |sehr )?gut|geht so|schlecht|prima|(?:muy )?bien|regular|mal)\W*",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\W*(?:h+m+|aha|lol|haha+|jaja+|wow|oh|i see|maybe|whatever|vielleicht|quizás?)\b", re.IGNORECASE
)
_AGAIN = re.compile(r"\b(?:again|noch ?mal|otra vez)\b", re.IGNORECASE)
_SAFE = re.compile(
    r"\b(?:go on|continue|next|i(?:'m|m| am) (?:okay|ok|safe|fine)|weitermachen|in sicherheit"
    r"|mir geht(?:'s| es) (?:gut|besser)|quiero seguir|estoy (?:bien|a salvo))\b"
    r"|\A\W*(?:weiter|sigue|sigamos)\W*\Z"
)
_UNSAFE = re.compile(r"\b(?:not|don'?t|can'?t|cannot|never|no|nicht|nie|kein\w*|nunca)\b")
_FEW_WORDS, _PART_WORDS = 3, 3
_PHRASE = re.compile(r"\b(my|the|a|mein\w{0,2}|d(?:er|ie|as|en)|mi|la|el|una?) \w+", re.IGNORECASE)
_FILLING = re.compile(r"(?<!\s)\s+(?:actually|instead|rather|eigentlich|en realidad)\W*\Z", re.IGNORECASE)


def replay(conversation: Conversation, walk: Walk, begins: int) -> State:
    """Return the state of a walk that began at a position."""
    state = State(walk=walk)
    for exchange, spoken in conversation.exchanges_with_language:
        if exchange.position > begins:
            with texts.speaking(spoken):
                _take(state, exchange)
    return state


def choice_in(text: str, choices: Sequence[Choice]) -> Choice | None:
    """Return the choice whose label a text is, word for word."""
    plain = text.strip(" .!,\"'“”").casefold()
    return next((choice for choice in choices if plain == choice[0].casefold().strip("…")), None)


def _take(state: State, exchange: Exchange) -> None:
    asked = max(state.walk.slots, key=lambda slot: slot.asked_at(exchange.question))
    slot = asked if asked.asked_at(exchange.question) >= 0 else None
    if slot is not None:
        state.put.add(slot.name)
    if slot is not None and not state.was_asked:  # what comes before was settled outside the window
        state.was_asked = True
        names = [each.name for each in state.walk.slots]
        early = {name for file in state.walk.files if file.is_early for name in file.slots}
        state.settled |= early & set(names[: names.index(slot.name)])
    state.heard = _heard(state, exchange)
    if state.heard.kind == "danger":
        found = danger_in(exchange.answer)
        state.is_in_danger = state.is_in_danger or found is None or not found.is_weighed
        state.rests = state.walk.is_arc and not state.is_in_danger
        if exchange.ratings is not None:  # the words with them were the danger
            settle(state, state.walk.slot("pulse"), Given(words="", ratings=exchange.ratings))
    elif state.is_in_danger:
        state.is_in_danger = not is_safe(exchange.answer)
        state.heard = Heard(kind="continue")
    elif state.walk.is_arc and state.heard.kind == "refusal":
        _withdraw(state)
        state.heard = Heard(kind="rest") if state.rests else state.heard
    elif not (state.rests and stays_at_rest(state, exchange)):
        if not _take_control(state, exchange) and not state.is_picking:
            _fill(state, exchange, slot)
        if state.walk.is_arc:
            begin_rest(state, exchange, slot)


def _withdraw(state: State) -> None:
    """Take back the last answer, unless its file is written with each answer: that is said (`asides.py`)."""
    is_early = any(file.is_early and state.last in file.slots for file in state.walk.files)
    if not is_early or state.rests:
        state.given.pop(state.last, None)
        state.last = ""


def _take_control(state: State, exchange: Exchange) -> bool:
    """Take a correction, or an answer to a question that is no slot's; return whether it was one."""
    heard = state.heard or Heard(kind="answer")
    labels = [(slot.label, slot.name) for slot in changeable(state)]
    tapped = next((choice for choice in labels if choice[1] == exchange.value), None)
    picked = tapped or choice_in(exchange.answer, labels)
    if state.which is not None and texts.stands_in("which", exchange.question):
        _replace_item(state, exchange, state.which)
    elif texts.stands_in("retry", exchange.question):
        is_again = heard.kind in {"yes", "continue"} or bool(_AGAIN.search(exchange.answer))
        state.given_up_at = state.given_up_at if is_again else exchange.position
        state.heard = Heard(kind="choice")
    elif heard.kind == "correction":
        _correct(state, exchange)
    elif texts.stands_in("check", exchange.question):
        _check(state, exchange)
    elif texts.stands_in("change", exchange.question) and picked:
        state.settled.discard(picked[1])
        state.is_picking = False
        state.heard = Heard(kind="choice")
    else:
        return False
    return True


def is_safe(text: str) -> bool:
    """Return whether somebody says that they are safe and want to go on."""
    plain = text.replace("’", "'").lower()
    return bool(_SAFE.search(plain)) and not _UNSAFE.search(plain)


def _heard(state: State, exchange: Exchange) -> Heard:
    last = state.given.get(state.last)
    said = last.text if last else ""
    if exchange.value or exchange.ratings is not None:
        noted = hear(exchange.answer) if exchange.ratings and exchange.answer else Heard(kind="choice")
        return noted if noted.kind == "danger" else Heard(kind="pulse" if exchange.ratings else "choice")
    return hear(exchange.answer, changeable(state), last=state.last, last_words=said)


def _fill(state: State, exchange: Exchange, slot: Slot | None) -> None:
    """Fill the slot that was asked for if the words answer it; else `heard` says what they are."""
    if slot is None or slot.name in state.settled:
        if state.heard and state.heard.kind == "answer" and not state.heard.about:
            state.heard = Heard(kind="continue")
        return
    at, answer = exchange.position, exchange.answer
    if exchange.ratings is not None:
        pulse = state.walk.slot("pulse")
        settle(state, pulse, Given(words=answer, ratings=exchange.ratings, at=at))
    elif found := _chosen(exchange, slot):
        settle(state, slot, Given(words=found[0], value=found[1], at=at))
        state.heard = Heard(kind="later" if found[1] == LATER and not exchange.value else "choice")
    elif state.heard and (state.heard.kind == "later" or is_next(state.heard, answer)):
        settle(state, slot, Given(words="", value=LATER, at=at))
        state.heard = Heard(kind="later")
    elif state.walk.is_arc and take_beside(state, exchange, slot):
        return
    elif state.heard and (state.heard.kind == "answer" or _is_plain_state(answer, slot)):
        given, problem = _given(answer, slot, at)
        if given is not None:
            settle(state, slot, given)
        state.heard = Heard(kind="answer" if given else problem)
    elif state.heard and state.heard.kind in {"yes", "no"}:
        is_begun = bool(state.given) or state.heard.kind == "no"
        kind: Kind = "choose" if slot.kind in {"choice", "pulse"} else "short" if is_begun else "continue"
        state.heard = Heard(kind=kind)


def _chosen(exchange: Exchange, slot: Slot) -> Choice | None:
    if exchange.value:
        return next((choice for choice in slot.choices if choice[1] == exchange.value), None)
    named = (
        part_named(exchange.answer)
        if slot.name == "touched" and len(exchange.answer.split()) <= _PART_WORDS
        else ""
    )
    part = next((choice for choice in slot.choices if named and named in choice[1].split()), None)
    return label_in(exchange.answer, slot) or part


def _is_plain_state(answer: str, slot: Slot) -> bool:
    is_state = slot.kind == "words" and slot.asked[0].startswith("How")
    is_mood = slot.name in {"wake", "mood"} and answer.strip(" .!").lower() not in {"ok", "okay"}
    return (is_state or is_mood) and bool(_PLAIN_STATE.fullmatch(answer))


def _given(answer: str, slot: Slot, at: int) -> tuple[Given | None, Kind]:
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


def _correct(state: State, exchange: Exchange) -> None:
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
        words = re.sub(re.escape(heard.old), lambda _: heard.words, before.words, flags=re.IGNORECASE)
        heard = replace(heard, words=words, about=slot.name)
    elif swapped := _with_phrase(before.words, heard.words):
        heard = replace(heard, words=swapped, about=slot.name)
    elif len(before.items) > 1 and len(items_in(heard.words)) < len(before.items):
        state.which = replace(heard, about=slot.name)
        return
    choice = choice_in(heard.words, slot.choices)
    given, problem = _given(heard.words, slot, exchange.position)
    if choice is not None:
        given = Given(words=choice[0], value=choice[1], at=exchange.position)
    if given is None:
        state.settled.discard(slot.name)
        state.heard = Heard(kind=problem)
        return
    state.given[slot.name], state.last = given, slot.name
    state.settled.add(slot.name)
    state.heard = Heard(kind="correction", about=slot.name, words=given.text)


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
    left = [item for item in before.items if dropped.lower() not in item.lower()]
    return Given(words=", ".join(left), items=tuple(left)) if left and len(left) < len(before.items) else None


def _replace_item(state: State, exchange: Exchange, which: Heard) -> None:
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


def _check(state: State, exchange: Exchange) -> None:
    typed = choice_in(exchange.answer, texts.choices("check"))
    choice, kind = (
        exchange.value or (typed[1] if typed else ""),
        state.heard.kind if state.heard else "answer",
    )
    is_yes = kind in {"yes", "thanks", "pause"} and not _VAGUE.match(exchange.answer)
    if choice == "yes" or is_yes:
        state.confirmed_at = exchange.position
    state.is_picking = choice == "change" or kind == "no"
    is_unclear = kind in {"answer", "yes"} and not (choice or is_yes)
    is_told = kind in {"answer", "question", "request"} and len(exchange.answer.split()) > _FEW_WORDS
    if choice or is_yes or state.is_picking:
        state.heard = Heard(kind="choice")
    elif plain_act(exchange.answer) == "nextup":
        state.heard = Heard(kind="check")
    elif state.walk.is_arc and is_told and not asks_about_slot(exchange.answer):
        state.heard = Heard(kind="aside")
    elif is_unclear:
        state.heard = Heard(kind="check")
