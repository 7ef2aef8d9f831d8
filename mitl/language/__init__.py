"""Captions as the networks take them: words or pieces of words, by number."""
