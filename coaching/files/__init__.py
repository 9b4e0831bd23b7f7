"""The user's files: types and paths, frontmatter, permissions, the versioned store.

`store` writes and `selectors` reads, each bound to one user; no other package touches the rows or objects.
"""
