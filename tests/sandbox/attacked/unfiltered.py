"""The reader of documents on a system that has no seccomp: what the other layers refuse by themselves."""

from coaching.sandbox import seccomp
from tests.sandbox.attacked.documents import answer

__all__ = ["answer"]

seccomp.compiled = lambda processor: b""
