"""What the model is told of remembered danger with one message: to ask in this answer, or that it is over."""

from coaching.care.questions import CareOfTurn, foresee
from coaching.care.standing import Care, SaidDanger
from coaching.clock.days import with_weekday
from coaching.context.care import CARE, danger_in_words
from coaching.context.entries import wrap
from coaching.context.help_lines import danger_of
from coaching.context.life import Life, Unknown
from coaching.context.opening import GONE
from coaching.context.statement import StatementPart
from sessions_app.models import Message

ASK = "care_ask"
"""The key of the request to ask, whose section has the same tag."""

_ASK_OWN = (
    "On {day} they wrote of {what}. Ask about it first in this answer, plainly and warmly, in a sentence "
    "or two of your own: how they have been since then, and {whether}. Then follow them: what they came "
    "for, also an arc, goes on once they have answered. If it is still there, it comes before everything. "
    "If they are all right, believe them. If they don't want to be asked, don't press them. Only where a "
    "section of this name says that they have ended it, say that you won't ask again; else tell them of the "
    "button for that on the page [Safety](/safety/#care)."
)
_ASK_OTHER = (
    "On {day} they wrote of {what}. Ask first in this answer, plainly and warmly, in a sentence of your "
    "own, how that person is, and how they themselves are with it. Then go on with what they came for."
)
_WHETHER = {
    ("life", "immediate"): "whether they are thinking of killing themselves today",
    ("life", "concern"): "whether it is still as dark today",
    ("violence", "immediate"): "whether they are safe today",
    ("violence", "concern"): "whether they are safe today",
}
_JUST_SAID = (
    "They have just asked you not to ask about it again. Say in a few words that you won't, and go on. "
    "Bring it up only if they do."
)
_WANTED = "Since {day} they don't want to be asked about it any more. Bring it up only if they do."
_OVER = "It is over: the days have passed, or it turned out to be no danger. Bring it up only if they do."


def ask_part(danger: SaidDanger, care: Care) -> StatementPart:
    """Return the section that has the model ask, in this answer alone."""
    values = {"day": with_weekday(danger.day), "what": danger_in_words(danger)}
    if danger.about == "self":
        text = _ASK_OWN.format(**values, whether=_WHETHER[danger.topic, danger.level])
    else:
        text = _ASK_OTHER.format(**values)
    return StatementPart(
        key=ASK, digest=care.today.isoformat(), text=wrap(CARE, text, {"ask": "now"}), must_go=True
    )


def end_part(turn: CareOfTurn) -> StatementPart:
    """Return the section that says that it is over."""
    return StatementPart(key=CARE, digest=GONE, text=wrap(CARE, ending_words(turn)), must_go=True)


def ending_words(turn: CareOfTurn) -> str:
    """Return how it ended, for a conversation that knows of it."""
    if turn.has_ended_now:
        return _JUST_SAID
    ended = turn.care.ended
    return _WANTED.format(day=with_weekday(ended.on)) if ended else _OVER


def foreseen(life: Life, newest: Message) -> CareOfTurn | None:
    """Return what the answer to a message will ask, as far as the life is known."""
    if isinstance(life.care, Unknown):
        return None
    words = "" if newest.metadata.get("is_hidden") else newest.content
    return foresee(life.care, words=words, is_in_danger=danger_of(newest) is not None, now=life.now)
