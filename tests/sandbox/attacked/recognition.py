"""The reader of text in pictures, with native code that requests can run."""

from coaching.library.extractors.recognition_worker import answer as read
from tests.sandbox.attacks import attacked

answer = attacked(read)
