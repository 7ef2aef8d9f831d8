"""What a round may cost, owes and has paid, in double entries."""
