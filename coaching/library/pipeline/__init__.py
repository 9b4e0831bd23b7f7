"""How documents are read and filed: the stages, their calls to the model, and what follows."""
