"""What reviewers do: the queue, the clean-up, conflicts with match sources, and their conclusions."""
