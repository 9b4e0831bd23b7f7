"""Tests of Sage's tools by MCP."""
