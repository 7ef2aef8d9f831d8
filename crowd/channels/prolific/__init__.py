"""Prolific, or an endpoint that speaks its protocol, as a channel that lists whole rounds."""

from crowd.channels.prolific.channel import ProlificChannel

__all__ = ["ProlificChannel"]
