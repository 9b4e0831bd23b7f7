"""The user's files: types and paths, frontmatter, permissions, the versioned store.

Knows nothing of tools, turns or sockets. `store.store_file` writes, `selectors` reads; both are bound to
one user, and nothing else in the project touches the rows or the objects.
"""
