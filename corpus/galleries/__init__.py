"""Galleries of more items than the database should hold: files of items, of which those that are found become rows."""
