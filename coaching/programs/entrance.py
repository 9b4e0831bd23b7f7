"""Lets a program in: its token, its rates and its scope, for every way in for programs."""

from coaching.models import Scope
from coaching.people.in_flight import MAX_PER_PERSON, current_ticket
from coaching.programs.callers import Caller, NotKnown
from coaching.programs.early_counts import early_counts
from coaching.programs.rates import count_request
from coaching.programs.tokens import find_caller

REALM = 'Bearer realm="Sage"'
"""For `WWW-Authenticate`."""


def admit(authorization: str, scope: Scope) -> Caller:
    """Return the program whose token an `Authorization` header has, counted, with the scope. Sync ORM code.

    Raises `NotKnown`, `TooManyInFlight`, `TooOften` and `ScopeMissing`, in this order.
    """
    scheme, _, secret = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise NotKnown
    caller = find_caller(secret)
    count(caller, authorization)
    caller.check_scope(scope)
    return caller


def count(caller: Caller, authorization: str) -> None:
    """Count a request under its person, who may have some in flight, and in the rates of programs.

    From then on the token in its `Authorization` header is counted before Django, too. Raises
    `TooManyInFlight` and `TooOften`.
    """
    early_counts.learn(authorization, caller.key)
    if ticket := current_ticket.get():
        ticket.count(f"person {caller.user_id}", MAX_PER_PERSON)
    count_request(caller)
