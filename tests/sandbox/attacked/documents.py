"""The reader of documents, with native code that requests can run."""

from coaching.library.extractors.worker import answer as read
from tests.sandbox.attacks import attacked

answer = attacked(read)
