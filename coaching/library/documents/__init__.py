"""A document's life: taken in, read, filed, reviewed, corrected, withheld, deleted."""
