"""The reader of versions, with native code that requests can run."""

from coaching.sandbox.difference_worker import answer as read
from tests.sandbox.attacks import attacked

answer = attacked(read)
