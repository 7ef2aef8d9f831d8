"""A round on a crowd platform: what is asked of it, read back from it and held against it."""
