"""Rows in bulk, repeated queries, upgrades."""
