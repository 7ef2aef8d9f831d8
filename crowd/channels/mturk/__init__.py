"""Amazon Mechanical Turk, or an endpoint that speaks its protocol, as a channel."""

from crowd.channels.mturk.channel import MTurkChannel

__all__ = ["MTurkChannel"]
