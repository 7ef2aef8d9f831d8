"""Amazon Mechanical Turk, or an endpoint that speaks its protocol, as a channel."""
