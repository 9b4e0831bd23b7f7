"""Tests of the engine: real sockets, the real SDK, no database."""
