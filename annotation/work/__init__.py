"""HITs being worked on: leases, answers, submissions, grading, repair, and how far a round is."""
