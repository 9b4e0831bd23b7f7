"""Every regular expression of the product: listed, and fed with its own worst texts."""
