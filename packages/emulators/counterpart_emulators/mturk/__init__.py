"""An emulator of Amazon Mechanical Turk: the Requester API, the workers' site and controls, in one process."""
