"""A seeded crowd that answers a round as people would, to try the house out and to measure it against a known truth."""

from annotation.simulation.running import simulate_round

__all__ = ["simulate_round"]
