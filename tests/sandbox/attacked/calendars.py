"""The reader of calendars, with native code that requests can run."""

from coaching.calendar.worker import answer as read
from tests.sandbox.attacks import attacked

answer = attacked(read)
