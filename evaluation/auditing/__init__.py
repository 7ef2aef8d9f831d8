"""Rounds that judge some queries whole: their pairs as arrays, and the scores that these estimate."""
