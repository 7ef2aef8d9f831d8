"""Long work: jobs, their queues, and who asked for them."""
