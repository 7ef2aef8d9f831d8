"""Rounds on platforms: published, paused, seen."""
