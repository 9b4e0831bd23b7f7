"""`show_help_lines`: shows the card with help lines beside the user's message, and returns the lines."""

from typing import Literal
from uuid import UUID

from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.models import Profile
from coaching.people.help_lines import count_card, country_of, read_offer
from coaching.safety.card import known_danger
from coaching.safety.lines import Offer
from coaching.tools.context import ToolContext
from coaching.tools.foreign import has_read_others
from coaching.tools.presentation import Presentation, SageTool
from sessions_app.models import ToolCallRecord
from sessions_app.selectors import accessible_session
from sessions_app.session_events import CardGiven, append
from sessions_app.verdicts import NewVerdict, is_more_acute, message_to_judge, store_verdict

DESCRIPTION = (
    "Show the card with the help lines of the user's country beside your answer, and get the lines, so that "
    "you can name them. Use it at once when anybody may be in danger (their life, their body, violence, to "
    "the user, by them, or to somebody they speak of), also where it is only hinted at, and in any language. "
    "Not needed where <help_lines> says that the card is shown. Then go on, stay with them, and ask."
)
ONLY_IN_A_CONVERSATION = "Only a conversation can show a card."


class ShowHelpLinesInput(ToolInput):
    reason: Literal["immediate", "concern"] = Field(
        default="concern", description="immediate: somebody may come to harm now or soon."
    )
    about: Literal["self", "other"] = Field(
        default="self", description="other: somebody else is in danger, not the user."
    )


async def _run(context: ToolContext, given: ShowHelpLinesInput) -> ToolResult:
    session_id = context.session_id
    if session_id is None:
        raise ToolError(ONLY_IN_A_CONVERSATION)
    return await context.commit(lambda: _show(context, session_id, given))


def _show(context: ToolContext, session_id: UUID, given: ShowHelpLinesInput) -> ToolResult:
    """Store Sage's verdict about the message, with its card where that makes one."""
    session = accessible_session(user_id=context.user_id, session_id=session_id, is_locked=True)
    level = given.reason
    calls = ToolCallRecord.of(context.user_id).filter(
        turn__session_id=session_id, tool_use_id=context.tool_use_id
    )
    call = calls.order_by("-pk").select_related("turn__session").first()
    message = message_to_judge(call.turn) if call is not None else None
    profile, _ = Profile.of(context.user_id).get_or_create()
    offer = read_offer(country_of(profile))
    if message is None:
        return _result(offer, is_shown=False)
    kept = known_danger(message.metadata, None)
    verdict = NewVerdict(
        level=level, about=given.about, noticed=level, is_foreign=call is not None and has_read_others(call)
    )
    has_risen = store_verdict(message.pk, verdict)
    if has_risen and (kept is None or is_more_acute(level, kept.level)):
        append(session, CardGiven(number=message.number, is_replaced=kept is not None))
        if kept is None:
            count_card(level, now=context.now)
    return _result(offer, is_shown=True)


def _result(offer: Offer, *, is_shown: bool) -> ToolResult:
    lines = [
        " · ".join(filter(None, (line.title, line.phone, line.text, line.hours, line.site)))
        for line in offer.lines
    ]
    return ToolResult.of(success=is_shown, shown=is_shown, country=offer.country or "anywhere", lines=lines)


SHOW_HELP_LINES: SageTool[ShowHelpLinesInput] = SageTool(
    name="show_help_lines",
    description=DESCRIPTION,
    input_model=ShowHelpLinesInput,
    kind="instant",
    run=_run,
    presentation=Presentation(
        once=_("showed the help lines"), often=_("showed the help lines"), activity=_("Looking up help lines")
    ),
)
