"""Sage's tools by the Model Context Protocol: over HTTP at `/mcp`, and over a process's standard streams.

`view` answers requests without a token that holds. Only then `transport` is imported, and with it the SDK.
"""
