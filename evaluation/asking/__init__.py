"""What a round asks next: likely matches, further models and queries, unsure pairs, pairs to reject."""
