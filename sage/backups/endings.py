"""What doesn't go on in a restored database: sign-ins, tokens, devices, turns, processes, reminders."""

from dataclasses import replace

from allauth.idp.oidc.models import Client as OAuthClient
from django.contrib.sessions.models import Session as LoginSession
from django.db import transaction
from procrastinate.contrib.django.models import ProcrastinateJob, ProcrastinateWorker

from coaching.job_queue.names import REMINDERS_QUEUE
from coaching.models import ProgramToken, PushDevice
from coaching.turns.answering import INTERRUPTED
from coaching.turns.words import OPENING_CUT
from sessions_app.leases import read_leases
from sessions_app.models import RunnerProcess, Turn
from sessions_app.turn_endings import close_turn


@transaction.atomic
def end_what_ran() -> int:
    """End it in the current database; return how many turns were interrupted.

    Jobs of dead workers are queued again by the next worker. A copy that is restored elsewhere mustn't send
    to people's devices, so these have to be allowed again.
    """
    LoginSession.objects.all().delete()
    ProgramToken.unscoped.all().delete()
    OAuthClient.objects.all().delete()
    PushDevice.unscoped.all().delete()
    RunnerProcess.objects.all().delete()
    ProcrastinateJob.objects.filter(queue_name=REMINDERS_QUEUE, status="todo").delete()
    ProcrastinateWorker.objects.all().delete()
    leases = read_leases()
    for lease in leases:
        is_opening = Turn.unscoped.filter(id=lease.key.turn_id, is_opening=True).exists()
        ending = replace(INTERRUPTED, user_notice=OPENING_CUT) if is_opening else INTERRUPTED
        close_turn(lease.key, ending)
    return len(leases)
