"""Which pairs of a pool are judged next, and what those that were judged say of the others."""
