"""Which steps are due on a day, as a condition on their rows."""

from datetime import date, timedelta

from django.db.models import Q

from coaching.steps.repeats import DAILY, DAYS, MONTHLY


def due_on(day: date) -> Q:
    """Return the condition for steps of a day: it is their date, or a later day that they repeat on.

    A repeating step keeps its date until it is done, so one that was missed is due on its next day again.
    """
    is_last = (day + timedelta(days=1)).month != day.month
    compared = "__gte" if is_last else ""
    of_month = Q(**{f"month_day{compared}": day.day})
    of_month |= Q(month_day=None) & Q(**{f"due_date__day{compared}": day.day})
    of_week = Q(repeats__contains=DAYS[day.weekday()]) & ~Q(repeats=MONTHLY)
    repeated = Q(repeats=DAILY) | Q(repeats=MONTHLY) & of_month | of_week
    return Q(due_date=day) | Q(due_date__lt=day) & repeated
