"""Prolific, or an endpoint that speaks its protocol, as a channel that lists whole rounds."""
