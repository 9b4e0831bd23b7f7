"""MCP over a process's standard streams. Imported only when it is used, because it loads the MCP SDK."""

from mcp.server.stdio import stdio_server

from coaching.api.mcp.access import Access
from coaching.api.mcp.server import build_server


async def serve(access: Access) -> None:
    """Answer messages from standard input until it ends."""
    server = build_server(access)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
