"""Scores of models: their rankings, what they are measured against, and the boards that compare them."""
