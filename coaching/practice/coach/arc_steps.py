"""Steps that several arcs share: what the user began with, a reply to their words, and the pulse check."""

from collections.abc import Sequence

from coaching.practice.coach.arc_hearing import is_skip
from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.arc_wording import NODS, PASSED, Question
from coaching.practice.coach.listening import DOMAINS, is_heavy, is_substance, reflect
from coaching.practice.coach.wording import pick
from coaching.practice.script import Reply, Text, ToolUse


def words_for_or_first(arc: ArcTalk, question: Question) -> str:
    """Return the words that answered a question, or the ones that began the session, if they say enough."""
    if words := arc.words_for(question):
        return words
    is_opening = arc.span.is_whole_session and bool(arc.exchanges) and is_substance(arc.exchanges[0].answer)
    return arc.exchanges[0].answer if is_opening else ""


def react_to_words(arc: ArcTalk, answer: str, heavy_replies: Sequence[str]) -> str:
    """Return a short reply to typed words: reflected, with one of `heavy_replies` if they are heavy."""
    if is_skip(answer):
        return pick(PASSED, arc.conversation)
    heard = reflect(answer)
    if is_heavy(answer):
        return " ".join(part for part in (heard, pick(heavy_replies, arc.conversation)) if part)
    return heard or pick(NODS, arc.conversation)


def is_pulse_settled(arc: ArcTalk) -> bool:
    """Return whether no pulse check is needed: shown already, skipped, or not possible."""
    is_shown = any(call.outcome.name == "show_pulse_check" for call in arc.calls)
    return is_shown or arc.is_hurried or "show_pulse_check" not in arc.conversation.tools


def show_pulse(arc: ArcTalk, question: Question, lead: str) -> Reply:
    """Ask for ratings of all domains."""
    asked = pick(question.wordings, arc.conversation)
    call = ToolUse("show_pulse_check", {"context": asked, "domains": list(DOMAINS)})
    return Reply.of(Text(lead), call) if lead else Reply.of(call)
