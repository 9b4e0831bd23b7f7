"""Replays a walk from the history: what was given for each slot, and how the newest words were heard.

The tour keeps no state. The slot that words answer is the one whose question was asked last.
"""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.acts import plain_act
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.correcting import choice_in, correct, given_in, replace_item
from coaching.practice.coach.day_plan import given_of_plan
from coaching.practice.coach.fitting import asks_about_slot, part_named
from coaching.practice.coach.hearing import Heard, Kind, hear, is_about
from coaching.practice.coach.requested import step_in
from coaching.practice.coach.resting import (
    begin_rest,
    is_next,
    label_in,
    stays_at_rest,
    take_beside,
    takes_up,
)
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
_STAYS = frozenset({"danger", "grief", "correction"})
"""What is answered whatever else words ask for."""
_MAY_ANSWER = frozenset({"answer", "aside", "remark", "short"})
"""What words may be heard as that the person meant for an answer."""
_MAY_REQUEST = frozenset({"answer", "request", "question"})
"""What a request for a next step is heard as; it answers no question."""


def replay(conversation: Conversation, walk: Walk, begins: int) -> State:
    """Return the state of a walk that began at a position."""
    state = State(walk=walk, given=dict(given_of_plan(conversation, walk.name)))
    for exchange, spoken in conversation.exchanges_with_language:
        if exchange.position > begins:
            with texts.speaking(spoken):
                _take(state, exchange)
    return state


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
    slot = state.open_slot if takes_up(state, exchange) else slot
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
    elif not (state.rests and stays_at_rest(state, exchange)):
        if not _take_control(state, exchange) and not state.is_picking:
            _fill(state, exchange, slot)
        if state.walk.is_arc:
            begin_rest(state, exchange, slot)
    is_told = state.heard.kind in _MAY_ANSWER and not exchange.value and "?" not in exchange.answer
    state.unheard = exchange.answer if is_told and slot and slot.name not in state.settled else ""


def _withdraw(state: State) -> None:
    """Take back the last answer, unless its file is written with each answer: that is said (`asides.py`)."""
    is_early = any(file.is_early and state.last in file.slots for file in state.walk.files)
    if not is_early:
        state.given.pop(state.last, None)
        state.last = ""


def _take_control(state: State, exchange: Exchange) -> bool:
    """Take a correction, or an answer to a question that is no slot's; return whether it was one."""
    heard = state.heard or Heard(kind="answer")
    labels = [(slot.label, slot.name) for slot in changeable(state)]
    tapped = next((choice for choice in labels if choice[1] == exchange.value), None)
    picked = tapped or choice_in(exchange.answer, labels)
    if state.which is not None and texts.stands_in("which", exchange.question):
        replace_item(state, exchange, state.which)
    elif texts.stands_in("retry", exchange.question):
        is_again = heard.kind in {"yes", "continue"} or bool(_AGAIN.search(exchange.answer))
        state.given_up_at = state.given_up_at if is_again else exchange.position
        state.heard = Heard(kind="choice")
    elif heard.kind == "correction":
        correct(state, exchange)
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
    heard = hear(exchange.answer, changeable(state), last=state.last, last_words=said)
    if heard.kind not in _STAYS and is_about("stops_walk", exchange.answer):
        return Heard(kind="leave")
    is_step = state.walk.is_arc and heard.kind in _MAY_REQUEST and bool(step_in(exchange.answer)[0])
    return Heard(kind="aside") if is_step else heard


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
    elif found := _chosen(exchange, slot) or _agreed(state, slot):
        settle(state, slot, Given(words=found[0], value=found[1], at=at))
        state.heard = Heard(kind="later" if found[1] == LATER and not exchange.value else "choice")
    elif state.heard and (state.heard.kind == "later" or is_next(state.heard, answer)):
        settle(state, slot, Given(words="", value=LATER, at=at))
        state.heard = Heard(kind="later")
    elif _take_unheard(state, exchange, slot) or (state.walk.is_arc and take_beside(state, exchange, slot)):
        return
    elif state.heard and (state.heard.kind == "answer" or _is_plain_state(answer, slot)):
        given, problem = given_in(answer, slot, at)
        if given is not None:
            settle(state, slot, given)
        state.heard = Heard(kind="answer" if given else problem)
    elif state.heard and state.heard.kind in {"yes", "no"}:
        is_begun = bool(state.given) or state.heard.kind == "no"
        kind: Kind = "choose" if slot.kind in {"choice", "pulse"} else "short" if is_begun else "continue"
        state.heard = Heard(kind=kind)


def _take_unheard(state: State, exchange: Exchange, slot: Slot) -> bool:
    """Take what was said before for the answer if the newest words say that; return whether they do."""
    if slot.kind in {"choice", "pulse"} or not is_about("answered_already", exchange.answer):
        return False
    given = given_in(state.unheard, slot, exchange.position)[0] if state.unheard else None
    settle(state, slot, given or Given(words="", value=LATER, at=exchange.position))
    state.heard = Heard(kind="answered")
    return True


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


def _agreed(state: State, slot: Slot) -> Choice | None:
    """Return the choice between yes and no that plain words make."""
    kind = state.heard.kind if state.heard else ""
    return next((choice for choice in slot.choices if slot.name == "yes" and choice[1] == kind), None)


def _is_plain_state(answer: str, slot: Slot) -> bool:
    is_state = slot.kind == "words" and slot.asked[0].startswith("How")
    is_mood = slot.name in {"wake", "mood"} and answer.strip(" .!").lower() not in {"ok", "okay"}
    return (is_state or is_mood) and bool(_PLAIN_STATE.fullmatch(answer))


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
