"""Heartbeats of processes, and take-over of turns whose process died or is frozen.

A lease is dead when an observer has seen the owner's beat unchanged for `LEASE_SECONDS` by the
observer's own clock. A take-over increments the turn's fencing number, which shuts out the old runner.

A frozen process may hold locks in a transaction. The database ends one that is idle, but not one that waits
for its client in the middle of statements or of a result. So an observer ends it, with its connection.
"""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.db import transaction

from sessions_app.models import RunnerProcess, Turn, TurnStatus
from sessions_app.process_name import process_name
from sessions_app.queries import Query, run_query
from sessions_app.turn_locks import TurnKey

BEAT_SECONDS = 2.0
LEASE_SECONDS = 6.0
FORGET_SECONDS = 300.0
STUCK_SECONDS = 2.0
"""A process that has just come back has no transaction that is open for longer."""
HALF_SENT_SECONDS = 10.0
"""As long as others wait for a lock."""
END_WAIT_MS = 1000

_PROCESSES, _TURNS = RunnerProcess._meta.db_table, Turn._meta.db_table

# Names of ours alone, here and below.
_BEAT = f"""
    INSERT INTO {_PROCESSES} AS process (owner, beat, started_at) VALUES (%(owner)s, 1, now())
    ON CONFLICT (owner) DO UPDATE SET beat = process.beat + 1
    RETURNING beat
"""  # noqa: S608

# A role may see and end its own connections, without special rights.
_END_TRANSACTIONS = """
    SELECT application_name, pg_terminate_backend(pid, %(wait_ms)s::bigint) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND application_name = ANY(%(names)s)
    AND backend_xid IS NOT NULL AND xact_start < clock_timestamp() - make_interval(secs => %(seconds)s)
"""

# Of Sage's processes, whatever they run: workers and commands have no lease. A live one doesn't keep the
# database waiting for the rest of its statements for so long; a frozen one may hold a session's lock.
_HALF_SENT = """
    FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
    AND application_name ~ ':[0-9]+:[0-9a-f]{8}$' AND state = 'active' AND wait_event = 'ClientRead'
    AND backend_xid IS NOT NULL AND state_change < clock_timestamp() - make_interval(secs => %(seconds)s)
"""
_END_HALF_SENT = f"SELECT application_name, pg_terminate_backend(pid, %(wait_ms)s::bigint) {_HALF_SENT}"

_BEAT_IDLY = f"""
    WITH beat AS ({_BEAT})
    SELECT EXISTS (SELECT FROM {_TURNS} WHERE status = '{TurnStatus.RUNNING}')
        OR EXISTS (SELECT FROM {_PROCESSES} WHERE owner <> %(owner)s)
        OR EXISTS (SELECT {_HALF_SENT})
"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    key: TurnKey
    session_id: uuid.UUID
    owner: str


def new_owner() -> str:
    """Return a name for a runner of this process; all but its last part is the process's."""
    return f"{process_name()}:{uuid.uuid4().hex[:4]}"


def store_beat(owner: str) -> None:
    """Increment the process's beat."""
    run_query(Query(_BEAT, {"owner": owner}))


def store_idle_beat(owner: str) -> bool:
    """Increment the beat of a process that runs nothing; return whether there is anything to check.

    That is a running turn, another process, or a transaction for `end_half_sent_transactions`. The beat waits
    for these reads, so they aren't for a process that others could take turns from.
    """
    ((needs_check,),) = run_query(Query(_BEAT_IDLY, {"owner": owner, "seconds": HALF_SENT_SECONDS}))
    return bool(needs_check)


def forget_process(owner: str) -> None:
    """Delete a process that ends or is dead; what it still runs is taken over."""
    RunnerProcess.objects.filter(owner=owner).delete()


def read_beats() -> Mapping[str, int]:
    """Return every process's beat."""
    return dict(RunnerProcess.objects.values_list("owner", "beat"))


def read_leases() -> Collection[Lease]:
    """Return all running turns."""
    rows = Turn.unscoped.filter(status=TurnStatus.RUNNING)
    return [
        Lease(
            key=TurnKey(turn_id=turn_id, fence=fence),
            session_id=session_id,
            owner=held_by,
        )
        for turn_id, fence, session_id, held_by in rows.values_list("id", "fence", "session_id", "owner")
    ]


@transaction.atomic
def claim_turn(key: TurnKey, *, owner: str, waits: bool = False) -> TurnKey | None:
    """Take over a running turn at the fencing number that was seen; None where another process was faster.

    None also while its row is locked, unless the caller `waits`: a frozen runner may hold it for seconds.
    """
    turns = Turn.unscoped.select_for_update(no_key=True, skip_locked=not waits)
    turn = turns.filter(id=key.turn_id, fence=key.fence).first()
    if turn is None or turn.status != TurnStatus.RUNNING:
        return None
    turn.fence += 1
    turn.owner = owner
    turn.save(update_fields=["fence", "owner"])
    return TurnKey(turn_id=turn.id, fence=turn.fence)


def end_transactions(owners: Collection[str]) -> Collection[str]:
    """End the open transactions in which dead processes write; return the names of these processes.

    Their connections end, too: a process that comes back finds them broken, and has written nothing.
    """
    # An owner that names no process would match the connections of programs without a name.
    names = {owner.rpartition(":")[0] for owner in owners} - {"", process_name()}
    values = {"names": list(names), "seconds": STUCK_SECONDS, "wait_ms": END_WAIT_MS}
    return {name for name, _ in run_query(Query(_END_TRANSACTIONS, values))}


def end_half_sent_transactions() -> Collection[str]:
    """End transactions whose statements Sage's own processes stopped sending; return the processes' names."""
    values = {"seconds": HALF_SENT_SECONDS, "wait_ms": END_WAIT_MS}
    return {name for name, _ in run_query(Query(_END_HALF_SENT, values))}


@dataclass(slots=True)
class LeaseWatch:
    """Times other processes' beats with this process's clock (seconds, monotonic)."""

    _seen: dict[str, tuple[int, float]] = field(default_factory=dict)

    def observe(self, beats: Mapping[str, int], owners: Collection[str], *, now: float) -> set[str]:
        """Record the beats and return those of `owners` whose lease is dead.

        An owner without a beat has ended: a process beats before it runs its first turn. Read the leases
        before the beats.
        """
        for owner, beat in beats.items():
            if owner not in self._seen or self._seen[owner][0] != beat:
                self._seen[owner] = (beat, now)
        for owner in set(self._seen) - set(beats):
            del self._seen[owner]
        return {
            owner
            for owner in owners
            if owner not in self._seen or now - self._seen[owner][1] >= LEASE_SECONDS
        }

    def living(self, *, now: float) -> set[str]:
        """Return the processes whose beat has changed recently, or was seen for the first time."""
        return {owner for owner, (_, since) in self._seen.items() if now - since < LEASE_SECONDS}

    def forgotten(self, beats: Mapping[str, int], *, now: float) -> set[str]:
        """Return the processes that have been dead for so long that their rows can be deleted."""
        return {owner for owner in beats if now - self._seen.get(owner, (0, now))[1] >= FORGET_SECONDS}
