"""Sage's own sentences, for when the model's text is missing or cut. They are stored in English."""

import math
from collections.abc import Mapping

from django.utils.translation import gettext_noop as _

from coaching.engine.errors import FailureReason, UpstreamError
from coaching.engine.ports import PartWords

FAILURES: Mapping[FailureReason, str] = {
    "rate_limited": _("The model is getting too many requests right now. Wait a moment, then try again."),
    "overloaded": _("The model is overloaded right now. Wait a moment, then try again."),
    "unavailable": _("The model can’t be reached right now. Try again in a moment."),
    "rejected": _("The model refused this request. Try again with a shorter or different message."),
    "too_long": _(
        "That’s more than the model can read at once. Try a shorter message or a new conversation."
    ),
    "unauthorized": _(
        "The model’s provider refused the API key. Whoever runs this server needs to check it."
    ),
    "unknown_model": _("The chosen model doesn’t exist. Whoever runs this server needs to check it."),
    "broken_stream": _("The answer was cut off on its way. Try again."),
    "out_of_time": _("This took too long, so I stopped. Try again, or ask for a smaller step."),
    "tools_failing": _(
        "I couldn’t get that done: what I tried kept failing. Try again, or put it differently."
    ),
    "circuit_open": _("The model can’t be reached right now. Try again in half a minute."),
    "internal": _("Something went wrong on our side. Your message is saved. Please try again."),
}
"""What happened and what to do, for each reason."""
FAILS_ALONE = _(
    "The model keeps failing on your messages. Try other words or a new conversation. If that fails too, "
    "tell whoever runs this server."
)
"""Instead of them for a person whose turns alone fail."""
OPENING_CUT = _("Sage was cut off here. You can just write to it.")
"""Instead of them where Sage spoke first: there is no message to try again."""


def failure_sentence(failure: UpstreamError) -> str:
    """Return the sentence for a failure, with the wait that the server asks for."""
    sentence, seconds = FAILURES[failure.reason], failure.retry_after_seconds
    is_worth_waiting = failure.is_retryable or failure.reason == "circuit_open"
    if not is_worth_waiting or seconds is None or seconds < 1:
        return sentence
    return f"{sentence.split('. ')[0]}. Try again in {_in_words(seconds)}."


def _in_words(seconds: float) -> str:
    for unit, length in (("hour", 3600), ("minute", 60)):
        if seconds > 2 * length:
            return f"{math.ceil(seconds / length)} {unit}s"
    count = math.ceil(seconds)
    return f"{count} second{'' if count == 1 else 's'}"


WORDS = PartWords(
    refused=(
        "I'm sorry, I can't help with that one. I'd like to stay with you on what's behind it, though: "
        "would you like to put it another way, or talk about something else?"
    ),
    cut_in_words=_("That answer got too long and was cut off. Say “go on” and I’ll continue."),
    cut_in_call=_("That got too long, so I didn’t do it. Ask me for a smaller step."),
    too_long=_("This conversation got too long for one answer. Start a new one to continue."),
    repeated_itself=_("The model began to repeat itself, so I stopped it. Try putting it differently."),
    failure=failure_sentence,
    nothing_said=_("I don’t have anything to add right now. Try putting it differently."),
)
