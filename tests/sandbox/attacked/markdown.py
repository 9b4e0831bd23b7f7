"""The reader of markdown, with native code that requests can run."""

from coaching.sandbox.markdown_worker import answer as read
from tests.sandbox.attacks import attacked

answer = attacked(read)
