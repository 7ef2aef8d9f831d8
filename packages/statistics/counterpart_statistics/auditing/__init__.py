"""What the audit of a pool says of its models: scores with intervals, guards, what machine judges bring, plans."""
