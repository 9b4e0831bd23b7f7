"""What Sage remembers after words of danger: for how long, when it asks, and how that ends."""
