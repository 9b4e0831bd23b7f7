"""A person's data: found through all models, exported and removed completely."""
