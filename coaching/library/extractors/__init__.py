"""Text from documents: one file a type, found by content.

Nothing here imports Django: it runs in a process for one document, with little memory and no secrets
(`library.pipeline.extraction`), so an extractor may fail with any exception. Other processes import only
`content_types`.
"""
