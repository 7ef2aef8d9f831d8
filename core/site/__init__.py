"""This installation: its variables and its version."""
