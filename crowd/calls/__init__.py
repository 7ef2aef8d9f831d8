"""Calls to platforms that change something: payments, messages, decisions."""
