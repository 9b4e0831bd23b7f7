"""Mail that people send to their library: which is taken from an IMAP server, and what of it is stored."""
