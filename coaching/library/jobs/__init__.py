"""The library's background jobs. Each wraps work of `library.pipeline`."""
