"""Enqueues background jobs within a transaction.

A job is a row that is committed together with its cause, so neither can exist without the other. This package
knows jobs by name only; `jobs` implements them.
"""
