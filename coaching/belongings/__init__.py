"""What belongs to a person: found through all models, written out whole, and removed whole."""
