"""The reader of mails' headers, with native code that requests can run."""

from coaching.inbox.worker import answer as read
from tests.sandbox.attacks import attacked

answer = attacked(read)
