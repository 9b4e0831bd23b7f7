"""The guided tour: what the practice model says unless a test scripts it. A pure function of the request.

Danger comes first, then the walk that is going on; an open conversation has a menu.
"""

import re
from collections.abc import Mapping
from typing import Any

from coaching.practice.coach import texts
from coaching.practice.coach.after_danger import (
    is_at_rest,
    is_still_there,
    question_due,
    words_after,
    words_at_rest,
)
from coaching.practice.coach.analysis import analyse, is_analysis
from coaching.practice.coach.asides import answer_question, in_both_languages, pick
from coaching.practice.coach.conversation import Call, Conversation, Exchange
from coaching.practice.coach.documents import classify, is_classification
from coaching.practice.coach.file_names import reason_in_words
from coaching.practice.coach.hearing import Heard, hear
from coaching.practice.coach.jobs import do_job
from coaching.practice.coach.library import (
    SEARCH,
    say_what_was_found,
    search_documents,
)
from coaching.practice.coach.replay import choice_in, is_safe, replay
from coaching.practice.coach.tables import ARCS, STATIONS, WALKS, Walk
from coaching.practice.coach.walking import Walking, ask, say, say_goodbye, with_lead
from coaching.practice.script import Reply, ToolUse
from coaching.safety.card import danger_in
from coaching.safety.intensity import SaidWords, measure_intensity
from coaching.safety.lines import Line, shipped_offer

MAX_HELP_LINES = 5
_OFFER = re.compile(r'<offer arc="([a-z_]{1,40})">')
_KNOWN = re.compile(r"^last session\s*:\s*(?!none|never|no\b|-)\S", re.IGNORECASE | re.MULTILINE)
_NAMED = re.compile(
    r"\b(domain[ _-]deep[ _-]dive|capture[ _-]review|life[ _-]plan[ _-]revision|crisis[ _-]support)\b",
    re.IGNORECASE,
)
_LAST_WORDS = {"pause": "bye", "no": "declined", "leave": "dropped", "correction": "closed"}


def answer(body: Mapping[str, Any]) -> Reply:
    """Answer a validated request."""
    if is_classification(body):
        return classify(body)
    if is_analysis(body):
        return analyse(body)
    conversation = Conversation(body)
    return do_job(conversation) or _seen(conversation, _lead_on(conversation))


def _seen(conversation: Conversation, reply: Reply) -> Reply:
    """Return a reply that says first that the pictures with the newest words can't be seen."""
    if not conversation.brings_picture or is_in_danger(conversation):
        return reply
    return with_lead(reply, texts.said("no_sight"))


def _lead_on(conversation: Conversation) -> Reply:
    if is_in_danger(conversation):
        return point_to_help(conversation)
    if question := question_due(conversation):
        return say(_introduction(conversation) if not conversation.spoken.strip() else "", question)
    if after := words_after(conversation):
        return _go_on_after(conversation, after)
    done = [call for call in conversation.part_calls if call.is_fresh]
    if completed := next((c for c in done if c.name == "complete_session" and c.values.get("success")), None):
        ended = conversation.ended_arc
        return say_goodbye(conversation, ARCS.get(ended.name) if ended else None, completed)
    walking = current_walk(conversation)
    if searched := next((call for call in done if call.name == "recall_context"), None):
        slot = walking.state.open_slot if walking else None
        return say(_say_found(searched), slot.question if slot else texts.said("recall_back"))
    if (found := next((call for call in done if call.name == SEARCH), None)) and walking is None:
        return say(say_what_was_found(found), texts.said("recall_back"))
    entered = next((call for call in done if call.name == "enter_structured_arc"), None)
    if (failed := entered) and not failed.values.get("success"):
        because = reason_in_words(str(failed.values.get("message") or failed.text))
        return say(texts.said("not_entered", because=because), texts.said("after_arc"))
    named = next((call for call in done if call.name == "load_skill"), None)
    if named and walking is None:
        return _after_skill(conversation, named)
    if _is_grieving(conversation):
        return say(pick(texts.REACTIONS["grief"], conversation))  # nothing is asked, offered or written
    return _in_walk(conversation, walking) if walking else _open(conversation)


def is_in_danger(conversation: Conversation) -> bool:
    """Return whether words sounded like danger, and the person hasn't said since that they're safe."""
    is_open = False
    for exchange in conversation.exchanges:
        if not exchange.value and (danger_in(exchange.answer) or is_still_there(exchange)):
            is_open = True
        elif is_open and is_safe(exchange.answer):
            is_open = False
    return is_open


def _go_on_after(conversation: Conversation, lead: str) -> Reply:
    """Go on with what the person came for, once they have said how they are after danger."""
    if walking := current_walk(conversation):
        walking.state.heard = None  # these words answer no question of the walk
        return with_lead(walking.go_on(), lead)
    came_for = [hear(exchange.answer) for exchange in conversation.exchanges[-2:-1] if not exchange.value]
    if came_for and came_for[0].kind == "wish":
        return _begin(conversation, WALKS[came_for[0].words], lead)
    return say(lead, texts.said("care_here"))


def point_to_help(conversation: Conversation) -> Reply:
    """Point to help lines; show their card where the tool is offered and the page hasn't shown it."""
    section = conversation.section("help_lines")
    shown = next((c for c in conversation.part_calls if c.name == "show_help_lines"), None)
    if shown is None and "show_help_lines" in conversation.tools and 'shown="yes"' not in section:
        return Reply.of(ToolUse("show_help_lines", {"reason": "immediate"}))
    noted = [line[2:] for line in section.splitlines() if line.startswith("- ")]
    found = noted or (shown.values.get("lines") if shown else None) or map(_in_words, shipped_offer().lines)
    lines = "\n".join(f"- {line}" for line in list(found)[:MAX_HELP_LINES])
    is_again = any(texts.said("safe") in exchange.question for exchange in conversation.exchanges[-1:])
    return say(texts.said("help_stay") if is_again else texts.said("help_first"), lines, texts.said("safe"))


def _in_words(line: Line) -> str:
    return " · ".join(filter(None, (line.name, line.phone, line.text, line.site)))


def current_walk(conversation: Conversation) -> Walking | None:
    """Return the walk that is going on: the arc, or the station whose question was asked last."""
    if arc := conversation.arc:
        return _walking(conversation, ARCS[arc.name], arc.begins)
    walk: Walk | None = None
    begins, before = 0, conversation.arc_ended_at
    for position, text in [
        *((each.position, each.question) for each in conversation.exchanges if each.position > before),
        (-1, conversation.open_question),
    ]:
        asked = next((w for w in STATIONS.values() if any(slot.question in text for slot in w.slots)), None)
        if texts.said("menu") in text or texts.said("more") in text or texts.said("after_arc") in text:
            walk = None
        elif asked is not None and asked is not walk:
            walk, begins = asked, before
        before = position
    return _walking(conversation, walk, begins) if walk is not None else None


def _walking(conversation: Conversation, walk: Walk, begins: int) -> Walking:
    return Walking(conversation, walk, replay(conversation, walk, begins), begins)


def _aside(conversation: Conversation, newest: Exchange) -> str:
    """Answer a question at the very beginning; the introduction says already who is there."""
    told = answer_question(conversation, newest.answer)
    return "" if told == texts.QUESTIONS["identity"][1] else told


def _in_walk(conversation: Conversation, walking: Walking) -> Reply:
    newest = conversation.newest
    span = conversation.arc
    if span and span.is_whole_session and not conversation.spoken.strip() and not conversation.part_calls:
        is_question = newest is not None and hear(newest.answer).kind == "question"
        aside = _aside(conversation, newest) if newest and is_question else ""
        walking.state.heard = None  # nothing was asked yet that could be answered
        return walking.go_on(_introduction(conversation), aside, walking.walk.opening)
    if newest is None or newest.value:
        return walking.go_on()
    heard = walking.state.heard or hear(newest.answer)
    if heard.kind == "recall":
        return _recall(conversation, heard.words)
    if heard.kind in {"menu", "wish"} and not walking.walk.is_arc:
        return _begin(conversation, WALKS[heard.words]) if heard.words else _menu(conversation)
    return walking.go_on()


def _is_grieving(conversation: Conversation) -> bool:
    newest = conversation.newest
    is_said = newest is not None and not newest.value and not newest.ratings
    return newest is not None and is_said and hear(newest.answer).kind == "grief"


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
    return _walking(conversation, station, conversation.begins_now).go_on()


def _introduction(conversation: Conversation) -> str:
    is_known = _KNOWN.search(conversation.section("session_context"))
    return texts.said("hello_again" if is_known else "introduction")


def _menu(conversation: Conversation, *lead: str) -> Reply:
    return with_lead(ask(conversation, texts.said("menu"), texts.CHOICES["menu"]), *lead)


def _open(conversation: Conversation) -> Reply:
    newest = conversation.newest
    if conversation.is_last_round:
        return say(texts.said("out_of_steps"))
    is_first = not conversation.spoken.strip()
    lead = _introduction(conversation) if is_first else ""
    if newest is None and is_at_rest(conversation):
        return say(lead, texts.said("care_here"))
    if newest is None:
        return _menu(conversation, lead, _offer(conversation) if is_first else "")
    if not newest.value and (search := search_documents(conversation, newest.answer)):
        return search
    return _answer(conversation, newest, lead, is_first=is_first)


def _tapped(newest: Exchange) -> str:
    choices = [*texts.CHOICES["menu"], *texts.CHOICES["more"]]
    return newest.value or (choice_in(newest.answer, choices) or ("", ""))[1]


def _answer(conversation: Conversation, newest: Exchange, lead: str, *, is_first: bool) -> Reply:
    value = _tapped(newest)
    if value in WALKS:
        return _begin(conversation, WALKS[value], lead)
    if value == "recall":
        return say(lead, texts.said("recall_ask"))
    if value == "more":
        return with_lead(ask(conversation, texts.said("more"), texts.CHOICES["more"]), lead)
    if value in texts.QUESTIONS:
        return say(lead, texts.QUESTIONS[value][1], texts.said("recall_back"))
    heard = hear(newest.answer) if not newest.value else Heard(kind="menu")
    if texts.said("recall_ask") in newest.question and heard.kind in {"answer", "recall"}:
        return _recall(conversation, heard.words or newest.answer)
    if heard.kind == "recall" and heard.words:
        return _recall(conversation, heard.words)
    if (named := _NAMED.search(newest.answer)) and "load_skill" in conversation.tools:
        name = re.sub(r"[ _]", "-", named[1].lower())
        if name not in conversation.skills:
            return Reply.of(ToolUse("load_skill", {"name": name}))
    if heard.kind == "wish":
        return _begin(conversation, WALKS[heard.words], lead)
    return _reply(conversation, newest, heard, lead, is_first=is_first)


def _reply(conversation: Conversation, newest: Exchange, heard: Heard, lead: str, *, is_first: bool) -> Reply:
    is_resting = is_at_rest(conversation)
    if heard.kind in _LAST_WORDS:
        goes_on = "" if heard.kind == "pause" or is_resting else texts.said("after_arc")
        return say(lead, texts.said(_LAST_WORDS[heard.kind]), goes_on)
    if is_resting and heard.kind != "menu":
        return say(lead, *words_at_rest(conversation, newest, heard))
    offer = _offer(conversation) if is_first else ""
    match heard.kind:
        case "question" if texts.QUESTIONS["able"][0].search(newest.answer):
            return _menu(conversation, lead, texts.QUESTIONS["able"][1])
        case "question":
            told = _aside(conversation, newest) if is_first else answer_question(conversation, newest.answer)
        case "foreign":
            told = in_both_languages(heard)
        case "hello" | "yes" | "menu" | "continue" | "later" | "recall":
            again = texts.said("hello_again") if heard.kind == "hello" else ""
            return _menu(conversation, lead or again, offer)
        case "answer" if measure_intensity([SaidWords(text=newest.answer)]).is_high:
            told = texts.REACTIONS["heavy"][0]
        case _:
            told = pick(texts.REACTIONS.get(heard.kind, texts.REACTIONS["miss"]), conversation)
    goes_on = "" if texts.said("after_arc") in newest.question else texts.said("after_arc")
    return say(lead, told, offer, goes_on)


def _offer(conversation: Conversation) -> str:
    found = _OFFER.match(conversation.section("offer"))
    return texts.OFFERS.get(found[1], "") if found else ""


def _recall(conversation: Conversation, query: str) -> Reply:
    if "recall_context" not in conversation.tools:
        return say(texts.said("recall_impossible"))
    return Reply.of(ToolUse("recall_context", {"query": query[:500] or "the newest"}))


def _say_found(call: Call) -> str:
    if call.is_error:
        return texts.said("recall_failed")
    wanted = re.findall(r"\b(?!the\b|and\b)\w{3,}", str(call.input.get("query")).lower())
    hits = [hit for hit in call.values.get("hits") or [] if hit.get("said_by") == "user"]
    said = [(hit.get("date", ""), " ".join(str(hit.get("text")).split())[:300]) for hit in hits]
    near = [(day, text) for day, text in said if any(word in text.lower() for word in wanted)]
    lines = [f"- on {day}: “{text}”" for day, text in near[:3]]
    found = "\n\n".join([texts.said("recall_found"), "\n".join(lines)])
    return found if lines else texts.said("recall_nothing")
