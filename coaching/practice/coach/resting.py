"""When an arc's questions wait: something heavy was told, or a question got no answer twice.

An arc that rests asks nothing. What is said meanwhile is talk (`talk.py`), until the person says “go on”.
"""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.acts import plain_act
from coaching.practice.coach.conversation import Exchange
from coaching.practice.coach.fitting import (
    asks_about_slot,
    fits,
    is_aside,
    is_heavy,
    is_list,
    is_of_part,
    is_weighty,
    part_named,
    part_turned_to,
)
from coaching.practice.coach.hearing import Heard, is_about, items_in
from coaching.practice.coach.state import State, settle
from coaching.practice.coach.tables import DOMAINS, LATER, Given, Slot
from coaching.practice.coach.texts import Choice

FEW_WORDS = 3
_RESTFUL = frozenset({"justtalk", "letgo", "notnow", "subject"})
"""Acts by patterns after which the questions wait."""
_MAX_PUT = 2
"""So often in a row a question is put that gets no answer."""
_RESUMES = frozenset({"continue", "leave", "pause", "menu", "wish", "recall"})
"""What ends a rest, or is answered in one like anywhere else."""
_PLAIN = frozenset({"answer", "later", "yes", "no"})
"""What a label may be heard as."""
_REFUSED = frozenset({"answer", "question", "request", "remark", "refusal"})
"""What a refusal to rate may be heard as."""


def stays_at_rest(state: State, exchange: Exchange) -> bool:
    """Take words at rest; return whether the walk still rests afterwards and has nothing to do with them."""
    kind = state.heard.kind if state.heard else "answer"
    is_offered = any(texts.stands_in(name, exchange.question) for name in ("rests", "rests_kept"))
    is_agreed = kind == "yes" and is_offered
    is_tapped = bool(exchange.value) or exchange.ratings is not None
    may_turn = state.walk.name == "life_mapping" and not is_about("not_about", exchange.answer)
    if may_turn and (part := part_turned_to(exchange.answer)):
        _turn_to(state, part)
        return False
    if is_about("next", exchange.answer) and kind == "later" and (slot := state.open_slot):
        settle(state, slot, Given(words="", value=LATER, at=exchange.position))
        state.rests, state.heard = False, Heard(kind="later")
        return False
    if kind == "question" and (slot := state.open_slot) and _names(slot, exchange.answer):
        state.rests = False  # the question waits, and is asked about
        return False
    if kind in _PLAIN and any(takes(state, exchange) for takes in (_gives_label, _gives_list, _gives_part)):
        return False
    if is_tapped or is_agreed or kind in _RESUMES:
        state.rests = kind == "recall"
        state.is_grave = state.is_grave and state.rests
        state.heard = Heard(kind="continue") if is_agreed else state.heard
        return False
    is_refused = kind in _REFUSED and is_about("no_ratings", exchange.answer)
    if is_refused:
        _refuse_ratings(state, exchange.position)
    state.heard = Heard(kind="rest", about="ratings" if is_refused else "")
    return True


def _names(slot: Slot, words: str) -> bool:
    names = "|".join(map(re.escape, slot.names))
    is_named = re.search(rf"\b(?:{names})\b", words, re.IGNORECASE)
    return bool(is_named) and asks_about_slot(words)


def _gives_label(state: State, exchange: Exchange) -> bool:
    """Take one of the answers to tap to the question that waits; return whether it was one."""
    slot = state.open_slot
    is_put = slot is not None and slot.kind == "choice" and slot.name in state.put
    found = label_in(exchange.answer, slot) if slot and is_put else None
    if slot is None or found is None:
        return False
    settle(state, slot, Given(words=found[0], value=found[1], at=exchange.position))
    state.rests, state.heard = False, Heard(kind="choice")
    return True


def label_in(text: str, slot: Slot) -> Choice | None:
    """Return the choice whose label, or its first word, a text is."""
    plain = text.strip(" .!,\"'“”«»").casefold()
    labels = {choice[0].casefold().strip("…"): choice for choice in slot.choices}
    return labels.get(plain) or next(
        (
            labels[each]
            for each in labels
            if plain and slot.kind == "choice" and each.partition(" ")[0] == plain
        ),
        None,
    )


def _gives_list(state: State, exchange: Exchange) -> bool:
    """Take a list for the slot that asks for one, and leave open what comes before; return whether it was."""
    slot = next((each for each in state.walk.slots if each.kind == "items"), None)
    is_next = slot is not None and (slot.name in state.put or slot is state.open_slot)
    is_given = is_list(exchange.answer) and not is_aside(exchange.answer)
    if (
        slot is None
        or slot.name in state.settled
        or not (is_given and (is_next or state.walk.name == "open_day"))
    ):
        return False
    at = exchange.position
    while (each := state.open_slot) and each is not slot:
        settle(state, each, Given(words="", value=LATER, at=at))
    settle(state, slot, Given(words=exchange.answer.strip(), items=items_in(exchange.answer), at=at))
    state.rests, state.heard = False, Heard(kind="answer", about=slot.name)
    return True


def _gives_part(state: State, exchange: Exchange) -> bool:
    """Take words about the part of life that was asked for and waits; return whether they were such."""
    slot, answer = state.open_slot, exchange.answer
    is_put = slot is not None and slot.name in DOMAINS and slot.name in state.put
    if (
        slot is None
        or not (is_put and is_of_part(slot.name, answer))
        or is_weighty(answer)
        or is_aside(answer)
    ):
        return False
    words = " ".join(answer.split())
    settle(state, slot, Given(words=words, at=exchange.position))
    state.rests, state.heard = False, Heard(kind="answer", about=slot.name)
    return True


def begin_rest(state: State, exchange: Exchange, slot: Slot | None) -> None:
    """Begin a rest: after something heavy, or where the same question would be put a third time."""
    heard = state.heard or Heard(kind="answer")
    is_open = slot is not None and slot.name not in state.settled
    state.missed = state.missed + 1 if is_open or heard.kind == "aside" else 0
    is_told = heard.kind in {"answer", "aside", "declines"} and not exchange.value
    if is_told and (slot or heard.kind == "aside") and is_heavy(exchange.answer):
        kept = state.last if heard.kind == "answer" else ""
        state.rests = state.is_grave = True
        state.heard = Heard(kind="heavy", about=kept)
    elif heard.kind == "grief":
        state.rests = state.is_grave = True
    elif heard.kind == "aside" and state.missed >= _MAX_PUT:
        state.rests = True


def takes_up(state: State, exchange: Exchange) -> bool:
    """End a rest if words answer the question that waits for lack of one; return whether they do.

    After something hard, what is said is talk until they go on.
    """
    slot, kind = state.open_slot, state.heard.kind if state.heard else "answer"
    if not state.rests or state.is_grave or state.is_in_danger or slot is None or slot.name not in state.put:
        return False
    is_given = kind == "answer" and not exchange.value and exchange.ratings is None
    if slot.kind == "pulse" or not (is_given and fits(exchange.answer, slot)) or _is_refusal(exchange.answer):
        return False
    state.rests = False
    return True


def _is_refusal(words: str) -> bool:
    return any(is_about(name, words) for name in ("no_ratings", "not_about"))


def take_beside(state: State, exchange: Exchange, slot: Slot) -> bool:
    """Take words that an arc's question doesn't ask for; return whether they were such."""
    heard, answer = state.heard or Heard(kind="answer"), exchange.answer
    if heard.kind in _REFUSED and (slot.choices or slot.kind == "pulse") and is_about("no_ratings", answer):
        _decline(state, slot, exchange.position)
    elif heard.kind in _REFUSED and is_about("not_about", answer):
        _leave_open(state, slot, exchange)
    elif slot.name in DOMAINS and (part := part_turned_to(answer)):
        _turn_to(state, part)
    elif slot.kind in {"choice", "pulse"} and not re.search(r"[^\W\d_]", answer):
        return False
    elif _is_beside(state, answer, slot):
        is_story = heard.kind == "answer" and not is_aside(answer) and is_weighty(answer)
        is_to_rest = is_about("no_questions", answer) or plain_act(answer) in _RESTFUL
        state.rests = state.is_grave = is_to_rest or (is_story and len(answer.split()) > FEW_WORDS)
        state.refused.add(slot.name)
        state.heard = Heard(kind="aside")
    else:
        return False
    return True


def _leave_open(state: State, slot: Slot, exchange: Exchange) -> None:
    """Leave open what the person doesn't want to talk about: the part that they name, else what was asked."""
    part = part_named(exchange.answer) if slot.name in DOMAINS else ""
    settle(state, state.walk.slot(part or slot.name), Given(words="", value=LATER, at=exchange.position))
    state.heard = Heard(kind="later")


def is_next(heard: Heard, answer: str) -> bool:
    """Return whether words only ask for the next question."""
    return heard.kind == "continue" and is_about("next", answer)


def _is_beside(state: State, answer: str, slot: Slot) -> bool:
    """Return whether words have to be answered as themselves instead of as an answer to a slot."""
    heard = state.heard or Heard(kind="answer")
    if heard.kind == "question":
        return not asks_about_slot(answer)
    if heard.kind == "answer" and slot.kind in {"choice", "pulse"} and len(answer.split()) < FEW_WORDS:
        return is_aside(answer)
    if heard.kind == "answer" and slot.kind != "choice" and slot.name in state.refused:
        return is_aside(answer)  # said again, it is the answer
    return heard.kind == "request" or (heard.kind == "answer" and not fits(answer, slot))


def _decline(state: State, slot: Slot, at: int) -> None:
    """Take a refusal to rate: no ratings are asked for any more, and of a part only words."""
    _refuse_ratings(state, at)
    if slot.kind == "choice":
        settle(state, slot, Given(words="", value=LATER, at=at))
    state.heard = Heard(kind="declines", about=slot.name)


def _refuse_ratings(state: State, at: int) -> None:
    state.is_unrated = True
    for slot in state.walk.slots:
        if slot.kind == "pulse":
            settle(state, slot, Given(words="", value=LATER, at=at))


def _turn_to(state: State, part: str) -> None:
    """Ask next for the part of the life map that the person would rather talk about."""
    state.rests, state.wanted, state.heard = False, part, Heard(kind="continue")
    state.settled.discard(part)
