"""People who come from platforms, from arrival to the end of their session."""
