"""An open turn as the database has it, for readers of a turn that doesn't run in this process."""

from coaching.events import CallPending, RoundShown, SessionFacts, Sync
from coaching.library.rows.attached import read_states
from coaching.tools.tainted import Ruling
from sessions_app import selectors
from sessions_app.models import CallState, Session, TitleSource, ToolCallRecord, Turn, TurnStatus
from sessions_app.pending_calls import FACTS, read_pending_calls
from sessions_app.verdicts import read_levels


def title_for_readers(title: str, source: str) -> str:
    """Return a title that readers are sent: Sage's or the user's. First words come with their message."""
    return title if source in (TitleSource.MODEL, TitleSource.USER) else ""


def read_sync(session: Session) -> Sync:
    """Build the snapshot of a session's open turn, or of an idle session."""
    turn = selectors.read_open_turn(session)
    withdrawn = session.turns.filter(is_withdrawn=True).values_list("id", flat=True)
    facts = SessionFacts(
        status=session.status,
        arc=session.active_arc,
        withdrawn=frozenset(str(turn_id) for turn_id in withdrawn),
        title=title_for_readers(session.title, session.title_source),
        cards=frozenset((number, level) for _, number, level in read_levels([session.id])),
        documents=frozenset((pk, state) for _, pk, state in read_states([session.id])),
    )
    if turn is None:
        return Sync(status="idle", running={}, last_number=session.last_message_number, facts=facts)
    rounds = read_shown_rounds(turn)
    return Sync(
        status="awaiting_user" if turn.status == TurnStatus.AWAITING_USER else "running",
        turn_id=str(turn.id),
        text="\n\n".join(row.text for row in rounds if row.text),
        notes=tuple(row.notes for row in rounds if row.notes),
        rounds=rounds,
        running={call.tool_use_id: call.name for call in turn.calls.all() if call.state == CallState.RUNNING},
        pending=read_first_pending(turn),
        last_number=session.last_message_number,
        facts=facts,
    )


def read_shown_rounds(turn: Turn) -> tuple[RoundShown, ...]:
    """Return what each round has shown, with what was last stored of the running one."""
    rounds = [
        RoundShown(number=row.number, text=row.text, notes=row.notes, is_finished=True)
        for row in turn.rounds.all()
    ]
    text, notes = turn.words_of_running_round()
    if text or notes:
        number = rounds[-1].number + 1 if rounds else 1
        rounds.append(RoundShown(number=number, text=text, notes=notes, is_finished=False))
    return tuple(rounds)


def read_first_pending(turn: Turn) -> tuple[CallPending, ...]:
    """Return the first pending call, since they are shown one after another; empty while the turn runs."""
    if turn.status != TurnStatus.AWAITING_USER:
        return ()
    return tuple(pending_of(call) for call in read_pending_calls(turn)[:1])


def pending_of(call: ToolCallRecord) -> CallPending:
    """Return a call that waits, as it is shown."""
    ruling = Ruling.of(call.metadata)
    return CallPending(
        tool_use_id=call.tool_use_id,
        name=call.name,
        input=call.input,
        facts=call.metadata.get(FACTS, {}),
        sources=ruling.sources if ruling else (),
    )
