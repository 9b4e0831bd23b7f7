"""The guided tour: what the practice model says unless a test scripts it. A pure function of the request.

Danger comes first, then the walk that is going on; an open conversation has a menu.
"""

import re
from collections.abc import Mapping
from typing import Any

from coaching.practice.coach import texts
from coaching.practice.coach.acts import is_of_else, plain_act
from coaching.practice.coach.after_danger import is_at_rest, question_due, words_after, words_at_rest
from coaching.practice.coach.analysis import analyse, is_analysis
from coaching.practice.coach.asides import answer_question, pick, react, say_able, say_written
from coaching.practice.coach.beside import answer_beside, recall_in_walk, remembered
from coaching.practice.coach.conversation import Call, Conversation, Exchange
from coaching.practice.coach.correcting import choice_in
from coaching.practice.coach.danger import (
    answer_danger,
    is_in_danger,
    line_of_help,
    suggests_danger,
    thanks_for_no,
)
from coaching.practice.coach.documents import classify, is_classification
from coaching.practice.coach.doing import do_in_walk, do_requested, note_or_offer, say_done, say_steps
from coaching.practice.coach.file_names import reason_in_words
from coaching.practice.coach.follow_up import draft_in
from coaching.practice.coach.grieving import is_grieving
from coaching.practice.coach.harm import asks_of_harm
from coaching.practice.coach.hearing import Heard, hear, is_about
from coaching.practice.coach.jobs import do_job
from coaching.practice.coach.library import SEARCH, say_what_was_found, say_what_was_said
from coaching.practice.coach.onward import offer_due
from coaching.practice.coach.own_words import say_last_told
from coaching.practice.coach.pages import shows_pages, write_down
from coaching.practice.coach.plans import CREATE
from coaching.practice.coach.replay import replay
from coaching.practice.coach.sense import sense
from coaching.practice.coach.stopping import warn_of_stopping
from coaching.practice.coach.tables import STATIONS, WALKS, Walk, walk_called
from coaching.practice.coach.talk import stay_with, talk
from coaching.practice.coach.walking import Walking, ask, say, say_goodbye, with_end, with_lead, with_told
from coaching.practice.coach.wordings import introduce, introduction
from coaching.practice.script import Reply, ToolUse

_NAMED = re.compile(
    r"(?i)\b(domain[ _-]deep[ _-]dive|capture[ _-]review|life[ _-]plan[ _-]revision|crisis[ _-]support)\b"
)


def answer(body: Mapping[str, Any]) -> Reply:
    """Answer a validated request."""
    if is_classification(body):
        return classify(body)
    if is_analysis(body):
        return analyse(body)
    if shows_pages(body):
        return write_down(body, {})
    conversation = Conversation(body)
    with texts.speaking(conversation.language):
        return do_job(conversation) or _seen(conversation, _lead_on(conversation))


def _seen(conversation: Conversation, reply: Reply) -> Reply:
    """Return a reply that says first that the pictures with the newest words can't be seen."""
    if not conversation.brings_picture or is_in_danger(conversation):
        return reply
    return with_lead(reply, texts.said("no_sight"))


def _lead_on(conversation: Conversation) -> Reply:
    if answered := answer_danger(conversation):
        return answered if is_in_danger(conversation) else with_lead(answered, warn_of_stopping(conversation))
    return with_end(_go_on(conversation), line_of_help(conversation))


def _go_on(conversation: Conversation) -> Reply:
    if question := question_due(conversation):
        return say(introduction(conversation) if not conversation.spoken.strip() else "", question)
    if warning := warn_of_stopping(conversation):
        return _go_on_warned(conversation, warning)
    if after := thanks_for_no(conversation) or words_after(conversation):
        return _go_on_after(conversation, after)
    walking = current_walk(conversation)
    if told := _say_results(conversation, walking):
        return told
    if is_grieving(conversation):
        return say(pick(texts.reactions("grief"), conversation))  # nothing is asked, offered or written
    return _in_walk(conversation, walking) if walking else _open(conversation)


def _say_results(conversation: Conversation, walking: Walking | None) -> Reply | None:
    """Say what calls have just come to; None for those that a walk or the person's words go on from."""
    done = {call.name: call for call in reversed(conversation.part_calls) if call.is_fresh}
    completed, searched, entered = map(
        done.get, ("complete_session", "recall_context", "enter_structured_arc")
    )
    if completed and completed.values.get("success"):
        ended = conversation.ended_arc
        return say_goodbye(conversation, walk_called(ended.name) if ended else None, completed)
    if walking and (CREATE in done or not walking.walk.is_arc) and (steps := say_steps(conversation)):
        told = "\n\n".join(filter(None, steps))
        return say(told) if walking.state.rests else with_told(walking.go_on(), told)
    if searched:
        slot = walking.state.open_slot if walking and not walking.state.rests else None
        back = "" if walking else texts.said("recall_back")
        told = say_what_was_said(searched)
        here = say_last_told(conversation) if told == texts.said("recall_nothing") else ""
        return say(told, here, slot.question if slot else back)
    if entered and not entered.values.get("success"):
        because = reason_in_words(str(entered.values.get("message") or entered.text))
        return say(texts.said("not_entered", because=because), texts.said("after_arc"))
    return None if walking else _say_others(conversation, done)


def _say_others(conversation: Conversation, done: Mapping[str, Call]) -> Reply | None:
    if found := done.get(SEARCH):
        return say(say_what_was_found(found), texts.said("recall_back"))
    named = done.get("load_skill")
    return say_done(conversation, done) or (_after_skill(conversation, named) if named else None)


def _go_on_warned(conversation: Conversation, warning: str) -> Reply:
    """Warn, and go on with a walk that asks something; elsewhere nothing else is said, offered or noted."""
    if walking := current_walk(conversation):
        return with_lead(_in_walk(conversation, walking), warning)
    return say(warning if conversation.spoken.strip() else introduce(warning))


def _go_on_after(conversation: Conversation, lead: str) -> Reply:
    """Go on with what the person came for, once they have said how they are after danger."""
    if walking := current_walk(conversation):
        walking.state.heard = None  # these words answer no question of the walk
        return with_lead(walking.go_on(), lead)
    came_for = [hear(exchange.answer) for exchange in conversation.exchanges[-2:-1] if not exchange.value]
    if came_for and came_for[0].kind == "wish":
        return _begin(conversation, walk_called(came_for[0].words), lead)
    return say(lead, texts.said("care_here"))


def current_walk(conversation: Conversation) -> Walking | None:
    """Return the walk that is going on: the arc, or the station whose question was asked last."""
    if arc := conversation.arc:
        return _walking(conversation, walk_called(arc.name), arc.begins)
    walk: Walk | None = None
    begins, before = 0, conversation.arc_ended_at
    for position, text in [
        *((each.position, each.question) for each in conversation.exchanges if each.position > before),
        (-1, conversation.open_question),
    ]:
        asked = next(
            (w for w in STATIONS.values() if any(slot.asked_at(text) >= 0 for slot in w.slots)), None
        )
        if any(texts.stands_in(name, text) for name in ("menu", "more", "after_arc")):
            walk = None
        elif asked is not None and asked is not walk:
            walk, begins = asked, before
        before = position
    return _walking(conversation, walk_called(walk.name), begins) if walk is not None else None


def _walking(conversation: Conversation, walk: Walk, begins: int) -> Walking:
    return Walking(conversation, walk, replay(conversation, walk, begins), begins)


def _aside(conversation: Conversation, newest: Exchange) -> str:
    """Answer a question at the very beginning of an arc; the introduction says already who is there."""
    told = answer_question(conversation, newest.answer)
    return "" if told in texts.questions()["identity"] else told


def _in_walk(conversation: Conversation, walking: Walking) -> Reply:
    newest = conversation.newest
    span = conversation.arc
    if span and span.is_whole_session and not conversation.spoken.strip() and not conversation.part_calls:
        is_question = newest is not None and hear(newest.answer).kind == "question"
        aside = _aside(conversation, newest) if newest and is_question else ""
        walking.state.heard = None  # nothing was asked yet that could be answered
        return walking.go_on(introduction(conversation), aside, walking.walk.opening)
    if newest is None and walking.state.heard and walking.state.heard.kind == "heavy":
        return answer_beside(conversation, walking, walking.state.heard)  # its page has just been written
    if newest is None or newest.value:
        return walking.go_on()
    heard = walking.state.heard or hear(newest.answer)
    if heard.kind == "recall":
        return recall_in_walk(conversation, walking, heard)
    if heard.kind == "danger" and walking.state.rests:
        return say(stay_with(conversation), texts.said("rests"))
    if heard.kind == "refusal" and walking.state.rests:
        return say(react(conversation, walking.state, heard))
    if heard.kind in {"aside", "heavy", "rest"}:
        return answer_beside(conversation, walking, heard)
    if not walking.walk.is_arc and (reply := do_in_walk(conversation, newest.answer)):
        walking.state.heard = None  # it has been answered
        return reply if reply.calls else with_told(walking.go_on(), reply.words)
    if heard.kind in {"menu", "wish"} and not walking.walk.is_arc:
        return _begin(conversation, walk_called(heard.words)) if heard.words else _menu(conversation)
    return walking.go_on()


def _begin(conversation: Conversation, walk: Walk, *lead: str) -> Reply:
    """Enter an arc, or begin something else that the tour shows."""
    if walk.is_arc:
        if "enter_structured_arc" not in conversation.tools:
            return say(*lead, texts.said("cannot_enter"))
        return with_lead(Reply.of(ToolUse("enter_structured_arc", {"arc": walk.name})), *lead, walk.opening)
    if walk.skill and walk.skill not in conversation.skills and "load_skill" in conversation.tools:
        return with_lead(Reply.of(ToolUse("load_skill", {"name": walk.skill})), *lead, walk.opening)
    return with_lead(_walking(conversation, walk, conversation.begins_now).go_on(), *lead, walk.opening)


def _after_skill(conversation: Conversation, call: Call) -> Reply:
    name = str(call.input.get("name", ""))
    station = next((walk for walk in STATIONS.values() if walk.skill == name), None)
    if station is None:
        return say(texts.said("named", skill=name.replace("-", " ")), texts.said("after_arc"))
    return _walking(conversation, walk_called(station.name), conversation.begins_now).go_on()


def _menu(conversation: Conversation, *lead: str) -> Reply:
    return with_lead(ask(conversation, texts.said("menu"), texts.choices("menu")), *lead)


def _open(conversation: Conversation) -> Reply:
    newest = conversation.newest
    if conversation.is_last_round:
        return say(texts.said("out_of_steps"))
    is_first = not conversation.spoken.strip()
    lead = introduction(conversation) if is_first else ""
    if newest is None and is_at_rest(conversation):
        return say(lead, texts.said("care_here"))
    if newest is None:
        return _menu(conversation, lead, offer_due(conversation) if is_first else "")
    if suggests_danger(conversation) or asks_of_harm(conversation):  # no step, tip, offer or praise follows
        told = stay_with(conversation)
        return say(introduce(told) if is_first else told)
    if not newest.value and (done := do_requested(conversation, newest.answer)):
        return done
    return _answer(conversation, newest, lead, is_first=is_first)


def _tapped(newest: Exchange) -> str:
    choices = [*texts.choices("menu"), *texts.choices("more")]
    return newest.value or (choice_in(newest.answer, choices) or ("", ""))[1]


def _answer(conversation: Conversation, newest: Exchange, lead: str, *, is_first: bool) -> Reply:
    value = _tapped(newest)
    if value in WALKS:
        return _begin(conversation, walk_called(value), lead)
    if value == "recall":
        return say(lead, texts.said("recall_ask"))
    if value == "more":
        return with_lead(ask(conversation, texts.said("more"), texts.choices("more")), lead)
    if value in texts.questions():
        return say(lead, texts.questions()[value][0], texts.said("recall_back"))
    heard = Heard(kind="menu") if newest.value else hear(newest.answer)
    if found := remembered(conversation, newest, heard):
        return found
    if (named := _NAMED.search(newest.answer)) and "load_skill" in conversation.tools:
        name = re.sub(r"[ _]", "-", named[1].lower())
        if name not in conversation.skills:
            return Reply.of(ToolUse("load_skill", {"name": name}))
    is_story = heard.words == "decision" and is_about("tells_choice", newest.answer)
    if heard.kind == "wish" and not (is_story or plain_act(newest.answer) in {"jot", "jotask"}):
        again = texts.said("note_again") if heard.words == "note" and ":" in newest.answer else ""
        return _begin(conversation, walk_called(heard.words), lead, again)
    return note_or_offer(conversation, newest) or _reply(conversation, newest, heard, lead, is_first=is_first)


def _reply(conversation: Conversation, newest: Exchange, heard: Heard, lead: str, *, is_first: bool) -> Reply:
    """Answer words that ask for nothing to be shown; a menu only where they leave it open what they want."""
    has_shown = any(texts.stands_in(name, newest.question) for name in ("menu", "more", "after_arc"))
    sensed = sense(newest.answer)
    match heard.kind:
        case "leave" if sensed.act != "bye":
            return say(texts.said("left_alone"))
        case "no" if texts.stands_in_offers(newest.question):
            return say(texts.said("declined"))
        case "correction" if any(call.path for call in conversation.calls):
            return say(texts.said("closed"))
        case kind if kind != "menu" and is_at_rest(conversation):
            return say(lead, *words_at_rest(conversation, newest, heard))
        case "hello" if is_first or sensed.act == "show":
            return _menu(conversation, lead, offer_due(conversation))
        case "menu" | "continue":
            return _menu(conversation, lead, offer_due(conversation) if is_first else "")
        case "yes" if has_shown or texts.stands_in("hints", newest.question, "reactions"):
            return _menu(conversation)
    if is_about("wrote", newest.answer):
        return say(say_written(conversation))
    is_of_tour = texts.language() != texts.ENGLISH or is_about("of_tour", newest.answer)
    is_asked = sensed.topic in {"able", "feature"} and is_of_tour and not is_of_else(newest.answer)
    is_asked = is_asked and not draft_in(newest.answer)
    if is_asked or (is_first and plain_act(newest.answer) == "able"):
        return _menu(conversation, say_able(conversation, sensed.topic if is_asked else "able"))
    told = talk(conversation, newest, heard)
    return say(introduce(told) if is_first else told)
