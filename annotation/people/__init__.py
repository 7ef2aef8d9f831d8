"""Who works: identities, consent, admission, tests, invitations, proofs of work."""
