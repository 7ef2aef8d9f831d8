"""Designs of rounds before they are paid, and finished rounds under another policy."""
