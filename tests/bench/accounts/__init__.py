"""Measures whether response times distinguish known from unknown addresses."""
