"""The pages, one module per room. A view checks who asks and shows; rules live below."""
