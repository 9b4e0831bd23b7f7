"""Arcs in an open conversation: offered once, entered after a yes, dropped after a no."""

from coaching.practice.coach.arc_hearing import arc_hinted, arc_wanted
from coaching.practice.coach.arc_talk import ArcTalk, say
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.header import read_header
from coaching.practice.coach.listening import hear_intent, is_heavy, is_substance, reflect
from coaching.practice.coach.offer_wording import ARC_DECLINED, ARC_OFFERS, CANNOT_ENTER, NOT_ENTERED
from coaching.practice.coach.scenes.arcs import enter
from coaching.practice.coach.story import Exchange, Story, open_span, read_story
from coaching.practice.coach.wording import (
    ACKNOWLEDGEMENTS,
    FIRST_GREETINGS,
    INTRODUCTION,
    OPEN_QUESTIONS,
    has_offered,
    pick,
)
from coaching.practice.script import Reply


def offer_arcs(conversation: Conversation) -> Reply | None:
    """Handle an arc in an open conversation; None if there is nothing to do."""
    story = read_story(conversation)
    failed = [o for o in conversation.fresh_outcomes if o.name == "enter_structured_arc"]
    if failed:
        reason = " ".join(str(failed[-1].values.get("message") or failed[-1].text).split())[:200]
        return say(pick(NOT_ENTERED, conversation).format(word=reason), pick(OPEN_QUESTIONS, conversation))
    talk = ArcTalk(conversation, story, open_span(story))
    newest = talk.newest
    if newest is None:
        return None
    if offered := _offered_in(newest):
        answer = newest.value or hear_intent(newest.answer, was_offered=True)
        if answer == "yes":
            return _enter(conversation, offered)
        if answer == "no":
            return say(pick(ARC_DECLINED, conversation), pick(OPEN_QUESTIONS, conversation))
    if newest.is_tapped:
        return None
    if wanted := arc_wanted(newest.answer):
        return _enter(conversation, wanted)
    return _offer(talk, newest)


def _enter(conversation: Conversation, arc: str) -> Reply:
    if "enter_structured_arc" not in conversation.tools:
        return say(pick(CANNOT_ENTER, conversation))
    return enter(conversation, arc)


def _offer(talk: ArcTalk, newest: Exchange) -> Reply | None:
    """Offer a suitable arc once, after answering the user's message."""
    conversation = talk.conversation
    arc = _fitting_arc(conversation, newest)
    if not arc or _is_settled(talk.story, arc) or "enter_structured_arc" not in conversation.tools:
        return None
    parts: list[str] = []
    if conversation.position == 0:
        parts += [pick(FIRST_GREETINGS, conversation)]
        parts += [] if read_header(conversation).is_known_user else [INTRODUCTION]
    heard = reflect(newest.answer) if is_substance(newest.answer) else ""
    parts.append(heard or (pick(ACKNOWLEDGEMENTS, conversation) if conversation.position else ""))
    return talk.ask(ARC_OFFERS[arc], *parts)


def _fitting_arc(conversation: Conversation, newest: Exchange) -> str:
    """Return the arc that is due or suggested by the user's words; none in distress."""
    if is_heavy(newest.answer) or has_offered(conversation):
        return ""
    intent = hear_intent(newest.answer, was_offered=False)
    if intent not in {"hello", "tell", "unsure"}:
        return ""
    hinted = arc_hinted(newest.answer)
    is_opening = conversation.position == 0 and intent != "tell"
    return hinted or (read_header(conversation).due_arc if is_opening else "")


def _is_settled(story: Story, arc: str) -> bool:
    """Return whether this arc was offered or done before, or the user has refused any."""
    if any(
        call.outcome.name == "enter_structured_arc" and call.outcome.input.get("arc") == arc
        for call in story.calls
    ):
        return True
    asked = [exchange.question for exchange in story.exchanges]
    is_refused = any(
        _offered_in(exchange) and (exchange.value or hear_intent(exchange.answer, was_offered=True)) == "no"
        for exchange in story.exchanges
    )
    return is_refused or any(ARC_OFFERS[arc].is_in(text) for text in asked)


def _offered_in(exchange: Exchange) -> str:
    return next((arc for arc, question in ARC_OFFERS.items() if question.is_in(exchange.question)), "")
