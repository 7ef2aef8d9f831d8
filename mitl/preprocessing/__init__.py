"""Pictures as the networks take them."""
