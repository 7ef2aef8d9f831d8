"""Rounds: their parameters, packed from pools, planned in one step, topped up."""
