"""The library's pages, one module each. A page checks access and renders; rules are in the modules below."""
