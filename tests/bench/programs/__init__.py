"""Compares first words with and without a program that floods: `python -m tests.bench.programs`."""
