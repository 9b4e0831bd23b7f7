"""What draws pages, with native code that requests can run."""

from coaching.library.extractors.page_worker import answer as read
from tests.sandbox.attacks import attacked

answer = attacked(read)
