"""A Mechanical Turk of our own in one process: the Requester API, the workers' site and a clock that can be set."""
