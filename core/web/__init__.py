"""What requests pass, and requests to others."""
