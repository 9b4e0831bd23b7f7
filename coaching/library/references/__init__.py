"""The types of documents: their texts, where they are filed, and which fits a document."""
