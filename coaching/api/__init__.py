"""What programs can do here: over HTTP, and by MCP. Services and tools do the work, and have the rules."""
