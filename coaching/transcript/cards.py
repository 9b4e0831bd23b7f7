"""Cards with help lines, shown next to messages and answers in which `safety` detected danger.

The functions read help lines from the database; `Cards` itself doesn't.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from coaching.events import SafetyShown
from coaching.files.safety_plans import read_card_plan, read_card_plan_of_session
from coaching.models import ActionItem
from coaching.people.help_lines import read_offer, read_session_offer
from coaching.safety.card import Card, kept_danger, known_danger
from coaching.safety.danger import Danger
from coaching.safety.lines import Offer, shipped_offer
from coaching.safety.phrases import Topic
from coaching.safety.plan_lines import PlanExcerpt
from coaching.tools.step_results import step_values
from coaching.transcript.calls import QuestionItem, ShownCall, calls_by_round, question_of
from coaching.transcript.names import dom_id_of
from coaching.transcript.step_chips import StepItem, chip_now, chip_of_call
from sessions_app.models import Message, SafetyVerdict, ToolCallRecord, ToolCallState, VerdictLevel
from sessions_app.verdicts import read_verdicts

REFUSED_KEY = "now"
"""The key of the card for refused words; there is at most one."""


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards of one session, with help lines by topic; a missing topic has no card.

    `verdicts` are those about messages, by their keys. `plan` is for cards about the user's own danger.
    `steps` are the next steps of chips as they are now, by id.
    """

    session_id: uuid.UUID | None = None
    offers: Mapping[Topic, Offer] = field(default_factory=dict)
    verdicts: Mapping[int, SafetyVerdict] = field(default_factory=dict)
    plan: PlanExcerpt | None = None
    steps: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def card(self, key: str, danger: Danger) -> Card | None:
        offer = self.offers.get(danger.topic)
        if offer is None:
            return None
        plan = self.plan if danger.about == "self" else None
        return Card(key=key, session_id=str(self.session_id), danger=danger, offer=offer, plan=plan)

    def of_message(self, message: Message) -> SafetyShown | None:
        verdict = self.verdicts.get(message.pk)
        danger = known_danger(message.metadata, verdict)
        card = danger and self.card(f"message-{message.number}", danger)
        if not card:
            return None
        is_foreign = kept_danger(message.metadata) is None and verdict is not None and _is_foreign(verdict)
        return SafetyShown(card=replace(card, is_foreign=is_foreign), number=message.number)

    def verdict_among(self, messages: Iterable[Message]) -> SafetyVerdict | None:
        """Return the verdict about one of a turn's messages: at most one is the user's."""
        found = (self.verdicts.get(message.pk) for message in messages)
        return next((verdict for verdict in found if verdict is not None), None)

    def of_answer(self, call: ToolCallRecord) -> SafetyShown | None:
        danger = kept_danger(call.metadata)
        card = danger and self.card(dom_id_of(call.tool_use_id), danger)
        return SafetyShown(card=card, tool_use_id=call.tool_use_id) if card else None

    def question(self, record: ToolCallRecord) -> QuestionItem:
        item = self._with_card(question_of(record))
        assert isinstance(item, QuestionItem)
        return item

    def calls_by_round(
        self, records: Sequence[ToolCallRecord], *, is_waiting: bool
    ) -> dict[int, list[ShownCall]]:
        shown = calls_by_round(records, is_waiting=is_waiting)
        return {number: [self._with_card(call) for call in row] for number, row in shown.items()}

    def _with_card(self, call: ShownCall) -> ShownCall:
        if isinstance(call, StepItem):
            return chip_now(call, self.steps)
        if not isinstance(call, QuestionItem) or call.danger is None:
            return call
        return replace(call, card=self.card(call.dom_id, call.danger))


NO_CARDS = Cards()


def _is_foreign(verdict: SafetyVerdict) -> bool:
    """Whether only Sage noticed the danger, in turns that had read texts of others."""
    is_heard = verdict.looked in (VerdictLevel.CONCERN, VerdictLevel.IMMEDIATE)
    return verdict.is_foreign and bool(verdict.noticed) and not is_heard


def read_cards(session_id: uuid.UUID, rows: Iterable[Message | ToolCallRecord]) -> Cards:
    """Read the help lines for the dangers in these messages and answers, and the steps of their chips."""
    rows = list(rows)
    verdicts = read_verdicts(session_id, [row for row in rows if isinstance(row, Message)])
    dangers = [
        known_danger(row.metadata, verdicts.get(row.pk) if isinstance(row, Message) else None) for row in rows
    ]
    found = [danger for danger in dangers if danger]
    topics = dict.fromkeys(danger.topic for danger in found)
    offers = {topic: read_session_offer(session_id, topic=topic) for topic in topics}
    return Cards(session_id, offers, verdicts, _read_plan(session_id, found), _read_steps(session_id, rows))


def _read_steps(
    session_id: uuid.UUID, rows: Iterable[Message | ToolCallRecord]
) -> Mapping[int, Mapping[str, Any]]:
    """Return the next steps of chips as they are now, by id; reads nothing where there are none."""
    calls = (row for row in rows if isinstance(row, ToolCallRecord) and row.state == ToolCallState.FINISHED)
    ids = {chip.step_id for call in calls if (chip := chip_of_call(call))}
    if not ids:
        return {}
    steps = ActionItem.unscoped.filter(id__in=ids, user__coaching_sessions=session_id)
    return {step.pk: step_values(step) for step in steps}


def read_card_of_new(message: Message) -> SafetyShown | None:
    """Read the card of a message that has just been stored: only the rules can have seen it."""
    danger = kept_danger(message.metadata)
    if danger is None:
        return None
    offers = {danger.topic: read_session_offer(message.session_id, topic=danger.topic)}
    plan = _read_plan(message.session_id, [danger])
    return Cards(message.session_id, offers, plan=plan).of_message(message)


def read_card_of_answer(call: ToolCallRecord, *, is_replaced: bool) -> SafetyShown | None:
    """Read the card that an answer got after it was shown."""
    shown = read_cards(call.turn.session_id, [call]).of_answer(call)
    return replace(shown, is_late=True, is_replaced=is_replaced) if shown else None


def late_card(shown: SafetyShown, message: Message, *, is_replaced: bool) -> SafetyShown:
    """Return a message's card for readers that have been shown the message before."""
    is_hidden = bool(message.metadata.get("is_hidden"))
    return replace(shown, is_late=True, is_replaced=is_replaced, has_message=not is_hidden)


def read_card_of_refused(session_id: uuid.UUID, danger: Danger | None) -> SafetyShown | None:
    """Read the card for a refused message, which is stored nowhere; None without danger."""
    if danger is None:
        return None
    offer = read_session_offer(session_id, topic=danger.topic)
    return _now(session_id, danger, offer, _read_plan(session_id, [danger]))


def card_without_database(
    session_id: uuid.UUID, danger: Danger | None, *, country: str
) -> SafetyShown | None:
    """Build the card for a message that can't be stored now, from the shipped help lines alone."""
    return _now(session_id, danger, shipped_offer(country=country, topic=danger.topic)) if danger else None


def _now(session_id: uuid.UUID, danger: Danger, offer: Offer, plan: PlanExcerpt | None = None) -> SafetyShown:
    key, session = REFUSED_KEY, str(session_id)
    return SafetyShown(card=Card(key=key, session_id=session, danger=danger, offer=offer, plan=plan))


def _read_plan(session_id: uuid.UUID, dangers: Iterable[Danger]) -> PlanExcerpt | None:
    is_own = any(danger.about == "self" for danger in dangers)
    return read_card_plan_of_session(session_id) if is_own else None


def read_card_without_session(danger: Danger | None, *, user_id: int, country: str) -> Card | None:
    """Build the card for a message that was refused before it had a session."""
    if danger is None:
        return None
    offer = read_offer(country, topic=danger.topic)
    plan = read_card_plan(user_id=user_id) if danger.about == "self" else None
    return Card(key=REFUSED_KEY, session_id="", danger=danger, offer=offer, plan=plan)
