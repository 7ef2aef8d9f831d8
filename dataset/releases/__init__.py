"""Making a version: its parameters, what its manifest says of it, and the check that makes it again."""
