"""Charts of figures: what all are made of, lines, bars and heat maps."""
