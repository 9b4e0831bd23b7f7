"""Tests of the engine: real sockets and the real SDK, without a database."""
