"""Mail that comes in, over a real IMAP server."""
