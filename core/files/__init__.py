"""Stored files, archives and backups."""
