"""Amazon Mechanical Turk, or an endpoint that speaks its protocol, as a channel."""

from hits.channels.mturk.channel import MTurkChannel

__all__ = ["MTurkChannel"]
