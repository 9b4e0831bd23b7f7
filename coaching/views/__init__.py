"""The pages, one module each. A view checks access and renders; rules are in the layers below."""
