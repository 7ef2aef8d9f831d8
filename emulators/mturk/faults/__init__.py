"""Mischief on demand: declared as JSON, seeded, counted, and cleared again."""
