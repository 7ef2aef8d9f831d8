"""What the site gives to annotators, which know nothing of it: rows, settings, kept embeddings and paid answers."""
